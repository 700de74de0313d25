import type { SessionRecord } from "../core/events.ts";

/** What the gate writes down. */
export type EgressFact = Extract<SessionRecord, { type: "egress" | "egress_end" | "host_approval" }>;

/** Appends a fact to the log; rejects when it could not, and then nothing is dialled. */
export type RecordFact = (fact: EgressFact) => Promise<void>;
