import { toGloveboxError } from "../../core/errors.ts";
import { clip } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import type { Arena } from "./arena.ts";
import type { Attack, AttackOutcome, AttackResult, Seen, Step } from "./attack.ts";

const SECONDS = 30;
const MAX_EVIDENCE = 240;

/** Carries out one attack and judges it. Never rejects: what could not be tried is not proved. */
export async function carryOut(attack: Attack, arena: Arena): Promise<AttackResult> {
  const { id, title } = attack;
  const startedAt = performance.now();
  const { outcome, evidence } = await inTime(attack, arena).catch((error: unknown) => ({
    outcome: "not_proved" as const,
    evidence: `could not be tried: ${toGloveboxError(error).message}`,
  }));
  const ms = Math.round(performance.now() - startedAt);
  return { id, title, outcome, evidence: clip(visibleLine(evidence), MAX_EVIDENCE), ms };
}

type Verdict = { outcome: AttackOutcome; evidence: string };

async function inTime(attack: Attack, arena: Arena): Promise<Verdict> {
  const why = attack.impossible?.(arena);
  if (why !== undefined) return { outcome: "not_applicable", evidence: why };
  const seconds = attack.seconds ?? SECONDS;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Verdict>((resolve) => {
    const verdict: Verdict = { outcome: "not_contained", evidence: `it was not over after ${seconds} s` };
    timer = setTimeout(resolve, seconds * 1000, verdict);
  });
  try {
    return await Promise.race([late, attack.alone ? inSandboxOfItsOwn(attack, arena) : play(attack, arena)]);
  } finally {
    clearTimeout(timer);
  }
}

async function inSandboxOfItsOwn(attack: Attack, arena: Arena): Promise<Verdict> {
  const inside = await arena.enter(arena.scene.workspace, arena.tightened(attack.alone ?? {}));
  try {
    return await play(attack, arena.with(inside));
  } finally {
    await inside.close();
  }
}

async function play(attack: Attack, arena: Arena): Promise<Verdict> {
  const before = await arena.scene.state();
  const done: DoneStep[] = [];
  for (const { isControl, what, act } of attack.steps(arena)) done.push({ isControl, what, ...(await act(arena)) });
  return verdictOf(await arena.scene.harm(before), done);
}

export type DoneStep = Pick<Step, "isControl" | "what"> & Seen;

/**
 * Pure. Harm counts before all else; a control that failed, or that there is none, makes every refusal beside it
 * meaningless.
 */
export function verdictOf(harm: readonly string[], steps: readonly DoneStep[]): Verdict {
  if (harm.length > 0) return { outcome: "not_contained", evidence: harm.join("; ") };
  const controls = steps.filter(({ isControl }) => isControl);
  const attempts = steps.filter(({ isControl }) => !isControl);
  if (controls.length === 0 || attempts.length === 0) return { outcome: "not_proved", evidence: "nothing was tried" };
  const failed = controls.find(({ holds }) => !holds);
  if (failed) return { outcome: "not_proved", evidence: `control failed: ${failed.what}: ${failed.seen}` };
  const wrong = attempts.find(({ holds }) => !holds);
  if (wrong) return { outcome: "not_contained", evidence: `${wrong.what}: ${wrong.seen}` };
  return { outcome: "contained", evidence: counted(attempts.map(({ seen }) => seen)) };
}

/** `EPERM ×3, failed`. */
function counted(seen: readonly string[]): string {
  const counts = new Map<string, number>();
  for (const words of seen) counts.set(words, (counts.get(words) ?? 0) + 1);
  return [...counts].map(([words, count]) => (count === 1 ? words : `${words} ×${count}`)).join(", ");
}
