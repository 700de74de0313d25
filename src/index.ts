/**
 * glovebox as a library.
 *
 * ```ts
 * import { homedir } from "node:os";
 * import { runPrompt, surroundingsOf, takeSecrets } from "glovebox";
 *
 * const secrets = takeSecrets(process.env); // first of all: keys leave the environment
 * const stop = new AbortController();
 * const result = await runPrompt(
 *   {
 *     ...{ prompt: "make the tests pass", workspace: ".", model: undefined, image: undefined, build: true },
 *     ...{ approve: undefined, person: undefined, maxTurns: 20, maxSeconds: 600, modelRetries: undefined },
 *     onEvent: (event) => console.error(event.type),
 *     onProgress: (words) => console.error(words),
 *     onReaped: () => undefined,
 *     onRecovered: () => undefined,
 *     signal: stop.signal,
 *     urgent: stop.signal,
 *   },
 *   surroundingsOf(process.env, secrets, { cwd: process.cwd(), userHome: homedir() }),
 * );
 * ```
 *
 * @module
 */
export { type ErrorCode, EXIT, GloveboxError } from "./core/errors.ts";
export type { LiveEvent, LoggedEvent, Outcome, SessionEvent, SessionHeader } from "./core/events.ts";
export { Secrets, takeSecrets } from "./core/secrets.ts";
export { VERSION } from "./core/version.ts";
export type { Dialler, Endpoint } from "./egress/dialler.ts";
export type { HostAnswer, HostApprover, HostQuestion } from "./egress/host-approver.ts";
export type { Answer, Approver, Question } from "./gate/approver.ts";
export type { ModelClient } from "./model/model-client.ts";
export type { Policy, PolicyLimits } from "./policy/policy.ts";
export type { Reaped } from "./sandbox/reaper.ts";
export type { Sandbox, SandboxEvent, SandboxFacts } from "./sandbox/sandbox.ts";
export { type ApplyOptions, bringBack, itemAt, type KeptBySession, keptBy } from "./session/apply.ts";
export { type Examination, examine, type Finding } from "./session/doctor.ts";
export {
  type EventLine,
  type HeaderLine,
  type HistoryItem,
  readHistory,
  type SessionSummary,
} from "./session/history.ts";
export { findSession, type ListedSession, listSessions } from "./session/history-find.ts";
export { type Home, homeOf } from "./session/home.ts";
export { buildImages, collectGarbage } from "./session/maintenance.ts";
export type { SandboxProvider, SandboxRequest } from "./session/provider.ts";
export type { Recovered } from "./session/recover.ts";
export { RunResult } from "./session/result.ts";
export { failedResult, type RunOnceOptions, runOnce } from "./session/run-once.ts";
export { type RunSettings, runPrompt } from "./session/run-prompt.ts";
export { type Surroundings, surroundingsOf } from "./session/surroundings.ts";
export { type Ways, waysOf } from "./session/ways.ts";
export type { OptionalTool } from "./tools/catalogue.ts";
