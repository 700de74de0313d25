import type { Readable } from "node:stream";
import type { GloveboxError } from "../core/errors.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Outlet } from "../core/outlet.ts";
import type { QuarantineItem } from "../core/quarantine.ts";
import type { ToolResult } from "../core/tool-result.ts";
import type { Control } from "../protocol/messages.ts";

/**
 * One tool call for the container. `deadlineMs` is when the controller gives up on it, beyond the tool's own limit;
 * `readsOnly` that it changes nothing, no when omitted; `callId` whose its connections are, nobody's when omitted.
 */
export type SandboxCall = { tool: string; args: JsonObject; deadlineMs: number; readsOnly?: boolean; callId?: string };

/**
 * Stores the tar archive of something that is moved out of the workspace, and says so in the log. Resolves when it is on
 * the disk: it is removed from the workspace then.
 */
export type Keep = (item: QuarantineItem, archive: Readable) => Promise<void>;

/** What of a container reaches the host: files that are moved out of its workspace, and its connections. */
export type HostSide = { keep: Keep; outlet: Outlet };

export type CallOptions = {
  /** Aborting stops the call's processes inside; the call still resolves, as `cancelled`, with what it had printed. */
  signal: AbortSignal;
  /** Text as it is printed, throttled, for people; parts of a flood are left out. */
  onOutput: (text: string) => void;
};

/**
 * When a sandbox looks for files that have names outside the workspace, which a write would change too, and makes their
 * folders read-only: never, before the first call that may write, or at the start.
 */
export type ProtectLinks = "never" | "before_writing" | "at_start";

/** Facts of a started sandbox, for the log, the result object and `doctor`. */
export type SandboxFacts = {
  containerId: string;
  image: string;
  imageDigest: string;
  uid: number;
  gid: number;
  /** What the self-test saw, every control holding. */
  controls: Control[];
  /** Weaker than meant, with the reason, and allowed all the same: `running as root`. */
  degraded: string[];
  /** Among these is one that a command could make use of. */
  isWeakened: boolean;
  /** Other than the policy says, and no weaker: `the engine has 1 processor`. */
  notes: string[];
};

/** What happens to a sandbox while a session has it; becomes a record of the log. */
export type SandboxEvent = {
  event: "started" | "selftest" | "toolhost_restarted" | "remounted" | "links_protected" | "lost" | "ended";
  containerId: string;
  detail: Json;
};

/**
 * The boundary: tools run on the other side of it. Calls may overlap. Whoever opened it closes it; closing ends every
 * process and removes the container.
 */
export type Sandbox = {
  readonly facts: SandboxFacts;
  /** Why no call can succeed any more; undefined while the sandbox works. */
  readonly failure: GloveboxError | undefined;
  /** Never rejects: what went wrong is in the result's status and words. */
  call: (call: SandboxCall, options: CallOptions) => Promise<ToolResult>;
  close: () => Promise<void>;
};
