import type { Duplex } from "node:stream";
import type { Decision } from "../core/effects.ts";
import type { Treatment } from "../policy/decide-connection.ts";
import type { EgressRefusal } from "./refusal.ts";

/** One admitted connection, before anything of it has left. */
export type Carriage = {
  /** The container's end; whoever carries closes it, with the reason where there is one. */
  inside: Duplex;
  /** Canonical. */
  name: string;
  port: number;
  treatment: Treatment;
  /** What the policy says of one request; `path` without the query. */
  judge: (request: { method: string; path: string }) => Decision;
  /**
   * Whether paths that servers read in more than one way are refused, as they must be where a rule that may apply names
   * paths. Omitted, wherever requests are judged: `/@scope%2fname` is such a path, and registries have it.
   */
  strictPaths?: boolean;
  /**
   * The rule that let it through as it would be for another protocol; undefined where that would not help. Omitted, the
   * name and port alone.
   */
  ruleAs?: (changed: { name: string; port: number; protocol: "tcp" | "ssh" }) => string | undefined;
  /** Resolves, checks and dials; called at most once, and not before the first bytes are what they must be. @throws EgressRefusal */
  dial: () => Promise<Duplex>;
  /** Told of every piece before it is passed on. @throws EgressRefusal when a limit is reached. */
  count: (direction: "up" | "down", bytes: number) => void;
  /** Told why it does not go on where the program is told in words, or left without a word. */
  refused?: (refusal: EgressRefusal) => void;
  /** A certificate and key (PEM) for the name, by the session's own authority; for TLS that is opened. */
  certify: (name: string) => Promise<{ key: string; cert: string }>;
  signal: AbortSignal;
};
