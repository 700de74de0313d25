import { describe, expect, it } from "vitest";
import { systemPrompt } from "../../../src/agent/prompt.ts";
import { admittedHosts } from "../../../src/policy/admitted-hosts.ts";
import type { HostOpinion } from "../../../src/policy/bounds.ts";
import type { HostRule } from "../../../src/policy/hosts.ts";
import type { RuledList } from "../../../src/policy/layer.ts";
import { BUILT_IN_POLICY, type Policy } from "../../../src/policy/policy.ts";
import { reachOf } from "../../../src/session/reach.ts";

function list(name: string, ...hosts: (string | Partial<HostRule>)[]): RuledList<HostRule> {
  const plain: HostRule = {
    ...{ host: "", ports: [443], protocol: "auto", private: false },
    ...{ inspect: false, methods: "all", paths: "all" },
  };
  const items = hosts.map((host, index) => ({
    value: { ...plain, ...(typeof host === "string" ? { host } : host) },
    rule: `${name}[${index}]`,
  }));
  return { rule: name, items };
}

function policyOf(hosts: HostOpinion[], change: Partial<Policy> = {}): Policy {
  return { ...BUILT_IN_POLICY, ...change, network: { ...BUILT_IN_POLICY.network, hosts } };
}

const USER: HostOpinion = {
  allow: list("user/network.allow", "packages.example.com", "*.files.example.com", {
    host: "db.test",
    ports: [5432, 5433],
    protocol: "tcp",
  }),
  ask: list("user/network.ask", "git.example.com"),
  deny: list("user/network.deny", { host: "db.test", ports: [5433] }),
};

describe("the hosts that a policy admits", () => {
  it("are none where nobody says anything", () => {
    expect(admittedHosts(BUILT_IN_POLICY)).toEqual([]);
  });

  it("are those of its rules, at the ports that no rule denies", () => {
    expect(admittedHosts(policyOf([USER]))).toEqual([
      { host: "packages.example.com", ports: [443], asked: false },
      { host: "*.files.example.com", ports: [443], asked: false },
      { host: "db.test", ports: [5432], asked: false },
      { host: "git.example.com", ports: [443], asked: true },
    ]);
  });

  it("are no more than the strictest layer admits", () => {
    const project = {
      allow: list("project/network.allow", "a.files.example.com", "packages.example.com", "other.test"),
    };
    expect(admittedHosts(policyOf([USER, project])).map(({ host }) => host)).toEqual([
      "packages.example.com",
      "a.files.example.com",
    ]);
  });

  it("are none where the network is off, and each is asked for where every one is", () => {
    const approval = (net: "ask" | "deny") => ({ approval: { ...BUILT_IN_POLICY.approval, net } });
    expect(admittedHosts(policyOf([USER], approval("deny")))).toEqual([]);
    expect(admittedHosts(policyOf([USER], approval("ask"))).every(({ asked }) => asked)).toBe(true);
  });
});

describe("what the model is told of the network", () => {
  const told = (policy: Policy): string =>
    systemPrompt({
      ...{ root: "/w", home: "/h", image: "i", readonly: [], writable: ["."], date: "2026-01-31" },
      network: reachOf(policy),
    });

  it("is that there is none, or what can be reached and how", () => {
    expect(told(BUILT_IN_POLICY)).toContain("There is no network: nothing can be downloaded.");
    expect(told(policyOf([USER]))).toContain(
      "Network: only packages.example.com, *.files.example.com, db.test:5432; if the user says yes: git.example.com. Connect by these names, without a proxy; all else is refused at once.",
    );
    const { network } = policyOf([]);
    const forward = [{ value: "5433 to 127.0.0.1:5432", rule: "user/network.forward[0]" }];
    expect(told({ ...BUILT_IN_POLICY, network: { ...network, forward } })).toContain(
      "Network: only services of the user's machine: 127.0.0.1:5433.",
    );
  });

  it("names ten hosts, and counts the others", () => {
    const many = Array.from({ length: 14 }, (_, index) => `h${index}.example.com`);
    expect(told(policyOf([{ allow: list("user/network.allow", ...many) }]))).toContain("h9.example.com, 4 more.");
  });
});
