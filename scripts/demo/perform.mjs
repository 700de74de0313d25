import { gatherEvidence } from "./evidence.mjs";
import { Listener } from "./listener.mjs";
import { printEnd, printEngine, printOpening, printReport } from "./report.mjs";
import { runSession } from "./session.mjs";
import { createStage } from "./stage.mjs";

const INTERRUPTED = [129, 130, 143];

/** The whole demo: stage, run, evidence, report. Gives the exit code. */
export async function perform(engine) {
  const listener = await Listener.open();
  const stage = await createStage({ addresses: listener.addresses, port: listener.port });
  try {
    printOpening(stage);
    const session = await runSession(stage, engine);
    if (INTERRUPTED.includes(session.exitCode)) {
      console.log("Stopped before the end; there is nothing to show.");
      return session.exitCode;
    }
    const evidence = await gatherEvidence({ stage, session, listener });
    const holds = printReport({ stage, session, evidence });
    printEnd({ session, holds });
    return holds ? 0 : 1;
  } finally {
    await Promise.all([listener.close(), stage.remove()]);
    printEngine(engine);
  }
}
