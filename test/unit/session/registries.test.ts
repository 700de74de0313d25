import { execFileSync } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { decideConnection } from "../../../src/policy/decide-connection.ts";
import { droppedWords } from "../../../src/policy/dropped.ts";
import { hostText } from "../../../src/policy/host-text.ts";
import { parsePolicy } from "../../../src/policy/parse.ts";
import { readProject } from "../../../src/session/policy-file.ts";
import { Programs } from "../../../src/session/registries/programs.ts";
import { resolveRegistries } from "../../../src/session/registries/registries.ts";
import { trust } from "../../../src/session/trust.ts";
import { PackageManagers } from "../../support/package-managers.ts";
import { PolicyPlace } from "../../support/policy-place.ts";

const NOWHERE = "/nonexistent/workspace";
const npmOf = (config: object): string => `/bin/cat <<'END'\n${JSON.stringify(config)}\nEND`;

type Place = { home: string; path?: string; workspace?: string };

/** The hosts of a user's `{ registry: NAME }` as people read them, and what is said of it. */
async function hostsOf(name: string, { home, path, workspace = NOWHERE }: Place) {
  const text = `version: 1\nnetwork: { allow: [{ registry: ${name} }] }`;
  const { opinions } = await parsePolicy(text, { file: "p.yaml", layer: "user" });
  const programs = await Programs.outside(workspace, { PATH: path, SECRET: "x" }, home);
  const { layers, warnings } = await resolveRegistries([undefined, opinions], programs);
  const items = layers[1]?.hosts.allow?.items ?? [];
  expect(items.every(({ rule, value }) => rule === "user/network.allow[0]" && value.private)).toBe(true);
  return { hosts: items.map(({ value }) => hostText(value)), warnings };
}

const hostsBy = (managers: PackageManagers, name: string) => hostsOf(name, { home: managers.home, path: managers.bin });

describe("the hosts of a package manager", () => {
  it("of npm are its registry and those of scopes, host and port alone", async () => {
    await using managers = await PackageManagers.create();
    const config = {
      registry: "https://user:secret@mirror.example.com/npm/?x=y",
      "@corp:registry": "http://npm.corp.example.com:4873/",
      "@other:registry": "https://mirror.example.com/other/",
      "omit-lockfile-registry-resolved": "https://no.example.com",
      "//mirror.example.com/:_authToken": "https://token.example.com",
    };
    await managers.shell("npm", npmOf(config));
    expect(await hostsBy(managers, "npm")).toEqual({
      hosts: ["mirror.example.com (by npm)", "npm.corp.example.com:4873 (by npm)"],
      warnings: [],
    });
  });

  it("of pip are the indexes it names, else its own with the host of its files", async () => {
    await using managers = await PackageManagers.create();
    const python = (config: string) =>
      `case "$1" in -m) /bin/cat <<'END'\n${config}\nEND\n;; *) echo https://index.example.com/simple https://files.example.com;; esac`;
    await managers.shell("python3", python("global.extra-index-url='https://more.example.com/simple file:///opt/x'"));
    expect((await hostsBy(managers, "pip")).hosts).toEqual([
      "index.example.com (by pip)",
      "files.example.com (by pip)",
      "more.example.com (by pip)",
    ]);
    await managers.shell(
      "python3",
      python("global.index-url='http://pip.corp.example.com/simple'\nglobal.cert='/etc/https://no.example.com'"),
    );
    expect((await hostsBy(managers, "pip")).hosts).toEqual(["pip.corp.example.com:80 (by pip)"]);
  });

  it("of go are its proxies and its database of checksums", async () => {
    await using managers = await PackageManagers.create();
    await managers.shell(
      "go",
      "echo 'https://proxy.example.com,https://second.example.com|direct'; echo sum.example.com+key",
    );
    expect((await hostsBy(managers, "go")).hosts).toEqual([
      "proxy.example.com (by go)",
      "second.example.com (by go)",
      "sum.example.com (by go)",
    ]);
    await managers.shell("go", "echo off; echo off");
    expect(await hostsBy(managers, "go")).toEqual({
      hosts: [],
      warnings: ["user/network.allow[0]: names no host, so it has no effect: go is configured for none"],
    });
  });

  it("of apt are the sites of its sources, plain HTTP on port 80", async () => {
    await using managers = await PackageManagers.create();
    const sites = [
      "http://deb.example.com/debian",
      "http://deb.example.com/security",
      "https://x.example.com",
      "cdrom:x",
    ];
    await managers.shell("apt-get", `printf '%s\\n' ${sites.join(" ")}`);
    expect((await hostsBy(managers, "apt")).hosts).toEqual(["deb.example.com:80 (by apt)", "x.example.com (by apt)"]);
  });

  it("of cargo are those it tries to reach, which a proxy of ours notes, and where their packages are", async () => {
    await using managers = await PackageManagers.create();
    await managers.node(
      "cargo",
      `const { connect } = require("node:net");
      const { port, hostname, username, password } = new URL(process.env.CARGO_HTTP_PROXY);
      const key = "Proxy-Authorization: Basic " + Buffer.from(username + ":" + password).toString("base64") + "\\r\\n";
      const ask = (host, header, then) => connect(port, hostname)
        .on("connect", function () { this.write("CONNECT " + host + ":443 HTTP/1.1\\r\\nHost: x\\r\\n" + header + "\\r\\n"); })
        .on("data", (text) => { if (!String(text).startsWith("HTTP/1.1 403")) process.exit(0); })
        .on("close", then);
      ask("other-program.example.com", "", () => ask("index.example.com", key, () => process.exit(101)));`,
    );
    const once = await hostsBy(managers, "cargo");
    expect(once.hosts).toEqual(["index.example.com (by cargo)"]);
    expect(once.warnings).toEqual([expect.stringContaining("does not know yet where its index keeps packages")]);
    await managers.write(
      ".cargo/registry/index/index.example.com-0123456789abcdef/config.json",
      '{ "dl": "https://crates.example.com/{crate}", "api": "https://example.com" }',
    );
    expect(await hostsBy(managers, "cargo")).toEqual({
      hosts: ["index.example.com (by cargo)", "crates.example.com (by cargo)"],
      warnings: [],
    });
  });

  it.each([
    ["an address", "http://10.0.0.5:4873/", "`10.0.0.5` is an address"],
    ["O-NET-02 an address in one number", "http://167772165/", "`10.0.0.5` is an address"],
    ["this machine", "http://localhost:4873/", "`localhost` is the container itself"],
    ["every host", "https://*.example.com/", "`*.example.com` is no host name"],
    ["another kind of place", "file:///srv/npm", "npm is configured for none"],
  ])("that is %s admits nothing, and it is said", async (_, registry, says) => {
    await using managers = await PackageManagers.create();
    await managers.shell("npm", npmOf({ registry }));
    expect(await hostsBy(managers, "npm")).toEqual({
      hosts: [],
      warnings: [expect.stringMatching(/^user\/network\.allow\[0\]: names no host, so it has no effect: /)],
    });
    expect((await hostsBy(managers, "npm")).warnings[0]).toContain(says);
  });
});

describe("a package manager that is asked", () => {
  it("runs in `/` with PATH, HOME and no word of the person's environment", async () => {
    await using managers = await PackageManagers.create();
    await managers.shell("npm", `{ pwd; /usr/bin/env; } > "$NOTES"; ${npmOf({ registry: "https://a.example.com" })}`);
    const path = [managers.bin, "relative", "", "/nonexistent"].join(delimiter);
    await hostsOf("npm", { home: managers.home, path });
    const [folder, ...env] = (await managers.notes).trimEnd().split("\n");
    // What a shell sets by itself says nothing.
    const given = env.filter((line) => !/^(PWD|OLDPWD|SHLVL|_)=/.test(line));
    expect([folder, given.toSorted()]).toEqual(["/", [`HOME=${managers.home}`, "LC_ALL=C", `PATH=${managers.bin}`]]);
  });

  it("is never one that lies in the workspace, named by PATH or by a link", async () => {
    await using managers = await PackageManagers.create();
    const workspace = join(managers.folder, "repo");
    const evil = join(workspace, "node_modules/.bin");
    await managers.shell("npm", `echo evil >> "$NOTES"; ${npmOf({ registry: "https://evil.example.com" })}`, evil);
    const linked = join(managers.folder, "linked");
    await mkdir(linked);
    await symlink(join(evil, "npm"), join(linked, "npm"));
    const way = join(managers.folder, "way");
    await symlink(evil, way);
    const path = [evil, way, linked, managers.bin].join(delimiter);
    const place = { home: managers.home, path, workspace };
    expect(await hostsOf("npm", place)).toEqual({
      hosts: [],
      warnings: [expect.stringContaining("npm is not installed on this machine")],
    });
    await managers.shell("npm", npmOf({ registry: "https://good.example.com" }));
    expect((await hostsOf("npm", place)).hosts).toEqual(["good.example.com (by npm)"]);
    expect(await managers.notes).toBe("");
  });

  it.each([
    ["fails", "echo 'no \\033[2J such thing' >&2; exit 3", "npm fails: no "],
    ["is no program", "\u007fELF", "npm "],
    ["says nothing it should", "echo hello", "npm does not print its configuration as JSON"],
    ["talks without end", "exec yes", "npm answers with more than 1 MiB"],
    ["never answers, nor what it has started", "sleep 1000 & sleep 1000", "npm has not answered within 10 s"],
  ])(
    "and %s admits nothing, and it is said",
    async (_, commands, says) => {
      await using managers = await PackageManagers.create();
      await managers.shell("npm", commands);
      const path = [managers.bin, "/usr/bin", "/bin"].join(delimiter);
      const { hosts, warnings } = await hostsOf("npm", { home: managers.home, path });
      expect([hosts, warnings]).toEqual([[], [expect.stringContaining(says)]]);
    },
    60_000,
  );

  it("is npm itself, with the configuration of the home folder", async () => {
    await using managers = await PackageManagers.create();
    await managers.write(
      ".npmrc",
      "registry=https://mirror.example.com/npm/\n@corp:registry=https://corp.example.com\n",
    );
    const { hosts } = await hostsOf("npm", { home: managers.home, path: process.env["PATH"] ?? "" });
    expect(hosts.toSorted()).toEqual(["corp.example.com (by npm)", "mirror.example.com (by npm)"]);
  }, 30_000);

  it.skipIf(cargoFolder() === undefined)(
    "is cargo itself, which follows a replaced source (skipped without cargo)",
    async () => {
      await using managers = await PackageManagers.create();
      const config = (url: string) =>
        `[source.crates-io]\nreplace-with = "mirror"\n[source.mirror]\nregistry = "${url}"\n`;
      const path = [cargoFolder() ?? "", "/usr/bin", "/bin"].join(delimiter);
      await managers.write(".cargo/config.toml", config("sparse+https://cargo.example.com/index/"));
      expect((await hostsOf("cargo", { home: managers.home, path })).hosts).toEqual(["cargo.example.com (by cargo)"]);
      await managers.write(".cargo/config.toml", config("sparse+http://cargo.example.com:8080/index/"));
      expect((await hostsOf("cargo", { home: managers.home, path })).hosts).toEqual([
        "cargo.example.com:8080 (by cargo)",
      ]);
    },
    60_000,
  );
});

/** Of the toolchain itself: what rustup puts before it looks for one in the home folder. */
function cargoFolder(): string | undefined {
  for (const [program, ...args] of [
    ["rustup", "which", "cargo"],
    ["sh", "-c", "command -v cargo"],
  ] as const) {
    try {
      return dirname(execFileSync(program, args, { encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim());
    } catch {
      // The next one may know.
    }
  }
  return undefined;
}

describe("a rule for a package manager", () => {
  const RULE = "network: { allow: [{ registry: npm }] }";

  async function placeWith(managers: PackageManagers): Promise<PolicyPlace> {
    await managers.shell("npm", npmOf({ registry: "http://mirror.corp.test/" }));
    return PolicyPlace.create({ PATH: managers.bin });
  }

  const at = async (place: PolicyPlace, isPrivate = false) => {
    const { policy } = await place.load();
    const { type, rule } = decideConnection(policy, { host: "mirror.corp.test", port: 80, isPrivate });
    return `${type} ${rule}`;
  };

  it("is one for its hosts, also at private addresses, and no other", async () => {
    await using managers = await PackageManagers.create();
    await using place = await placeWith(managers);
    await place.write("home/policy.yaml", RULE);
    expect([await at(place), await at(place, true)]).toEqual([
      "allow user/network.allow[0]",
      "allow user/network.allow[0]",
    ]);
    const { policy } = await place.load();
    expect(decideConnection(policy, { host: "mirror.corp.test", port: 443 }).type).toBe("deny");
    expect(decideConnection(policy, { host: "registry:npm", port: 443 }).type).toBe("deny");
  });

  it("L-01 of a project gives it nothing that the person does not", async () => {
    await using managers = await PackageManagers.create();
    await using place = await placeWith(managers);
    await place.write("repo/.glovebox/policy.yaml", RULE);
    expect(await at(place)).toBe("deny built-in/network.allow");
    expect((await place.load()).facts.dropped.map(droppedWords)).toEqual([
      "project/network.allow[0] (mirror.corp.test:80 (by npm)): built-in/network.allow keeps no connection without it",
    ]);
    await place.write("home/policy.yaml", RULE);
    expect([await at(place, true), (await place.load()).facts.dropped]).toEqual(["allow project/network.allow[0]", []]);
  });

  it("of a project that is trusted admits its hosts at public addresses only", async () => {
    await using managers = await PackageManagers.create();
    await using place = await placeWith(managers);
    await place.write("repo/.glovebox/policy.yaml", RULE);
    const shown = await readProject(place.root);
    if (!shown) throw new Error("There is a file");
    await trust(place.surroundings.home, shown);
    expect([await at(place), await at(place, true)]).toEqual([
      "allow project/network.allow[0]",
      "deny project/network.allow",
    ]);
  });

  it("denies its hosts on every port", async () => {
    await using managers = await PackageManagers.create();
    await using place = await placeWith(managers);
    await place.write(
      "home/policy.yaml",
      "network: { allow: [{ host: mirror.corp.test, ports: [80, 81] }], deny: [{ registry: npm }] }",
    );
    const { policy } = await place.load();
    expect(decideConnection(policy, { host: "mirror.corp.test", port: 81 })).toMatchObject({
      type: "deny",
      rule: "user/network.deny[0]",
    });
  });

  it("that names none has no effect and stops nothing", async () => {
    await using place = await PolicyPlace.create({ PATH: "/nonexistent" });
    await place.write("home/policy.yaml", "network: { allow: [{ registry: npm }, a.test] }");
    const { policy, facts } = await place.load();
    expect(decideConnection(policy, { host: "a.test", port: 443 })).toMatchObject({ rule: "user/network.allow[1]" });
    expect(facts.warnings).toEqual([
      "user/network.allow[0]: names no host, so it has no effect: npm is not installed on this machine",
    ]);
  });
});
