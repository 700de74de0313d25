import { Interruption } from "./interruption.ts";
import type { Io } from "./io.ts";
import { type Paint, paintFor } from "./paint.ts";
import { Printer } from "./printer.ts";
import { RunView } from "./run-view.ts";
import { Screen } from "./screen.ts";

/** What a command that takes its time needs of a terminal. */
export type Watch = { out: Printer; screen: Screen; view: RunView; paint: Paint; interruption: Interruption };

/**
 * Runs `work` with progress on stderr and with signals that abort it. Gives the signal's exit code when one came, and 1
 * when the reader of stdout went away; else what `work` gives.
 */
export async function watched(io: Io, work: (watch: Watch) => Promise<number>): Promise<number> {
  const out = new Printer(io.stdout);
  const paint = paintFor(io.stderr, io.env);
  const screen = new Screen({ out, err: io.stderr, paint });
  const view = new RunView({ screen, paint, words: false });
  const interruption = new Interruption(io, { onFirst: () => screen.end(), beforeExit: () => undefined });
  out.closed.addEventListener("abort", () => interruption.stopQuietly());
  try {
    const code = await work({ out, screen, view, paint, interruption });
    await out.flushed();
    return interruption.exitCode ?? (out.closed.aborted ? 1 : code);
  } catch (error) {
    if (interruption.exitCode === undefined && !out.closed.aborted) throw error;
    return interruption.exitCode ?? 1;
  } finally {
    screen.end();
    interruption.dispose();
  }
}
