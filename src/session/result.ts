import * as z from "zod";
import { keptShape } from "./quarantine-schema.ts";

const count = z.int().min(0);
const usage = z.strictObject({ input: count, output: count, reasoning: count, cache_read: count, cache_write: count });

/** The one object that `run --json` prints, for every outcome. Documented in `docs/result.md`. */
export const RunResult = z.strictObject({
  version: z.literal(1),
  outcome: z.enum(["completed", "failed", "aborted", "limit", "refused", "truncated"]),
  exit_code: count,
  /** The model's last words. */
  result: z.string(),
  session_id: z.string().nullable(),
  /** Absolute; null only when the run failed before a session could be opened. */
  session_file: z.string().nullable(),
  model: z.strictObject({ provider: z.string(), id: z.string(), api: z.string() }).nullable(),
  usage,
  cost: z.strictObject({
    reported_usd: z.number().nullable(),
    estimated_usd: z.number().nullable(),
    /** Requests whose cost nobody knows. */
    unknown_requests: count,
    complete: z.boolean(),
  }),
  turns: count,
  tool_calls: z.strictObject({ total: count, errors: count, denied: count, synthetic: count }),
  /** By the `write` and `edit` tools; what commands changed is not listed. */
  files_changed: z.array(
    z.strictObject({ path: z.string(), kind: z.enum(["created", "changed"]), added: count, removed: count }),
  ),
  denials: z.array(
    z.strictObject({
      call_id: z.string(),
      tool: z.string(),
      by: z.enum(["containment", "policy", "approval"]),
      rule: z.string(),
      enable_with: z.string(),
    }),
  ),
  /** What was moved out of the workspace, or kept of what was replaced on the host. */
  quarantined: z.array(z.strictObject(keptShape)),
  egress: z.strictObject({
    allowed: count,
    denied: count,
    /** Allowed, and came to nothing. */
    failed: count,
    bytes_up: count,
    bytes_down: count,
    /** Names that were reached. */
    hosts: z.array(z.string()),
    /** `port` is null where a name was asked for and got no address. */
    refused: z.array(
      z.strictObject({
        host: z.string(),
        port: count.nullable(),
        rule: z.string(),
        why: z.string().nullable(),
        count,
      }),
    ),
    /** Refusals that are in the log only: of more hosts than are listed. */
    refused_unlisted: count,
  }),
  sandbox: z
    .strictObject({
      image: z.string(),
      image_digest: z.string(),
      policy_hash: z.string(),
      selftest: z.array(z.strictObject({ control: z.string(), holds: z.boolean(), evidence: z.string() })),
      degraded: z.array(z.string()),
    })
    .nullable(),
  limits: z.strictObject({
    set: z.strictObject({ turns: count, tool_calls: count, seconds: z.number() }),
    used: z.strictObject({ turns: count, tool_calls: count, seconds: z.number() }),
  }),
  timing: z.strictObject({
    total_ms: count,
    sandbox_ready_ms: count.nullable(),
    model_ms: count,
    tool_ms: count,
  }),
  error: z.strictObject({ code: z.string(), message: z.string(), hint: z.string().nullable() }).nullable(),
});
export type RunResult = z.infer<typeof RunResult>;
