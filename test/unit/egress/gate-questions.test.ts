import { describe, expect, it } from "vitest";
import type { HostAnswer, HostApprover, HostQuestion } from "../../../src/egress/host-approver.ts";
import { GateWorld } from "../../support/egress/gate-world.ts";
import { echo, TestServer } from "../../support/egress/servers.ts";
import { TestDialler } from "../../support/egress/test-dialler.ts";

const PUBLIC = "93.184.216.34";
const USER = `network:
  ask: [{ host: a.test, ports: [443, 8443], protocol: tcp }, { host: inner.test, protocol: tcp }]
  deny: [no.test]`;
const ASK_RULE = "user/network.ask[0]";
const NO = { type: "no" } as const;
const ONCE = { type: "yes", scope: "connection" } as const;
const SESSION = { type: "yes", scope: "session" } as const;

/** Answers each question with the next of the answers it was given, when it is let. */
class Person implements HostApprover {
  readonly by = "person";
  readonly questions: HostQuestion[] = [];
  aborted = 0;
  readonly #answers: (HostAnswer | Promise<HostAnswer>)[];

  constructor(...answers: (HostAnswer | Promise<HostAnswer>)[]) {
    this.#answers = answers;
  }

  async ask(question: HostQuestion, signal: AbortSignal): Promise<HostAnswer> {
    this.questions.push(question);
    signal.addEventListener("abort", () => this.aborted++);
    return (await this.#answers.shift()) ?? NO;
  }
}

async function opened(approver?: HostApprover) {
  const server = await TestServer.open(echo);
  const dialler = new TestDialler({ "a.test": [PUBLIC], "inner.test": ["10.0.0.5"] }, { [PUBLIC]: server.port });
  const world = await GateWorld.open({ policy: { user: USER }, dialler, ...(approver && { approver }) });
  const say = (port = 443, callId = "call_1") => world.say("a.test", port, "hello", { callId, assumed: false });
  const answers = () => world.facts.filter(({ type }) => type === "host_approval");
  return {
    server,
    dialler,
    world,
    say,
    answers,
    [Symbol.asyncDispose]: () => world.egress.close().then(() => server[Symbol.asyncDispose]()),
  };
}

describe("a host that a person is asked for", () => {
  it("is dialled when they say yes, and the answer is recorded before", async () => {
    const person = new Person(ONCE);
    await using gate = await opened(person);
    expect(await gate.say()).toBe("hello");
    expect(person.questions).toEqual([{ host: "a.test", port: 443, rule: ASK_RULE, callId: "call_1" }]);
    const answer = { host: "a.test", port: 443, decision: "yes", by: "person", scope: "connection", rule_id: ASK_RULE };
    expect(gate.world.facts.slice(0, 2)).toMatchObject([
      { type: "host_approval", ...answer },
      { type: "egress", verdict: "allowed", rule_id: ASK_RULE },
    ]);
  });

  it("L-10 is asked for again after a yes to one connection, and after a yes to another port", async () => {
    const person = new Person(ONCE, SESSION, NO);
    await using gate = await opened(person);
    expect([await gate.say(), await gate.say(8443), await gate.say(8443), await gate.say()]).toEqual([
      ...["hello", "hello", "hello"],
      "!a person said no to it",
    ]);
    expect(person.questions.map(({ port }) => port)).toEqual([443, 8443, 443]);
  });

  it("L-10 a no holds for the rest of the call, and the next call may ask", async () => {
    const person = new Person(NO, ONCE);
    await using gate = await opened(person);
    const no = "!a person said no to it";
    expect([await gate.say(), await gate.say(), await gate.say(443, "call_2")]).toEqual([no, no, "hello"]);
    expect(person.questions.map(({ callId }) => callId)).toEqual(["call_1", "call_2"]);
    expect(gate.answers()).toMatchObject([{ decision: "no" }, { decision: "yes" }]);
    expect(await gate.world.lines()).toEqual([
      `Refused: \`a.test:443\`, 2 times (rule \`${ASK_RULE}\`): a person said no to it. ` +
        "What a person can do: say yes when another call tries it",
    ]);
  });

  it("L-11 many connections at once are one question, and all that wait get its answer", async () => {
    let answer: (given: HostAnswer) => void = () => undefined;
    const person = new Person(new Promise<HostAnswer>((resolve) => (answer = resolve)), NO);
    await using gate = await opened(person);
    await gate.world.egress.lookup("a.test", { callId: "call_1", assumed: false });
    const first = Array.from({ length: 20 }, () => gate.say());
    const other = gate.say(8443);
    await expect.poll(() => person.questions.length, { timeout: 10_000 }).toBe(2);
    expect([await other, gate.dialler.dials]).toEqual(["!a person said no to it", []]);
    answer(ONCE);
    expect(new Set(await Promise.all(first))).toEqual(new Set(["hello"]));
    expect(person.questions.map(({ port }) => port)).toEqual([443, 8443]);
    expect(gate.answers()).toHaveLength(2);
  });

  it("L-12 is refused at once where nobody is there, once recorded for the call, with what would help", async () => {
    await using gate = await opened();
    const no = "!nobody was there to say yes to it";
    expect([await gate.say(), await gate.say(), gate.dialler.questions]).toEqual([no, no, []]);
    expect(gate.answers()).toMatchObject([{ decision: "no", by: "nobody", scope: "connection" }]);
    expect(await gate.world.lines()).toEqual([
      `Refused: \`a.test:443\`, 2 times (rule \`${ASK_RULE}\`): nobody was there to say yes to it. ` +
        `What a person can do: move ${ASK_RULE} as it is from \`network.ask\` to \`network.allow\`, ` +
        "or copy `glovebox run --allow-host a.test`",
    ]);
  });

  it("L-12 an approver that says yes for nobody, throws or never answers is no yes", async () => {
    await using nobody = await opened({ by: "nobody", ask: () => Promise.resolve(SESSION) });
    expect(await nobody.say()).toBe("!nobody was there to say yes to it");
    const throwing: HostApprover = {
      by: "person",
      ask: () => {
        throw new Error("no terminal");
      },
    };
    await using broken = await opened(throwing);
    expect(await broken.say()).toBe("!a person said no to it");
    await using silent = await opened({ by: "person", ask: () => new Promise(() => undefined) });
    const waiting = silent.say();
    await new Promise(setImmediate);
    await silent.world.egress.close();
    expect([await waiting, silent.dialler.dials]).toEqual(["!nobody had answered when the program ended", []]);
    expect(silent.world.facts).toMatchObject([
      { type: "host_approval", decision: "no", by: "person" },
      { type: "egress", verdict: "denied", rule_id: ASK_RULE, why: "nobody had answered when the program ended" },
    ]);
  });

  it("L-09 no yes of a person lifts a deny or reaches a private address", async () => {
    const person = new Person(SESSION, SESSION);
    await using gate = await opened(person);
    expect(await gate.world.say("inner.test", 443)).toBe("!`inner.test` resolves to a private address");
    expect(await gate.world.say("no.test", 443)).toBe("!no name was given an address for it");
    expect([person.questions.map(({ host }) => host), gate.dialler.dials]).toEqual([["inner.test"], []]);
  });

  it("is not asked for any more when all that wanted it have gone", async () => {
    const person = new Person(new Promise(() => undefined), ONCE);
    await using gate = await opened(person);
    const program = await gate.world.connect("a.test", 443);
    await expect.poll(() => person.questions.length, { timeout: 10_000 }).toBe(1);
    program.destroy();
    await expect.poll(() => person.aborted, { timeout: 10_000 }).toBe(1);
    expect(await gate.say()).toBe("hello");
    expect(gate.answers()).toMatchObject([{ decision: "no" }, { decision: "yes" }]);
  });

  it("is not asked for when the call that wanted it has ended whole, and its result says so", async () => {
    const person = new Person(new Promise(() => undefined), new Promise(() => undefined));
    await using gate = await opened(person);
    const waiting = gate.say();
    const other = gate.say(8443, "call_2");
    await expect.poll(() => person.questions.length, { timeout: 10_000 }).toBe(2);
    // A call whose processes go on may still be asked for.
    expect([await gate.world.lines("call_3", {}, true), person.aborted]).toEqual([[], 0]);
    const why = "nobody had answered when the program ended";
    expect(await gate.world.lines("call_1", {}, false)).toEqual([
      expect.stringMatching(`^Refused: \`a.test:443\` .*: ${why}\\. What a person can do: move user`),
    ]);
    expect([await waiting, person.aborted, gate.dialler.dials]).toEqual([`!${why}`, 1, []]);
    expect(gate.world.facts).toMatchObject([
      { type: "host_approval", decision: "no", by: "person", port: 443 },
      { type: "egress", verdict: "denied", port: 443, why },
    ]);
    await gate.world.egress.close();
    expect([await other, gate.world.facts.length]).toEqual([`!${why}`, 4]);
  });
});
