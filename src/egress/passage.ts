import { decideEffect } from "../policy/decide.ts";
import { decideConnection, seesPaths, type Treatment } from "../policy/decide-connection.ts";
import type { Carriage } from "./carriage.ts";
import { type Target, type Way, wayToName, wayToService } from "./dial/route.ts";
import type { Forward } from "./forwards.ts";
import type { Gate } from "./gate.ts";
import type { HostQuestion } from "./host-approver.ts";
import { EgressRefusal } from "./refusal.ts";
import { changedRule, refusalBy } from "./remedy.ts";
import { RequestJudge } from "./request-judge.ts";

/** A connection that was let through: by which rule, how it is looked at, and how the other end is found. */
export type Passage = {
  target: Target;
  rule: string;
  treatment: Treatment;
  judge: Carriage["judge"];
  strictPaths: boolean;
  ruleAs: NonNullable<Carriage["ruleAs"]>;
  find: (signal: AbortSignal) => Promise<Way>;
};

/** `onAsk` is told when a person is asked, and when no more. */
type Asked = { callId: string | null; signal: AbortSignal; onAsk: (isAsking: boolean) => void };

/** Lets a connection through, or not. @throws EgressRefusal, or the signal's reason */
export type Admit = (asked: Asked) => Promise<Passage>;

/** Judges a connection to a name that was looked up. @throws EgressRefusal, or the signal's reason */
export async function admitName(gate: Gate, target: Target, asked: Asked): Promise<Passage> {
  const { policy } = gate;
  const decision = decideConnection(policy, target);
  if (decision.type === "deny") throw refusalBy(policy, target);
  const { rule, treatment } = decision;
  const isGranted = decision.type === "ask";
  if (isGranted) await askFor(gate, { ...target, rule }, { asked, refusal: refusalBy(policy, target) });
  const judge = new RequestJudge(policy, { target, rule, treatment, isGranted });
  return {
    ...{ target, rule, treatment, strictPaths: seesPaths(policy, target) },
    ruleAs: ({ protocol }) => changedRule(policy, { ...target, rule }, { protocol }),
    judge: (request) => judge.judge(request),
    find: async (until) => {
      const way = await wayToName(gate, { target, whenPrivate: () => judge.enterPrivate() }, until);
      judge.settle();
      return way;
    },
  };
}

/** Judges a connection to a service of the host: a rule names it, so only `approval` can say no to it. */
export async function admitForward(gate: Gate, forward: Forward, asked: Asked): Promise<Passage> {
  const { rule, ...target } = forward;
  const decision = decideEffect(gate.policy, "net");
  if (decision.type !== "allow") {
    const refusal = new EgressRefusal("connections are off", { rule: decision.rule, enable_with: decision.enableWith });
    if (decision.type === "deny") throw refusal;
    await askFor(gate, { ...target, rule: decision.rule }, { asked, refusal });
  }
  return {
    ...{ target, rule, treatment: { protocol: "tcp", tls: "sealed" }, strictPaths: true },
    ruleAs: () => undefined,
    judge: () => ({ type: "deny", rule, enableWith: "the requests of a forwarded service are not looked at" }),
    find: (until) => wayToService(gate.dialler, target, until),
  };
}

async function askFor(
  { questions }: Gate,
  question: Omit<HostQuestion, "callId">,
  { asked, refusal }: { asked: Asked; refusal: EgressRefusal },
): Promise<void> {
  const { callId, signal, onAsk } = asked;
  onAsk(true);
  const said = await questions.admit({ ...question, callId }, signal).catch(() => "nothing" as const);
  onAsk(false);
  if (said === true) return;
  if (said === "nothing") throw new EgressRefusal("nobody had answered when the program ended", refusal.denial);
  const { rule } = question;
  if (questions.by === "nobody") throw new EgressRefusal("nobody was there to say yes to it", refusal.denial);
  throw new EgressRefusal("a person said no to it", { rule, enable_with: "say yes when another call tries it" });
}
