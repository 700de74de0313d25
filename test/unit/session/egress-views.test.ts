import { describe, expect, it } from "vitest";
import { egressLines } from "../../../src/cli/egress-command.ts";
import { hostAnswerWords, RefusalNotes, refusedLines, refusedPlaces } from "../../../src/cli/egress-words.ts";
import type { EgressRecord, SessionRecord } from "../../../src/core/events.ts";
import { EgressTally, NO_EGRESS } from "../../../src/session/egress-tally.ts";
import { EgressHistory } from "../../../src/session/history-egress.ts";
import { type EventLine, eventLine } from "../../../src/session/history-schema.ts";

function verdict(change: Partial<EgressRecord> = {}): EgressRecord {
  return {
    type: "egress",
    connection: 1,
    call_id: "c1",
    assumed: false,
    host: "packages.example.com",
    port: 443,
    verdict: "allowed",
    rule_id: "user/network.allow[0]",
    address: "93.184.216.34",
    via: "direct",
    why: null,
    count: 1,
    ...change,
  };
}

const REFUSED = {
  ...{ connection: null, port: null, verdict: "denied" as const, rule_id: "built-in/network.allow" },
  ...{ address: null, via: null, why: "no rule admits it" },
};

function end(connection: number, bytes_up: number, bytes_down: number, why: string | null = null) {
  return { type: "egress_end" as const, connection, bytes_up, bytes_down, duration_ms: 5, why };
}

function answer(change: Partial<Extract<SessionRecord, { type: "host_approval" }>> = {}) {
  return {
    type: "host_approval" as const,
    ...{ host: "git.example.com", port: 443, decision: "no" as const, by: "nobody" as const },
    ...{ scope: "connection" as const, rule_id: "user/network.ask[0]", ...change },
  };
}

type EgressFact = Parameters<EgressTally["add"]>[0];

function tallied(...facts: EgressFact[]): EgressTally {
  const tally = new EgressTally();
  for (const fact of facts) tally.add(fact);
  return tally;
}

describe("the tally of connections", () => {
  it("adds up what was reached and what was refused", () => {
    const { counted, unattended } = tallied(
      verdict(),
      verdict({ connection: 2, host: "files.example.com" }),
      end(1, 10, 2000),
      end(2, 5, 70),
      verdict({ ...REFUSED, host: "evil.test" }),
      verdict({ ...REFUSED, host: "evil.test", count: 3 }),
    );
    expect([counted, unattended]).toEqual([
      {
        ...{ allowed: 2, denied: 4, failed: 0, bytes_up: 15, bytes_down: 2070 },
        hosts: ["packages.example.com", "files.example.com"],
        refused: [
          { host: "evil.test", port: null, rule: "built-in/network.allow", why: "no rule admits it", count: 4 },
        ],
        refused_unlisted: 0,
      },
      0,
    ]);
  });

  it("counts a connection by its last verdict: one that was allowed and came to nothing reached nobody", () => {
    const { counted } = tallied(verdict(), verdict({ verdict: "failed", why: "connection refused" }), end(1, 0, 0));
    expect(counted).toEqual({ ...NO_EGRESS, failed: 1 });
  });

  it("lists a hundred hosts that were refused, and counts the rest", () => {
    const { counted } = tallied(
      ...Array.from({ length: 150 }, (_, index) => verdict({ ...REFUSED, host: `a${index}.evil.test` })),
    );
    expect([counted.denied, counted.refused.length, counted.refused_unlisted]).toEqual([150, 100, 50]);
  });

  it("knows of hosts that nobody was there to admit, and not of those that a person refused", () => {
    const tally = tallied(answer(), answer({ by: "person" }), answer({ by: "person", decision: "yes" }));
    expect(tally.unattended).toBe(1);
  });
});

describe("the history of connections", () => {
  function read(...facts: EgressFact[]): EgressHistory {
    const history = new EgressHistory();
    const stamp = { id: "e", ts: "2026-01-31T10:00:00.000Z", mono: 1 };
    // As they stand in a log.
    const lines = facts.map((fact, index): EventLine => eventLine.parse({ ...fact, ...stamp, seq: index + 1 }));
    for (const line of lines) history.add(line);
    return history;
  }

  it("has a row for each host and verdict, with bytes, calls and addresses", () => {
    const { rows } = read(
      verdict(),
      verdict({ connection: 2, call_id: "c2" }),
      end(2, 1, 2048),
      end(1, 1, 0, "the upload limit was reached"),
      verdict({ ...REFUSED, host: "evil.test", call_id: null, count: 2 }),
      verdict({ connection: 3, host: "db.test", port: 5432, rule_id: "user/network.allow[1]" }),
      verdict({
        ...{ connection: 3, host: "db.test", port: 5432, rule_id: "user/network.allow[1]" },
        ...{ verdict: "failed", why: "it did not answer" },
      }),
    );
    const common = { rule_id: "user/network.allow[0]", via: "direct", addresses: ["93.184.216.34"] };
    expect(rows).toEqual([
      {
        ...{ ...common, host: "packages.example.com", port: 443, verdict: "allowed", connections: 2, ended: true },
        ...{ bytes_up: 2, bytes_down: 2048, calls: ["c1", "c2"], why: "the upload limit was reached" },
      },
      {
        ...{ ...common, host: "db.test", port: 5432, verdict: "failed", rule_id: "user/network.allow[1]" },
        ...{ ended: true, connections: 1, bytes_up: 0, bytes_down: 0, calls: ["c1"], why: "it did not answer" },
      },
      {
        ...{ host: "evil.test", port: null, verdict: "denied", rule_id: "built-in/network.allow", via: null },
        ...{
          ended: true,
          connections: 2,
          bytes_up: 0,
          bytes_down: 0,
          addresses: [],
          calls: [null],
          why: "no rule admits it",
        },
      },
    ]);
  });

  it("does not know the bytes of a connection whose end no log tells: its session was killed", () => {
    const { rows } = read(verdict(), end(1, 100, 200), verdict({ connection: 2 }));
    expect(rows).toMatchObject([{ connections: 2, bytes_up: null, bytes_down: null, ended: false }]);
    expect(egressLines(rows)[1]).toBe(
      "packages.example.com:443  allowed  2            -   -     user/network.allow[0]  c1",
    );
  });

  it("shows the question that nobody had answered when the program ended, which is no denial for want of a person", () => {
    const why = "nobody had answered when the program ended";
    const denied = {
      ...REFUSED,
      connection: 1,
      host: "git.example.com",
      port: 443,
      rule_id: "user/network.ask[0]",
      why,
    };
    const history = read(answer({ by: "person" }), verdict(denied));
    expect(egressLines(history.rows)[1]).toContain(
      `denied   1            -   -     user/network.ask[0]  c1     ${why}`,
    );
    expect(history.answers.map(hostAnswerWords)).toEqual([
      "approval: no to git.example.com:443 (a person; rule user/network.ask[0])",
    ]);
    expect(tallied(answer({ by: "person" }), verdict(denied)).unattended).toBe(0);
  });

  it("counts a refusal that came again, with the number of the first, with the first", () => {
    const denied = { ...REFUSED, connection: 7, port: 443, host: "evil.test" };
    expect(read(verdict(denied), verdict({ ...denied, count: 9 })).rows.map((row) => row.connections)).toEqual([10]);
  });

  it("is a table, in which nothing of a log is executed", () => {
    const { rows } = read(verdict(), end(1, 100, 3 * 1024), verdict({ ...REFUSED, host: "e\u001b[2Jvil", count: 2 }));
    expect(egressLines(rows)).toEqual([
      "HOST                      VERDICT  CONNECTIONS  UP     DOWN    RULE                    CALLS  WHY",
      "packages.example.com:443  allowed  1            100 B  3.0 KB  user/network.allow[0]   c1",
      "e\\x1b[2Jvil               denied   2            -      -       built-in/network.allow  c1     no rule admits it",
    ]);
    expect(egressLines([])).toEqual(["no connections, and none were tried by name"]);
  });

  it("keeps what a person said", () => {
    const { answers } = read(answer({ by: "person", decision: "yes", scope: "session" }));
    expect(answers.map(hostAnswerWords)).toEqual([
      "approval: yes to git.example.com:443 (a person, for the session; rule user/network.ask[0])",
    ]);
  });
});

describe("what is said of refused hosts", () => {
  it("is said once for each host and call, and of a flood that there is more", () => {
    const notes = new RefusalNotes();
    const said = (change: Partial<EgressRecord>) => notes.words(verdict({ ...REFUSED, ...change }));
    expect(said({ host: "evil.test" })).toBe("refused: evil.test (rule built-in/network.allow): no rule admits it");
    expect(said({ host: "evil.test" })).toBeUndefined();
    expect(said({ host: "evil.test", call_id: "c2" })).toBeDefined();
    expect(notes.words(verdict())).toBeUndefined();
    const flood = Array.from({ length: 40 }, (_, index) => said({ host: `a${index}.evil.test` }));
    expect(flood.filter((words) => words !== undefined)).toHaveLength(5);
    expect(flood[4]).toContain("more hosts were refused");
  });

  it("says of a failure what failed", () => {
    const failed = verdict({ verdict: "failed", why: "connection refused" });
    expect(new RefusalNotes().words(failed)).toBe("not reached: packages.example.com:443: connection refused");
  });

  const refused = (host: string, rule: string, port: number | null = null, why = "no rule admits it") => ({
    ...{ host, port, rule },
    ...{ why, count: 1 },
  });

  it("ends with the words that admit them, where a person's word can", () => {
    const egress = {
      ...NO_EGRESS,
      refused: [
        refused("a.example", "built-in/network.allow"),
        refused("b.example", "user/network.ask[0]", 8443, "nobody was there to say yes to it"),
        refused("c.example", "organisation/network.allow"),
        refused("d.example", "user/network.deny[0]"),
        refused("e.example", "user/network.allow[1]", 443),
        refused("x; rm -rf .example", "built-in/network.allow"),
      ],
    };
    const session_id = "01";
    expect(refusedLines({ session_id, egress })).toEqual([
      "6 hosts refused · run again with --allow-host a.example --allow-host b.example:8443",
    ]);
    expect(refusedPlaces(egress).at(-1)).toBe("run again with --allow-host a.example --allow-host b.example:8443");
    expect(refusedLines({ session_id, egress: NO_EGRESS })).toEqual([]);
    expect(refusedPlaces(NO_EGRESS)).toEqual([]);
  });

  it("names no flag where none helps: connections off, denied, private, other bytes, a request, a person's no", () => {
    const egress = {
      ...NO_EGRESS,
      refused: [
        refused("a.example", "built-in/approval.net", 443, "connections are off"),
        refused("b.example", "user/network.deny[0]", 443, "a rule denies it"),
        refused("c.example", "built-in/network.private", 443, "it leads to a private address"),
        refused("d.example", "built-in/network.addresses", 443, "it has no public address"),
        refused("e.example", "built-in/network.protocol", 443, "the first bytes are not TLS"),
        refused("f.example", "built-in/network.requests", 80, "a request has two lengths"),
        refused("g.example", "user/network.allow", 80, "`POST http://g.example/x` is not admitted"),
        refused("h.example", "user/network.ask[0]", 443, "a person said no to it"),
      ],
    };
    expect(refusedLines({ session_id: "01", egress })).toEqual(["8 hosts refused"]);
  });

  it("names three flags, and where the others are", () => {
    const places = Array.from({ length: 9 }, (_, index) => refused(`h${index}.example`, "built-in/network.allow"));
    const [line] = refusedLines({ session_id: "01", egress: { ...NO_EGRESS, refused: places } });
    expect(line).toBe(
      "9 hosts refused · run again with --allow-host h0.example --allow-host h1.example --allow-host h2.example" +
        " … and 6 more: glovebox sessions show 01 --egress",
    );
  });
});
