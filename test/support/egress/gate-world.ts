import type { Destination, Origin, RefusedInside } from "../../../src/core/outlet.ts";
import type { Dialler } from "../../../src/egress/dialler.ts";
import { type Egress, type EgressOptions, openEgress } from "../../../src/egress/egress.ts";
import { NOBODY_TO_ASK } from "../../../src/egress/host-approver.ts";
import type { EgressFact } from "../../../src/egress/records.ts";
import type { MuxStream } from "../../../src/protocol/mux-stream.ts";
import { policyFrom } from "../policy-of.ts";
import { streamPair } from "./stream-pair.ts";

export const NOTHING_INSIDE: RefusedInside = { unreachable: 0, otherQuestions: 0, taken: [], heldPorts: [] };
export const CALL: Origin = { callId: "call_1", assumed: false };

type Given = Partial<Omit<EgressOptions, "policy" | "dialler">> & {
  policy: Parameters<typeof policyFrom>[0];
  dialler: Dialler;
};

/** A gate with the facts it records. */
export class GateWorld implements AsyncDisposable {
  readonly egress: Egress;
  readonly facts: EgressFact[];

  private constructor(egress: Egress, facts: EgressFact[]) {
    this.egress = egress;
    this.facts = facts;
  }

  static async open({ policy, ...given }: Given): Promise<GateWorld> {
    const facts: EgressFact[] = [];
    const egress = await openEgress({
      policy: await policyFrom(policy),
      proxy: undefined,
      approver: NOBODY_TO_ASK,
      record: async (fact) => void facts.push(fact),
      ...given,
    });
    return new GateWorld(egress, facts);
  }

  /** Looks the name up, as a program must, and connects. */
  async connect(name: string, port: number, by: Origin = CALL): Promise<MuxStream> {
    await this.egress.lookup(name, by);
    return this.connectTo({ type: "name", name, port }, by);
  }

  connectTo(to: Destination, by: Origin = CALL): MuxStream {
    const { program, host } = streamPair();
    this.egress.connect(to, by, host);
    return program;
  }

  /** What a call is told. */
  lines(callId = "call_1", inside: Partial<RefusedInside> = {}, goesOn = true): Promise<string[]> {
    return this.egress.linesFor(callId, { ...NOTHING_INSIDE, ...inside }, goesOn);
  }

  /** What a program gets that says `text` and then no more: the answer, or why it was cut off. */
  async say(name: string, port: number, text = "hello", by: Origin = CALL): Promise<string> {
    const program = await this.connect(name, port, by);
    program.end(text);
    return heard(program);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.egress.close();
  }
}

/** All that comes, and `!` with the reason where it was cut off. */
export function heard(stream: MuxStream): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const text = (): string => Buffer.concat(parts).toString("latin1");
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => resolve(text()));
    stream.on("error", (error) => resolve(`${text()}!${error.message}`));
  });
}
