import { EXIT } from "../../core/errors.ts";
import type { PolicyFacts } from "../policy.ts";
import { policyHere } from "../policy-here.ts";
import type { Surroundings } from "../surroundings.ts";
import { Arena } from "./arena.ts";
import type { AttackResult } from "./attack.ts";
import { ATTACKS } from "./catalogue.ts";
import { carryOut } from "./run.ts";

export type SuiteSettings = {
  /** As of a run. */
  policy?: string | undefined;
  image?: string | undefined;
  onPolicy: (facts: PolicyFacts) => void;
  onProgress: (words: string) => void;
  signal: AbortSignal;
};

export type SuiteReport = {
  /** What was attacked. */
  engine: string;
  image: string;
  image_digest: string;
  uid: number;
  attacks: AttackResult[];
  /** 0: all contained, 5: not. */
  exit_code: number;
};

/**
 * Every attack against the engine, image and policy that a run in the current folder would have, one after another, in
 * a scratch folder. @throws GloveboxError when there is no sandbox to attack, and what `signal` aborts with.
 */
export async function attackSandbox(settings: SuiteSettings, surroundings: Surroundings): Promise<SuiteReport> {
  const { policy, facts } = await policyHere(settings, surroundings);
  settings.onPolicy(facts);
  const { onProgress, signal } = settings;
  await using arena = await Arena.open({ policy, surroundings, onProgress, signal });
  const attacks: AttackResult[] = [];
  for (const attack of ATTACKS) {
    signal.throwIfAborted();
    onProgress(`${ATTACKS.length} attacks: ${attack.id} ${attack.title}`);
    attacks.push(await carryOut(attack, arena));
  }
  const { engine, sandbox } = arena.inside.box;
  const { image, imageDigest, uid } = sandbox.facts;
  const exit_code = attacks.every(isHeld) ? EXIT.completed : EXIT.sandbox;
  const name = `${engine.isPodman ? "Podman" : "Docker"} ${engine.version}`;
  return { engine: name, image, image_digest: imageDigest, uid, attacks, exit_code };
}

/** What could not be proved to be contained is not. */
export function isHeld(result: Pick<AttackResult, "outcome"> | undefined): boolean {
  return result?.outcome === "contained" || result?.outcome === "not_applicable";
}
