import * as z from "zod";
import type { Fact } from "../core/events.ts";
import { isSessionId } from "../core/ids.ts";
import { keptShape } from "./quarantine-schema.ts";

/**
 * Lines of a log as they are read back. A log is a file, and files are hostile: what is shown of it is checked here.
 * Keys nobody shows are let through unread, so that a newer minor version can add some.
 */

const count = z.int().min(0);
const number = z.number().min(0);
const text = z.object({ type: z.literal("text"), text: z.string() });
const image = z.object({ type: z.literal("image"), mime: z.string() });
const error = z.object({ code: z.string(), message: z.string(), hint: z.string().nullable() });
const denial = z.object({
  by: z.enum(["containment", "policy", "approval"]),
  rule: z.string(),
  enable_with: z.string(),
});

export const headerLine = z.looseObject({
  type: z.literal("session"),
  version: z.int().min(1),
  id: z.string().refine(isSessionId, "not a session id"),
  created_at: z.iso.datetime(),
  cwd: z.string(),
  workspace_id: z.string(),
  app_version: z.string(),
});
export type HeaderLine = z.infer<typeof headerLine>;

const stamp = { seq: z.int().min(1), id: z.string(), ts: z.iso.datetime(), mono: number };
const entry = { ...stamp, parent_id: z.string().nullable() };

const assistantPart = z.discriminatedUnion("type", [
  text,
  z.object({ type: z.literal("reasoning"), text: z.string() }),
  z.object({ type: z.literal("tool_call"), id: z.string(), name: z.string(), arguments: z.string() }),
]);

const details = z.looseObject({
  exit_code: z.int().optional(),
  signal: z.string().optional(),
  diff: z.string().optional(),
  job_id: z.int().optional(),
});

const result = z.looseObject({
  ...entry,
  type: z.literal("tool_result"),
  call_id: z.string(),
  tool_name: z.string(),
  status: z.enum(["ok", "failed", "invalid", "not_run", "denied", "timed_out", "cancelled", "lost"]),
  content: z.array(z.discriminatedUnion("type", [text, image])),
  is_error: z.boolean(),
  reason: z.string().optional(),
  denial: denial.optional(),
  duration_ms: number,
  details,
});

const LINES = {
  system: z.looseObject({ ...entry, type: z.literal("system"), text: z.string() }),
  user: z.looseObject({ ...entry, type: z.literal("user"), source: z.string(), content: z.string() }),
  assistant: z.looseObject({
    ...entry,
    type: z.literal("assistant"),
    model: z.string(),
    provider: z.string(),
    stop_reason: z.string(),
    content: z.array(assistantPart),
  }),
  tool_result: result,
  run_started: z.looseObject({ ...stamp, type: z.literal("run_started") }),
  run_end: z.looseObject({
    ...stamp,
    type: z.literal("run_end"),
    outcome: z.enum(["completed", "failed", "aborted", "limit", "refused", "truncated"]),
    error: error.nullable(),
  }),
  request_started: z.looseObject({ ...stamp, type: z.literal("request_started"), number: count }),
  request_failed: z.looseObject({ ...stamp, type: z.literal("request_failed"), error, will_retry: z.boolean() }),
  call_prepared: z.looseObject({ ...stamp, type: z.literal("call_prepared"), call_id: z.string() }),
  approval: z.looseObject({
    ...stamp,
    type: z.literal("approval"),
    call_id: z.string(),
    decision: z.enum(["yes", "no"]),
    by: z.enum(["person", "flag", "nobody", "grant"]),
    scope: z.enum(["call", "session"]),
    reason: z.string().nullable(),
  }),
  call_started: z.looseObject({ ...stamp, type: z.literal("call_started"), call_id: z.string() }),
  usage: z.looseObject({ ...stamp, type: z.literal("usage") }),
  sandbox: z.looseObject({
    ...stamp,
    type: z.literal("sandbox"),
    event: z.enum(["started", "selftest", "toolhost_restarted", "remounted", "links_protected", "lost", "ended"]),
    image: z.string(),
    detail: z.json(),
  }),
  quarantine: z.looseObject({ ...stamp, type: z.literal("quarantine"), ...keptShape }),
  egress: z.looseObject({
    ...stamp,
    type: z.literal("egress"),
    connection: count.nullable(),
    call_id: z.string().nullable(),
    assumed: z.boolean(),
    host: z.string(),
    port: count.nullable(),
    verdict: z.enum(["allowed", "denied", "failed"]),
    rule_id: z.string(),
    address: z.string().nullable(),
    via: z.enum(["direct", "proxy", "forward"]).nullable(),
    why: z.string().nullable(),
    count,
  }),
  egress_end: z.looseObject({
    ...stamp,
    type: z.literal("egress_end"),
    connection: count,
    bytes_up: count,
    bytes_down: count,
    duration_ms: number,
    why: z.string().nullable(),
  }),
  host_approval: z.looseObject({
    ...stamp,
    type: z.literal("host_approval"),
    host: z.string(),
    port: count,
    decision: z.enum(["yes", "no"]),
    by: z.enum(["person", "nobody"]),
    scope: z.enum(["connection", "session"]),
    rule_id: z.string(),
  }),
  policy: z.looseObject({ ...stamp, type: z.literal("policy"), hash: z.string() }),
} satisfies Record<Fact["type"], z.ZodType>;

export const eventLine = z.discriminatedUnion("type", [
  LINES.system,
  LINES.user,
  LINES.assistant,
  LINES.tool_result,
  LINES.run_started,
  LINES.run_end,
  LINES.request_started,
  LINES.request_failed,
  LINES.call_prepared,
  LINES.approval,
  LINES.call_started,
  LINES.usage,
  LINES.sandbox,
  LINES.quarantine,
  LINES.egress,
  LINES.egress_end,
  LINES.host_approval,
  LINES.policy,
]);
export type EventLine = z.infer<typeof eventLine>;
