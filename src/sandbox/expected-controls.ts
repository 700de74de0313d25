import type { Control, SelfTestExpectation } from "../protocol/messages.ts";

/** What a self-test must have looked at, whatever it was asked to compare. */
const ALWAYS = [
  "capabilities",
  "no_new_privileges",
  "seccomp",
  "user",
  "interfaces",
  "routes",
  "root_read_only",
  "workspace_reachable",
  "no_secret_in_environment",
  "pids_limit",
  "memory_limit",
  "channel_out_of_reach",
] as const;

/** The evidence for a control that nobody looked at. */
export const NOT_REPORTED = "not reported";

/** The controls that do not hold; one that was not reported does not, and one reported twice is taken at its worst. */
export function failedControls(controls: readonly Control[], expect: SelfTestExpectation): Control[] {
  const names = [
    ...ALWAYS,
    ...expect.readonly.map((path) => `read_only ${path}`),
    ...expect.hidden.map((path) => `hidden ${path}`),
    ...expect.pinned.map((path) => `pinned ${path}`),
    ...expect.writable.map((path) => `writable ${path}`),
  ];
  const missing = names.filter((name) => !controls.some(({ control }) => control === name));
  return [
    ...controls.filter(({ holds }) => !holds),
    ...missing.map((control) => ({ control, holds: false, evidence: NOT_REPORTED })),
  ];
}
