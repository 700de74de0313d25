import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { HostApprover } from "../../../src/egress/host-approver.ts";
import { explainHost } from "../../../src/session/explain-host.ts";
import { GateWorld, heard } from "../../support/egress/gate-world.ts";
import { TestDialler } from "../../support/egress/test-dialler.ts";
import { hostCases, hostRulesText, NAMES } from "../../support/host-rules.ts";
import { policyFrom } from "../../support/policy-of.ts";

type Texts = { user: string; project: string };
type Place = { written: string; port: number };

const SSH = "SSH-2.0-test\r\n";

/** What the gate does when a program looks the name up and connects, and a person says yes. */
async function done(policy: Texts, { written, port }: Place): Promise<string> {
  let asked = 0;
  const approver: HostApprover = {
    by: "person",
    ask: async () => {
      asked++;
      return { type: "yes", scope: "connection" };
    },
  };
  const dialler = new TestDialler(Object.fromEntries(NAMES.map((name) => [name, ["93.184.216.34"]])));
  await using world = await GateWorld.open({ policy, dialler, approver });
  const isSsh = sshOnly(await policyFrom(policy), { written, port });
  const program = await world.connect(written, port);
  program.end(isSsh ? SSH : `GET / HTTP/1.1\r\nHost: ${NAMES.find((name) => isName(written, name))}:${port}\r\n\r\n`);
  await heard(program);
  if (asked > 0) return "ask";
  return dialler.dials.length > 0 ? "allow" : "deny";
}

function isName(written: string, name: string): boolean {
  return written.normalize("NFKC").toLowerCase().replace(/\.$/, "") === name;
}

function sshOnly(policy: Parameters<typeof explainHost>[1], place: Place): boolean {
  return said(policy, place)?.treatment?.protocol === "ssh";
}

function said(policy: Parameters<typeof explainHost>[1], { written, port }: Place) {
  try {
    return explainHost(`${written}:${port}`, policy);
  } catch {
    return undefined;
  }
}

describe("`policy explain host`", () => {
  it("says of 500 generated hosts what the gate then does", async () => {
    const met = new Set<string>();
    const details = await fc.check(
      fc.asyncProperty(hostCases, async ({ user, project, name, port, spelling }) => {
        const texts = { user: hostRulesText(user), project: hostRulesText(project) };
        const place = { written: spelling.of(name), port };
        const decision = said(await policyFrom(texts), place)?.decision ?? "deny";
        met.add(decision);
        expect(await done(texts, place)).toBe(decision);
      }),
      { numRuns: 500 },
    );
    if (details.failed) throw new Error(fc.defaultReportMessage(details));
    expect([...met].toSorted()).toEqual(["allow", "ask", "deny"]);
  });
});
