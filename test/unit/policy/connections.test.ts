import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decideConnection, portsOf, type Treatment } from "../../../src/policy/decide-connection.ts";
import { canonicalHost } from "../../../src/policy/host-name.ts";
import { explainHost } from "../../../src/session/explain-host.ts";
import {
  hostCases,
  hostRulesText,
  type Item,
  KINDS,
  type Lists,
  SPELLINGS,
  TREATMENTS,
} from "../../support/host-rules.ts";
import { effectiveOf } from "../../support/policy-of.ts";

/** What is to be decided, said in another way than the program says it. */
function expected(layers: readonly Lists[], host: string, port: number): { type: string; treatment?: Treatment } {
  for (const type of ["allow", "ask"] as const) {
    for (const [way, treatment] of Object.entries(TREATMENTS)) {
      if (layers.every((layer) => lets(layer, { host, port, way }).includes(type))) {
        // What everybody allows without a question was found before.
        return { type, treatment };
      }
    }
  }
  return { type: "deny" };
}

/** What one layer lets happen to a connection in one way. */
function lets({ allow, ask, deny }: Lists, at: { host: string; port: number; way: string }): ("allow" | "ask")[] {
  const isNamed = ({ host }: Item): boolean =>
    host.startsWith("*.") ? at.host.endsWith(host.slice(1)) : at.host === host;
  const admits = (rule: Item): boolean =>
    isNamed(rule) && (rule.ports ?? [443]).includes(at.port) && KINDS[rule.kind].ways.some((way) => way === at.way);
  if (deny?.some((rule) => isNamed(rule) && (rule.ports ?? [at.port]).includes(at.port))) return [];
  const isAsked = ask?.some((rule) => isNamed(rule) && (rule.ports ?? [443]).includes(at.port));
  if (isAsked) return [...(ask ?? []), ...(allow ?? [])].some(admits) ? ["ask"] : [];
  if (allow?.some(admits)) return ["allow", "ask"];
  if (allow) return [];
  return ask ? ["allow"] : ["allow", "ask"];
}

function explained(value: string, policy: Parameters<typeof explainHost>[1]): object {
  try {
    return explainHost(value, policy);
  } catch (error) {
    return { code: (error as { code?: string }).code };
  }
}

describe("what is said of a connection", () => {
  it("is the same of the gate, of its ports and of `policy explain`, however the name is written", async () => {
    const details = await fc.check(
      fc.asyncProperty(hostCases, async ({ user, project, name, port, spelling }) => {
        const { policy } = await effectiveOf({ user: hostRulesText(user), project: hostRulesText(project) });
        const written = spelling.of(name);
        const canonical = canonicalHost(written);
        expect(canonical).toEqual(spelling.isName ? { host: name } : { problem: expect.any(String) });
        if (!("host" in canonical)) {
          expect(explained(`${written}:${port}`, policy)).toEqual({ code: "USAGE" });
          return;
        }
        const decided = decideConnection(policy, { host: canonical.host, port });
        // Nobody is behind a list that nobody names: the built-in one is empty.
        const wanted = expected([{ ...user, allow: user.allow ?? [] }, project], name, port);
        expect(decided).toMatchObject(wanted);
        expect(portsOf(policy, name).includes(port)).toBe(wanted.type !== "deny");
        expect(explained(`${written}:${port}`, policy)).toMatchObject({
          decision: decided.type,
          rule: decided.rule,
          treatment: wanted.treatment ?? null,
        });
      }),
      { numRuns: 1_000 },
    );
    if (details.failed) throw new Error(fc.defaultReportMessage(details));
  }, 120_000);

  it.each(Object.entries(SPELLINGS))("%s is a name or none as often as it is asked", async (_, { of, isName }) => {
    const { policy } = await effectiveOf({ user: "network: { allow: [a.test] }" });
    expect(explained(of("a.test"), policy)).toEqual(
      isName
        ? { decision: "allow", rule: "user/network.allow[0]", treatment: { protocol: "auto", tls: "sealed" } }
        : { code: "USAGE" },
    );
  });
});
