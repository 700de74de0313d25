import { visibleLine } from "../core/visible.ts";
import { examine, type Finding } from "../session/doctor.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import type { Io } from "./io.ts";
import { type Paint, paintFor, type Style } from "./paint.ts";
import { watched } from "./watch.ts";

type DoctorFlags = { policy?: string; image?: string; json?: boolean };

/** `glovebox doctor`. */
export function doctorCommand(flags: DoctorFlags, io: Io): Promise<number> {
  return watched(io, async ({ out, screen, view, interruption }) => {
    screen.begin("examining");
    const { findings, exitCode } = await examine(surroundingsOf(io.env, io.secrets, io), {
      policy: flags.policy,
      image: flags.image,
      onProgress: (words) => view.progress(words),
      signal: interruption.signal,
    });
    screen.end();
    if (flags.json) out.line(JSON.stringify({ version: 1, exit_code: exitCode, findings }));
    else for (const line of findingLines(findings, paintFor(io.stdout, io.env))) out.line(line);
    return exitCode;
  });
}

const MARKS: Record<Finding["status"], { mark: string; style: Style }> = {
  ok: { mark: "ok", style: "green" },
  warning: { mark: "warning", style: "yellow" },
  problem: { mark: "problem", style: "red" },
};

/** A line for each finding, and one below it that says what to do. */
export function findingLines(findings: readonly Finding[], paint: Paint): string[] {
  const width = Math.max(0, ...findings.map(({ subject }) => subject.length));
  return findings.flatMap(({ subject, status, detail, hint }) => {
    const { mark, style } = MARKS[status];
    const row = `${paint(style, mark.padEnd(7))}  ${visibleLine(subject).padEnd(width)}  ${visibleLine(detail)}`;
    return hint === null ? [row] : [row, `${" ".repeat(width + 11)}${visibleLine(hint)}`];
  });
}
