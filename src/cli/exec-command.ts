import { GloveboxError } from "../core/errors.ts";
import type { Terminal } from "../sandbox/attach.ts";
import { EgressTally } from "../session/egress-tally.ts";
import { execInSandbox } from "../session/exec.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import { parseAllowHosts } from "./allow-hosts.ts";
import { refusedPlaces } from "./egress-words.ts";
import { mountWords } from "./guard-words.ts";
import type { Io } from "./io.ts";
import { watched } from "./watch.ts";

export type ExecFlags = { workspace?: string; policy?: string; image?: string; allowHost?: string[]; build: boolean };

/** `glovebox exec`: gives the command's exit code. */
export function execCommand(command: readonly string[], flags: ExecFlags, io: Io): Promise<number> {
  const { stdin, stdout, stderr } = io;
  const isInteractive = stdin.isTTY === true && stdout.isTTY === true && stderr.isTTY === true;
  if (command.length === 0 && !isInteractive) {
    throw new GloveboxError("NOT_A_TERMINAL", "A shell needs a terminal, and there is none", {
      hint: "Name a command: `glovebox exec -- npm test`",
    });
  }
  const allowHosts = parseAllowHosts(flags.allowHost);
  return watched(io, async ({ screen, view, interruption }) => {
    screen.begin("starting the sandbox");
    const tally = new EgressTally();
    let leaveRaw = (): void => undefined;
    try {
      return await execInSandbox(
        {
          command,
          workspace: flags.workspace ?? ".",
          policy: flags.policy,
          image: flags.image,
          allowHosts,
          build: flags.build,
          // A terminal's input goes to a command only together with its output.
          streams: { stdin: stdin.isTTY && !isInteractive ? undefined : stdin, stdout, stderr },
          terminal: isInteractive ? terminalOf(io) : undefined,
          onProgress: (words) => view.progress(words),
          onReaped: (reaped) => view.reaped(reaped),
          onRecovered: (recovered) => view.recovered(recovered),
          onPolicy: (facts) => view.policy(facts),
          onMounts: (event, detail) => {
            for (const words of mountWords(event, detail)) screen.line(`! ${words}`);
          },
          onEgress: (fact) => tally.add(fact),
          onReady: (facts) => {
            screen.end();
            view.weaknesses(facts);
            if (isInteractive) leaveRaw = enterRaw(io);
          },
          signal: interruption.signal,
        },
        surroundingsOf(io.env, io.secrets, io),
      );
    } finally {
      leaveRaw();
      for (const line of refusedPlaces(tally.counted)) screen.line(`! ${line}`);
    }
  });
}

/** Keys go to the command as they are, Ctrl-C too. */
function enterRaw({ stdin }: Io): () => void {
  stdin.setRawMode?.(true);
  return () => {
    stdin.setRawMode?.(false);
    stdin.pause();
  };
}

function terminalOf({ stdout, env }: Io): Terminal {
  return {
    type: env["TERM"] || "xterm",
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onResize: (changed, signal) => {
      stdout.on("resize", changed);
      signal.addEventListener("abort", () => stdout.off("resize", changed), { once: true });
    },
  };
}
