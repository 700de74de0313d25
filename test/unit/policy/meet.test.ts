import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundsOf, meet, UNBOUND } from "../../../src/policy/bounds.ts";
import { BUILT_IN_LAYER } from "../../../src/policy/built-in.ts";
import { decideHost } from "../../../src/policy/decide-host.ts";
import { boundsOfProject, effectivePolicy, wordsOfPerson } from "../../../src/policy/effective.ts";
import { cornersOf, covers, deniesAll, deniesHost, matchesHost } from "../../../src/policy/hosts.ts";
import { NO_OPINION } from "../../../src/policy/layer.ts";
import { over } from "../../../src/policy/stack.ts";
import { decisions, hostRule, layer, looserIn } from "../../support/policy-layers.ts";
import { holds } from "../../support/property.ts";

const RUNS = { numRuns: 10_000 };
const bounds = (name: string) => layer(name).map(boundsOf);

const WHOLE = { private: false, inspect: false, methods: "all", paths: "all" } as const;

describe("L-06 the meet of two layers", () => {
  it("is commutative, in decisions and in the rules that make them", () => {
    holds(
      fc.property(bounds("a"), bounds("b"), (a, b) => {
        expect(meet(a, b)).toEqual(meet(b, a));
      }),
      RUNS,
    );
  }, 120_000);

  it("is associative", () => {
    holds(
      fc.property(bounds("a"), bounds("b"), bounds("c"), (a, b, c) => {
        expect(decisions(meet(meet(a, b), c))).toEqual(decisions(meet(a, meet(b, c))));
      }),
      RUNS,
    );
  }, 120_000);

  it("is idempotent, and no opinion changes nothing", () => {
    holds(
      fc.property(bounds("a"), (a) => {
        expect(meet(a, a)).toEqual(a);
        expect(meet(a, UNBOUND)).toEqual(a);
      }),
      RUNS,
    );
  }, 120_000);

  it("is never looser than either, and monotone: a tighter layer gives no looser result", () => {
    holds(
      fc.property(bounds("a"), bounds("b"), bounds("c"), (a, b, c) => {
        const both = meet(a, b);
        expect([...looserIn(both, a), ...looserIn(both, b)]).toEqual([]);
        expect(looserIn(meet(meet(a, c), b), both)).toEqual([]);
      }),
      RUNS,
    );
  }, 120_000);
});

describe("a rule that covers another", () => {
  it("matches whatever that one matches, request by request", () => {
    holds(
      fc.property(hostRule, hostRule, (outer, inner) => {
        if (!covers(outer, inner)) return;
        const inside = [...cornersOf(inner), ...cornersOf({ ...inner, private: false })];
        expect(inside.filter((probe) => matchesHost(inner, probe) && !matchesHost(outer, probe))).toEqual([]);
      }),
      RUNS,
    );
  });

  it("and denies whatever that one matches, of whatever kind", () => {
    holds(
      fc.property(hostRule, hostRule, (deny, inner) => {
        const escapes = cornersOf(inner).filter((probe) => !deniesHost(deny, probe));
        expect(deniesAll(deny, inner) ? escapes : []).toEqual([]);
      }),
      RUNS,
    );
  });
});

describe("the effective policy", () => {
  const layers = fc.record({
    organisation: layer("organisation"),
    user: layer("user"),
    project: layer("project"),
    flags: layer("flag"),
    isProjectTrusted: fc.boolean(),
  });

  it("is never looser than the organisation, the person or the project", () => {
    holds(
      fc.property(layers, (all) => {
        const { bounds: result } = effectivePolicy(all);
        const others = [all.organisation, wordsOfPerson(all)].map(boundsOf);
        for (const one of [...others, boundsOfProject(all.project)]) expect(looserIn(result, one)).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  }, 120_000);

  it("L-01 a project that is not trusted never makes anything looser than without it", () => {
    holds(
      fc.property(layers, (all) => {
        const untrusted = { ...all, isProjectTrusted: false };
        expect(
          looserIn(effectivePolicy(untrusted).bounds, effectivePolicy({ ...untrusted, project: undefined }).bounds),
        ).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
  }, 120_000);

  it("L-07 a host that any layer denies is denied, whatever the others say", () => {
    holds(
      fc.property(layers, fc.constantFrom("organisation", "user", "project", "flags"), (all, who) => {
        const denied = { host: "a.example", ports: "all", protocol: "tcp", ...WHOLE } as const;
        const deny = { rule: "x/network.deny", items: [{ value: denied, rule: "x/network.deny[0]" }] };
        const { bounds: result } = effectivePolicy({
          ...all,
          [who]: over(all[who], { ...NO_OPINION, hosts: { deny } }),
        });
        expect(decideHost(result.hosts, { host: "a.example", port: 443, protocol: "auto" }).type).toBe("deny");
      }),
      { numRuns: 3_000 },
    );
  }, 120_000);

  it("does not call a wildcard dropped because one name below it is denied", () => {
    const hosts = (list: string, ...names: string[]) => ({
      ...NO_OPINION,
      hosts: {
        [list]: {
          rule: `x/${list}`,
          items: names.map((host) => ({
            value: { host, ports: "all", protocol: "tcp", ...WHOLE } as const,
            rule: `x/${list}[0]`,
          })),
        },
      },
    });
    const asked = hosts("allow", "*.a.example");
    expect(effectivePolicy({ organisation: hosts("deny", "x.a.example"), user: asked }).dropped).toEqual([]);
    expect(effectivePolicy({ organisation: hosts("deny", "*.example"), user: asked }).dropped).toMatchObject([
      { asked: "*.a.example (tcp)", by: "x/deny[0]" },
    ]);
  });

  it("says what stays of a list of which only common items do", () => {
    const env = (...names: string[]) => ({
      ...NO_OPINION,
      lists: {
        "env.pass": { rule: "x/env.pass", items: names.map((value) => ({ value, rule: `x/env.pass.${value}` })) },
      },
    });
    expect(effectivePolicy({ user: env("A", "B"), project: env("B", "C") }).dropped).toMatchObject([
      { asked: "C", kept: "B" },
    ]);
    expect(effectivePolicy({ user: env("A"), project: env("C") }).dropped).toMatchObject([
      { asked: "C", kept: "nothing" },
    ]);
  });

  it("takes tracing and the runtime from organisation and person only, also where a project is trusted", () => {
    const says = (name: string, runtime: string) => ({
      ...NO_OPINION,
      choices: { "sandbox.ptrace": { value: "true", rule: `${name}/sandbox.ptrace` } },
      picks: { "sandbox.runtime": { value: runtime, rule: `${name}/sandbox.runtime` } },
    });
    const untold = effectivePolicy({ project: says("project", "x"), isProjectTrusted: true });
    expect([untold.bounds.choices["sandbox.ptrace"]?.value, untold.runtime]).toEqual(["false", undefined]);
    expect(untold.dropped.map(({ rule, by }) => [rule, by])).toEqual([
      ["project/sandbox.ptrace", "built-in/sandbox.ptrace"],
      ["project/sandbox.runtime", "built-in/sandbox.runtime"],
    ]);
    const told = effectivePolicy({ organisation: says("organisation", "runsc"), user: says("user", "runc") });
    expect([told.bounds.choices["sandbox.ptrace"]?.value, told.runtime?.value]).toEqual(["true", "runsc"]);
    expect(told.dropped.map(({ rule, by }) => [rule, by])).toEqual([
      ["user/sandbox.runtime", "organisation/sandbox.runtime"],
    ]);
  });
  it("decides of a command what the strictest of all decides, so that no exception reaches another layer's question", () => {
    holds(
      fc.property(layers, (all) => {
        const { bounds: result } = effectivePolicy(all);
        const each = [all.organisation, wordsOfPerson(all), all.project].map((one) => decisions(boundsOf(one)));
        for (const [name, value] of decisions(result)) {
          if (!name.startsWith("command ")) continue;
          expect([name, value]).toEqual([name, Math.max(...each.map((one) => one.get(name) ?? 0))]);
        }
      }),
      { numRuns: 3_000 },
    );
  }, 120_000);

  it("reports every request of a project that the person's ceiling does not grant, and no other", () => {
    holds(
      fc.property(layers, ({ user, project }) => {
        const ceiling = boundsOf(over(BUILT_IN_LAYER, user));
        const asks = looserIn(boundsOf(over(BUILT_IN_LAYER, { ...NO_OPINION, numbers: project.numbers })), ceiling);
        const { dropped } = effectivePolicy({ user, project: { ...NO_OPINION, numbers: project.numbers } });
        const wanted = asks.filter((name) => Object.hasOwn(project.numbers, name)).map((name) => `project/${name}`);
        expect(dropped.map(({ rule }) => rule).toSorted()).toEqual(wanted.toSorted());
      }),
      { numRuns: 1_000 },
    );
  });
});
