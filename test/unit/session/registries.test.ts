import { execFileSync } from "node:child_process";
import { access, mkdir, symlink } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { decideConnection } from "../../../src/policy/decide-connection.ts";
import { droppedWords } from "../../../src/policy/dropped.ts";
import { hostText } from "../../../src/policy/host-text.ts";
import { parsePolicy } from "../../../src/policy/parse.ts";
import { readProject } from "../../../src/session/policy-file.ts";
import { proposalOf } from "../../../src/session/policy-files.ts";
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
  const { layers, warnings } = await resolveRegistries([{ layer: opinions, isAsking: true }], programs);
  const items = layers[0]?.hosts.allow?.items ?? [];
  expect(items.every(({ rule, value }) => rule === "user/network.allow[0]" && value.private)).toBe(true);
  const isPlain = (words: string): boolean => words.startsWith(`user/network.allow[0]: ${name} uses `);
  expect(warnings.filter(isPlain)).toHaveLength(items.length > 0 ? 1 : 0);
  return { hosts: items.map(({ value }) => hostText(value)), warnings: warnings.filter((words) => !isPlain(words)) };
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
      `case "$4" in *'"list"'*) /bin/cat <<'END'\n${config}\nEND\n;; *'"debug"'*) ;; *) echo https://index.example.com/simple https://files.example.com;; esac`;
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
    ["npm", "home/.npm", "home/.npm"],
    ["npm", "home", "bin/npm"],
    ["npm", "home/.local/bin", "home/.local/bin"],
    ["npm", "lib/node_modules/x", "lib"],
    ["pip", "home/.local", "home/.local/bin"],
    ["pip", "home/.pyenv/versions/3/lib", "home/.pyenv"],
    ["cargo", "home/.cargo/registry", "home/.cargo"],
    ["go", "home/.config", "home/.config/go/env"],
  ])("%s is not one whose code or configuration the workspace reaches, as in %s", async (name, workspace, place) => {
    await using managers = await PackageManagers.create();
    const program = name === "pip" ? "python3" : name;
    await managers.shell(program, `echo ran >> "$NOTES"; ${npmOf({ registry: "https://evil.example.com" })}`);
    const { hosts, warnings } = await hostsOf(name, {
      ...{ home: managers.home, path: managers.bin },
      workspace: join(managers.folder, workspace),
    });
    expect([hosts, await managers.notes]).toEqual([[], ""]);
    const where = place === "bin/npm" ? join(managers.home, ".npmrc") : join(managers.folder, place);
    expect(warnings).toEqual([
      `user/network.allow[0]: names no host, so it has no effect: ${name} is not asked: it takes code or configuration from \`${where}\`, which the workspace can change; work in another folder, or name the hosts`,
    ]);
    await hostsOf(name, { home: managers.home, path: managers.bin });
    expect(await managers.notes).toMatch(/^ran\n/);
  });

  it.each([
    ["npm", ".npmrc", "/.npmrc"],
    ["pip", ".config", "/.config/pip/pip.conf"],
    ["pip", ".config/pip/pip.conf", "/.config/pip/pip.conf"],
    ["cargo", ".cargo/config.toml", "/.cargo/config.toml"],
    ["cargo", ".rustup/toolchains/dev", "/.rustup/toolchains/dev"],
    ["go", ".config/go", "/.config/go/env"],
  ])("%s is not one whose %s is a link into the workspace, or through it", async (name, link, place) => {
    await using managers = await PackageManagers.create();
    await managers.shell(name === "pip" ? "python3" : name, `echo ran >> "$NOTES"`);
    const workspace = join(managers.folder, "dotfiles");
    await mkdir(workspace);
    await mkdir(dirname(join(managers.home, link)), { recursive: true });
    // What is outside again can be replaced inside.
    await symlink(join(managers.folder, "outside"), join(workspace, "there"));
    await symlink(join(workspace, "there"), join(managers.home, link));
    const { hosts, warnings } = await hostsOf(name, { home: managers.home, path: managers.bin, workspace });
    expect([hosts, warnings, await managers.notes]).toEqual([[], [expect.stringContaining(`${place}\``)], ""]);
  });

  it("is not heard when it names a configuration file of the workspace itself", async () => {
    await using managers = await PackageManagers.create();
    const workspace = join(managers.folder, "repo");
    const globalconfig = join(workspace, "npmrc");
    await managers.shell("npm", npmOf({ registry: "https://evil.example.com", globalconfig }));
    const { hosts, warnings } = await hostsOf("npm", { home: managers.home, path: managers.bin, workspace });
    expect([hosts, warnings]).toEqual([[], [expect.stringContaining(`npm is not heard: it takes`)]]);
    expect(warnings[0]).toContain(globalconfig);
  });

  it("is not one whose interpreter is a link into the workspace", async () => {
    await using managers = await PackageManagers.create();
    const workspace = join(managers.folder, "repo");
    await managers.shell("npm", npmOf({ registry: "https://a.example.com" }));
    await managers.shell("node", "exit 0", workspace);
    await symlink(join(workspace, "node"), join(managers.bin, "node"));
    const { warnings } = await hostsOf("npm", { home: managers.home, path: managers.bin, workspace });
    expect(warnings).toEqual([expect.stringContaining(`from \`${join(managers.bin, "node")}\``)]);
  });

  it.skipIf(pythonVersion() === undefined)(
    "is pip itself, which runs none of a person's own Python code (skipped without pip)",
    async () => {
      await using managers = await PackageManagers.create();
      const marker = join(managers.folder, "ran");
      const packages = `.local/lib/python${pythonVersion()}/site-packages`;
      for (const name of ["usercustomize", "sitecustomize", "pip"]) {
        await managers.write(`${packages}/${name}.py`, `open(${JSON.stringify(marker)}, "w")\n`);
      }
      await managers.write(".config/pip/pip.conf", "[global]\nindex-url = https://pip.example.com/simple\n");
      const place = { home: managers.home, path: process.env["PATH"] ?? "" };
      expect((await hostsOf("pip", place)).hosts).toContain("pip.example.com (by pip)");
      await expect(access(marker)).rejects.toThrow("ENOENT");
      const workspace = join(managers.home, ".local");
      expect((await hostsOf("pip", { ...place, workspace })).hosts).toEqual([]);
    },
    60_000,
  );

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

function pythonVersion(): string | undefined {
  const code = "import sys, pip; print('%d.%d' % sys.version_info[:2])";
  try {
    return execFileSync("python3", ["-I", "-c", code], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  } catch {
    return undefined;
  }
}

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
      "project/network.allow[0] (registry:npm): built-in/network.allow keeps no connection without it",
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

  it("is told with the hosts it stands for", async () => {
    await using managers = await PackageManagers.create();
    await using place = await placeWith(managers);
    await place.write("home/policy.yaml", RULE);
    expect((await place.load()).facts.warnings).toEqual(["user/network.allow[0]: npm uses mirror.corp.test:80"]);
  });

  it("of a project that is not trusted, or is only looked at, runs nothing unless the person asks it, too", async () => {
    await using managers = await PackageManagers.create();
    await managers.shell("npm", `echo ran >> "$NOTES"; ${npmOf({ registry: "https://a.example.com" })}`);
    await using place = await PolicyPlace.create({ PATH: managers.bin });
    await place.write("repo/.glovebox/policy.yaml", RULE);
    await place.write("home/policy.yaml", "network: { allow: [{ registry: pip }, a.example.com] }");
    const { policy, facts } = await place.load();
    expect(decideConnection(policy, { host: "a.example.com", port: 443 }).type).toBe("deny");
    expect(facts.warnings).toContain(
      "project/network.allow[0]: npm is not asked on the word of a project that is not trusted; `{ registry: npm }` in your own policy asks it",
    );
    const { gains } = await proposalOf(place.root, place.surroundings);
    expect([gains.map(({ rule }) => rule), await managers.notes]).toEqual([["project/network.allow[0]"], ""]);
    await place.write("home/policy.yaml", RULE);
    await place.load();
    expect(await managers.notes).toBe("ran\n");
  });

  it.each(["deny", "ask"])("in `%s` that cannot be resolved is an error, since it would admit more", async (list) => {
    await using managers = await PackageManagers.create();
    await using place = await PolicyPlace.create({ PATH: managers.bin });
    const rules = `network:\n  allow: [a.test]\n  ${list}:\n    - { registry: npm }`;
    await place.write("home/policy.yaml", rules);
    await expect(place.load()).rejects.toMatchObject({
      code: "CONFIG_INVALID",
      message: expect.stringMatching(
        new RegExp(`line 5: user/network\\.${list}\\[0\\] .*npm is not installed on this machine.*name the hosts`),
      ),
    });
    await managers.shell("npm", npmOf({ registry: "https://b.test", "@x:registry": "https://10.0.0.5" }));
    await expect(place.load()).rejects.toThrow("`10.0.0.5` is an address");
    await managers.shell("npm", npmOf({ registry: "https://b.test" }));
    expect((await place.load()).facts.warnings).toEqual([`user/network.${list}[0]: npm uses b.test`]);
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
