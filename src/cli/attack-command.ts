import { visibleLine } from "../core/visible.ts";
import type { AttackOutcome, AttackResult } from "../session/attacks/attack.ts";
import { attackSandbox, isHeld, type SuiteReport } from "../session/attacks/suite.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import { clipToWidth } from "./cells.ts";
import type { Io } from "./io.ts";
import { type Paint, paintFor } from "./paint.ts";
import { tableLines } from "./table.ts";
import { watched } from "./watch.ts";

type AttackFlags = { policy?: string; image?: string; json?: boolean };

/** `glovebox doctor --attack`. */
export function attackCommand(flags: AttackFlags, io: Io): Promise<number> {
  return watched(io, async ({ out, screen, view, interruption }) => {
    screen.begin("opening a sandbox to attack");
    const report = await attackSandbox(
      {
        policy: flags.policy,
        image: flags.image,
        onPolicy: (facts) => view.policy(facts),
        onProgress: (words) => view.progress(words),
        signal: interruption.signal,
      },
      surroundingsOf(io.env, io.secrets, io),
    );
    screen.end();
    if (flags.json) out.line(JSON.stringify({ version: 1, ...report }));
    else for (const line of reportLines(report, paintFor(io.stdout, io.env))) out.line(line);
    return report.exit_code;
  });
}

const MARKS: Record<AttackOutcome, string> = {
  contained: "yes",
  not_contained: "NO",
  not_proved: "NOT PROVED",
  not_applicable: "cannot exist here",
};

/** Columns that a title may take. */
const TITLE_WIDTH = 72;

/** A row for each attack, what was attacked, and how many are not contained. */
export function reportLines(report: SuiteReport, paint: Paint): string[] {
  const rows = report.attacks.map(({ id, title, outcome, evidence }) => [
    id,
    clipToWidth(title.replaceAll("`", ""), TITLE_WIDTH),
    MARKS[outcome],
    visibleLine(evidence),
  ]);
  const [head = "", ...lines] = tableLines(["id", "tried", "contained", "seen"], rows);
  const styled = lines.map((line, index) => (isHeld(report.attacks[index]) ? line : paint("red", line)));
  const what = `${report.engine}, image ${visibleLine(report.image)}, commands as uid ${report.uid}`;
  return [head, ...styled, "", `${summary(report.attacks)} (${what})`];
}

function summary(attacks: readonly AttackResult[]): string {
  const count = (outcome: AttackOutcome): number => attacks.filter((attack) => attack.outcome === outcome).length;
  const others = [
    [count("not_contained"), "not contained"],
    [count("not_proved"), "not proved"],
    [count("not_applicable"), "cannot exist here"],
  ] as const;
  const rest = others.flatMap(([number, words]) => (number > 0 ? [`, ${number} ${words}`] : []));
  return `${count("contained")} of ${attacks.length} attacks contained${rest.join("")}`;
}
