import { homedir, tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secrets } from "../../src/core/secrets.ts";
import { BUILT_IN_POLICY, type Policy } from "../../src/policy/policy.ts";
import { Arena, type ArenaOptions } from "../../src/session/attacks/arena.ts";
import type { AttackOutcome, AttackResult } from "../../src/session/attacks/attack.ts";
import { ATTACKS } from "../../src/session/attacks/catalogue.ts";
import { carryOut } from "../../src/session/attacks/run.ts";
import { isHeld } from "../../src/session/attacks/suite.ts";
import { type OpenPlain, openPlainSandbox } from "../../src/session/plain-sandbox.ts";
import { surroundingsOf } from "../../src/session/surroundings.ts";
import { cli, connect, engineGroup, Place } from "../support/engine.ts";
import { baseRef, buildTestImage, removeTestImage } from "../support/test-image.ts";
import { openWeak } from "../support/weak-sandbox.ts";

function openArena(options: Partial<ArenaOptions> = {}): Promise<Arena> {
  return Arena.open({
    policy: BUILT_IN_POLICY,
    surroundings: surroundingsOf(process.env, new Secrets(), { cwd: import.meta.dirname, userHome: homedir() }),
    signal: new AbortController().signal,
    ...options,
  });
}

const isRoot = process.getuid?.() === 0;
const USERS = [
  { who: isRoot ? "root" : "whoever runs the tests", owner: undefined },
  // Only root can work for another user.
  ...(isRoot ? [{ who: "an ordinary user", owner: { uid: 1000, gid: 1000 } }] : []),
];

describe.each(USERS)("contains, with the rights of $who,", ({ owner }) => {
  let arena: Arena;
  beforeAll(async () => {
    arena = await openArena(owner ? { owner } : {});
  });
  afterAll(async () => {
    await arena[Symbol.asyncDispose]();
  });

  it.each(ATTACKS.map((attack) => [attack.id, attack.title, attack] as const))("%s %s", async (_id, _title, attack) => {
    const { outcome, evidence } = await carryOut(attack, arena);
    expect([isHeld({ outcome }), outcome, evidence]).toEqual([true, outcome, evidence]);
  });
});

describe("a policy that allows debuggers", () => {
  it("takes nothing else from what is refused", async () => {
    const { sandbox } = BUILT_IN_POLICY;
    await using arena = await openArena({
      policy: { ...BUILT_IN_POLICY, sandbox: { ...sandbox, ptrace: true } },
    });
    expect(await verdictsIn(arena, ["P-02", "P-08", "P-09", "P-15", "P-42"])).toEqual([
      ["P-02", "contained"],
      ["P-08", "contained"],
      ["P-09", "not_applicable"],
      ["P-15", "contained"],
      ["P-42", "contained"],
    ]);
  });
});

/** Nothing but a shell and the libraries it needs. */
const ONLY_A_SHELL = (base: string): string => `FROM ${base} AS base
RUN mkdir -p /o/bin && cp /bin/dash /o/bin/sh && \\
  for f in $(ldd /bin/dash | grep -o '/[^ ]*'); do mkdir -p /o$(dirname $f) && cp -L $f /o$f; done
FROM scratch
COPY --from=base /o /
`;

describe("an image that has nothing but a shell", () => {
  it("is attacked by programs of glovebox's own", async () => {
    const engine = await connect();
    const image = await buildTestImage(engine.docker, "glovebox-test/only-sh:1", ONLY_A_SHELL(baseRef(engine)));
    try {
      await using arena = await openArena({ policy: { ...BUILT_IN_POLICY, image } });
      const ids = ATTACKS.filter(({ id, seconds, alone }) => (!alone && !seconds) || id === "P-31").map(({ id }) => id);
      const verdicts = await verdictsIn(arena, ids);
      expect(verdicts.filter(([, outcome]) => !isHeld({ outcome }))).toEqual([]);
      expect(verdicts.length).toBeGreaterThan(60);
    } finally {
      await removeTestImage(engine.docker, image);
    }
  });
});

/** The verdicts of some attacks, by id. */
async function verdictsIn(arena: Arena, ids: readonly string[]): Promise<[id: string, outcome: AttackOutcome][]> {
  const results: AttackResult[] = [];
  for (const attack of ATTACKS.filter(({ id }) => ids.includes(id))) results.push(await carryOut(attack, arena));
  return results.map(({ id, outcome }) => [id, outcome]);
}

describe("the attack suite itself", () => {
  it("sees what a container without the filter of system calls lets by", async () => {
    await using arena = await openArena({ open: openWeak(() => ({ seccomp: "unconfined" })) });
    const ids = ["FS-46", "L-05", "P-04", "P-07", "P-10", "P-16", "P-20"];
    expect(await verdictsIn(arena, ids)).toEqual(ids.map((id) => [id, id === "L-05" ? "contained" : "not_contained"]));
  });

  it("sees what mounts that are left out let by", async () => {
    const rootOnly = { open: openWeak(({ mounts }) => ({ mounts: mounts.slice(0, 1) })) };
    for (const id of ["FS-15", "FS-17", "FS-20", "L-05"]) {
      await using arena = await openArena(rootOnly);
      expect(await verdictsIn(arena, [id])).toEqual([[id, "not_contained"]]);
    }
  });

  it("sees that a folder of the host is mounted, and that more processors are given", async () => {
    await using arena = await openArena({
      open: openWeak(({ mounts, limits }) => ({
        limits: { ...limits, cpus: 2 },
        mounts: [...mounts, ...mounts.slice(0, 1).map(besideIt)],
      })),
    });
    const ids = ["FS-01", "FS-02", "FS-04", "FS-09", "P-32"];
    expect(await verdictsIn(arena, ids)).toEqual(ids.map((id) => [id, "not_contained"]));
  });

  it("sees what a gate lets by that admits every name, port and byte", async () => {
    const loose: OpenPlain = (request, surroundings) =>
      openPlainSandbox({ ...request, policy: loosened(request.policy) }, surroundings);
    await using arena = await openArena({ open: loose });
    const ids = [
      ...["N-01", "N-02", "N-03", "N-06", "N-12", "N-13", "N-20", "N-21", "N-23", "N-32", "N-33", "N-42"],
      ...["N-46", "N-47", "N-60", "N-61", "N-63", "N-64", "N-67"],
    ];
    expect(await verdictsIn(arena, ids)).toEqual(ids.map((id) => [id, "not_contained"]));
  });

  it("proves nothing by a sandbox that is dead", async () => {
    await using arena = await openArena();
    const ids = ATTACKS.filter(({ id, alone }) => !alone && /^(FS-[012]|N-|P-|C-|L-05)/.test(id)).map(({ id }) => id);
    await arena.inside.close();
    const outcomes = await verdictsIn(arena, ids);
    expect(outcomes.filter(([, outcome]) => outcome === "contained")).toEqual([]);
    expect(outcomes.length).toBeGreaterThan(40);
  });
});

/** Nothing that an attack asks for is kept from it. */
function loosened(policy: Policy): Policy {
  const all = { protocol: "tcp", private: true, inspect: false, methods: "all", paths: "all" } as const;
  const ports = [22, 25, 80, 443, 7777, 7778, 8443];
  const names = ["*.test", "example.com", "dns.google", "cloudflare-dns.com", "*.internal"];
  const items = names.map((host) => ({ value: { ...all, host, ports }, rule: "test/network.allow[0]" }));
  const hosts = [{ allow: { rule: "test/network.allow", items } }];
  return { ...policy, network: { ...policy.network, hosts } };
}

function besideIt(workspace: { source: string; target: string }) {
  const outside = (path: string): string => path.replace(/workspace$/, "outside");
  return { source: outside(workspace.source), target: outside(workspace.target), readOnly: false };
}

describe("`doctor --attack`", () => {
  it("shows an ordinary user a row for each attack, and exits with 0", async () => {
    await using place = await Place.create(tmpdir(), { forEveryone: true });
    const user = isRoot ? { user: { uid: 1000, gid: await engineGroup() } } : {};
    const env = { GLOVEBOX_HOME: `${place.folder}/h`, HOME: place.folder };
    const { code, stdout, stderr } = await cli(["doctor", "--attack"], { cwd: place.root, env, ...user });
    expect([code, stderr]).toEqual([0, expect.stringContaining("attacks")]);
    const rows = stdout.trim().split("\n");
    expect(rows.slice(1, -2).map((row) => row.split(" ")[0])).toEqual(ATTACKS.map(({ id }) => id));
    expect(rows.at(-1)).toMatch(new RegExp(`^${ATTACKS.length} of ${ATTACKS.length} attacks contained .*uid [1-9]`));
  }, 180_000);

  it("attacks the policy and the image it is given, and says what is wrong with them", async () => {
    await using place = await Place.create();
    const missing = await cli(["doctor", "--attack", "--policy", "strikt"], { cwd: place.root });
    expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("Did you mean `--policy strict`?")]);
    const image = await cli(["doctor", "--attack", "--json", "--image", "no/such:image"], { cwd: place.root });
    expect([image.code, image.stdout]).toEqual([5, ""]);
  });
});
