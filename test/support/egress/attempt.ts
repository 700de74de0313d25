import { expect } from "vitest";
import type { Gated, Ran } from "./gated.ts";
import { UNTOUCHED, type World } from "./world.ts";

/** Something a command tries, with what it must see. */
export type Attempt = {
  /** The title of its test, ids first. */
  title: string;
  command: string;
  /** In the output; any failure when omitted. */
  sees?: RegExp;
  /** In what follows the output, for the model; no such line is looked for when omitted. */
  line?: RegExp;
};

/** Against hangs: a refusal that takes as long has waited for something. */
export const SOON_MS = 10_000;

/**
 * Runs an attempt and sees that nothing was resolved, dialled or reached, that it was told soon and in words, and that a
 * permitted connection works right after it in the same sandbox.
 */
export async function expectContained(world: World, gated: Gated, attempt: Attempt): Promise<void> {
  world.dialler.take();
  const startedAt = performance.now();
  const ran = await gated.sh(attempt.command, 30);
  const ms = performance.now() - startedAt;
  expect(world.touched()).toEqual(UNTOUCHED);
  expect(ran.text).not.toMatch(/honey|hello \//);
  if (attempt.sees) expect(ran.text).toMatch(attempt.sees);
  else expect(ran.code).not.toBe(0);
  if (attempt.line) expect(ran.lines.join("\n")).toMatch(attempt.line);
  expect(ms).toBeLessThan(SOON_MS);
}

export const FETCH = "curl -sS --max-time 20 --cacert ca.pem";

/** A permitted connection: what else is refused is refused by a sandbox that lives. */
export async function expectControl(world: World, gated: Gated): Promise<void> {
  const { text, lines }: Ran = await gated.sh(`${FETCH} https://web.test/control`);
  expect([text, lines]).toEqual(["hello /control\n", []]);
  world.dialler.take();
}

/** The line for a host that no rule names: the host, and what a person could add. */
export function missingRule(host: string): RegExp {
  const name = host.replaceAll(".", "\\.");
  return new RegExp(`${name}.*network\\.allow|${name}.*--allow-host ${name}`);
}
