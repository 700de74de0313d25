import type { Hello, Outcome } from "../protocol/messages.ts";
import type { ToolArgs, ToolName } from "../tools/catalogue.ts";
import type { Guard } from "./guard/guard.ts";

/** What every handler works with. One per tool host. */
export type Host = {
  /** As the controller said it; the only source of paths, environment and programs. */
  hello: Hello;
  /** Hash of each file's bytes as the model last read or wrote it, by real path; lets `edit` refuse a stale view. */
  seen: Map<string, string>;
  guard: Pick<Guard, "refuse">;
};

/** What one call is given. */
export type CallContext = {
  host: Host;
  /** The number of the call on the wire. */
  id: number;
  /** Aborted when the controller cancels the call or goes away. */
  signal: AbortSignal;
  /** Shows bytes to people while the call runs; dropped when nobody keeps up, never waits. */
  show: (bytes: Uint8Array) => void;
};

export type Handler<Name extends ToolName> = (args: ToolArgs<Name>, context: CallContext) => Promise<Outcome>;
export type Handlers = { [Name in ToolName]: Handler<Name> };
