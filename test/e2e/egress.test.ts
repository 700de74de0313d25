import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../src/core/events.ts";
import { textOf } from "../../src/core/messages.ts";
import { RunResult } from "../../src/session/result.ts";
import { GATEWAY, PRIVATE, PROXY_PORT, REGISTRY } from "../support/egress/outside-words.ts";
import { OwnNetwork, PUBLIC } from "../support/egress/own-network.ts";
import { Place } from "../support/engine.ts";

const NOTHING = { questions: [], connections: 0, visits: [], proxied: [] };
const FETCH = "curl -sS --max-time 20 --cacert ca.pem";
const isRoot = process.getuid?.() === 0;
if (!isRoot) console.warn("skipped: tests in a network of their own need root");

describe.runIf(isRoot)("the command line with its own resolver and sockets", () => {
  let network: OwnNetwork;
  let place: Place;
  beforeAll(async () => {
    network = await OwnNetwork.start(["allowed.test", "rebind.test", "refused.test", REGISTRY]);
    place = await Place.create();
    await writeFile(join(place.root, "ca.pem"), network.authority.pem);
  });
  afterAll(async () => {
    await network?.[Symbol.asyncDispose]();
    await place?.[Symbol.asyncDispose]();
  });
  beforeEach(() =>
    network.answer({ "allowed.test": [[PUBLIC]], [REGISTRY]: [[PUBLIC]], "rebind.test": [[PUBLIC], [PRIVATE]] }),
  );

  const home = () => ({ GLOVEBOX_HOME: join(place.folder, "home") });

  /** A run whose model makes these calls, one after the other. */
  async function run(commands: readonly string[], args: readonly string[] = [], env: Record<string, string> = {}) {
    const script = join(place.folder, "script.yaml");
    const items = commands.map((command) => ({ calls: [{ bash: { command } }] }));
    await writeFile(script, JSON.stringify([...items, { text: "Done." }]));
    const { code, stdout, stderr } = await network.cli(
      ["run", "--workspace", place.root, "--model", `scripted:${script}`, "--json", ...args, "go"],
      { env: { ...home(), ...env } },
    );
    const result = RunResult.parse(JSON.parse(stdout));
    const log = (await readFile(result.session_file ?? "", "utf8")).split("\n").slice(1, -1);
    const events = log.map((line) => JSON.parse(line) as LoggedEvent);
    // What the model read as the result of its calls.
    const read = events.flatMap((event) => (event.type === "tool_result" ? [textOf(event.content)] : []));
    return { code, result, stderr, read, events };
  }

  it("N-01 without a flag nothing is asked and nothing is reached", async () => {
    const { code, result, read, stderr } = await run([
      `${FETCH} https://allowed.test/x; ${FETCH} http://${PUBLIC}/; dig allowed.test; echo end`,
    ]);
    expect(await network.take()).toEqual(NOTHING);
    const { egress } = result;
    expect([code, egress.allowed, egress.hosts, egress.refused.map(({ host }) => host)]).toEqual([
      0,
      0,
      [],
      ["allowed.test"],
    ]);
    expect(read[0]).toMatch(/\[.*allowed\.test.*\]/);
    expect(stderr).toContain("--allow-host allowed.test");
  });

  it("with --allow-host an allowed host is reached, and the result says how much went", async () => {
    const { code, result, read, events } = await run(
      [`${FETCH} https://allowed.test/x`, `${FETCH} https://refused.test/y`],
      ["--allow-host", "allowed.test"],
    );
    const seen = await network.take();
    expect([code, read[0]]).toEqual([0, "hello /x\n"]);
    expect([new Set(seen.questions.map((question) => question.split(" ")[1])), seen.visits]).toEqual([
      new Set(["allowed.test"]),
      ["allowed.test/x"],
    ]);
    expect(result.egress).toMatchObject({ allowed: 1, hosts: ["allowed.test"], refused: [{ host: "refused.test" }] });
    expect([result.egress.bytes_down > 100, result.egress.bytes_up > 100]).toEqual([true, true]);
    expect(read[1]).toMatch(/refused\.test.*network\.allow/);
    const records = events.flatMap((event) =>
      event.type === "egress" ? [[event.verdict, event.host, event.address]] : [],
    );
    expect(records).toContainEqual(["allowed", "allowed.test", PUBLIC]);
    const shown = await network.cli(["sessions", "show", result.session_id ?? "", "--egress"], { env: home() });
    expect(shown.stdout).toMatch(/allowed\.test:443\s+allowed/);
    expect(shown.stdout).toMatch(/refused\.test\S*\s+denied/);
  });

  it("a host that a person is to be asked for is refused where there is nobody, with exit code 3", async () => {
    await writeFile(join(place.folder, "ask.yaml"), "version: 1\nnetwork: { ask: [allowed.test] }\n");
    const policy = ["--policy", join(place.folder, "ask.yaml")];
    const { code, result, read } = await run([`${FETCH} https://allowed.test/x`], policy);
    expect([code, (await network.take()).visits, result.egress.allowed]).toEqual([3, [], 0]);
    expect(read[0]).toMatch(/allowed\.test/);
    const explained = await network.cli(
      ["policy", "explain", "host", "allowed.test", "--workspace", place.root, ...policy],
      { env: home() },
    );
    expect([explained.code, explained.stdout]).toEqual([0, expect.stringMatching(/ask/)]);
    expect(await network.take()).toEqual(NOTHING);
  });

  it("N-47 O-NET-03 a name that moves to a private address between two connections is refused then", async () => {
    const { result, read } = await run(
      [`${FETCH} https://rebind.test/1; ${FETCH} https://rebind.test/2; ${FETCH} https://rebind.test/3`],
      ["--allow-host", "rebind.test"],
    );
    const { visits, connections } = await network.take();
    expect([visits, connections]).toEqual([["rebind.test/1"], 1]);
    expect(read[0]).toMatch(/rebind\.test.*(private|loopback)/);
    expect(result.egress.hosts).toEqual(["rebind.test"]);
  });

  it("N-51 goes out by the person's proxy, with the name, resolves nothing, and shows nothing of it inside", async () => {
    const proxy = `http://user:CANARY-proxy@${GATEWAY}:${PROXY_PORT}`;
    const { code, result, read, events } = await run(
      [
        `${FETCH} https://allowed.test/x; env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'`,
        `${FETCH} https://refused.test/y`,
      ],
      ["--allow-host", "allowed.test", "--allow-host", "refused.test"],
      { HTTPS_PROXY: proxy },
    );
    const seen = await network.take();
    expect([code, seen.visits, seen.questions]).toEqual([0, ["allowed.test/x"], []]);
    expect(seen.proxied.map((line) => line.split(" ")[0])).toEqual(["allowed.test:443", "refused.test:443"]);
    expect(seen.proxied[0]).toContain(Buffer.from("user:CANARY-proxy").toString("base64"));
    expect(read.join("\n")).not.toContain("CANARY");
    expect(read[1]).toMatch(/refused\.test.*403/);
    expect(JSON.stringify([events, result])).not.toContain("CANARY");
    const vias = events.flatMap((event) => (event.type === "egress" && event.verdict === "allowed" ? [event.via] : []));
    expect(new Set(vias)).toEqual(new Set(["proxy"]));
  });

  it("exec reaches what it is allowed, and names what it is not", async () => {
    const { code, stdout, stderr } = await network.cli(
      [
        "exec",
        "--workspace",
        place.root,
        "--allow-host",
        "allowed.test",
        "--",
        "sh",
        "-c",
        `${FETCH} https://allowed.test/x; ${FETCH} https://refused.test/`,
      ],
      { env: home() },
    );
    expect([code === 0, stdout]).toEqual([false, "hello /x\n"]);
    expect(stderr).toContain("refused.test");
    expect((await network.take()).visits).toEqual(["allowed.test/x"]);
  });

  it("O-NET-06 npm installs by `registry: npm` from the registry that this person's own settings name", async () => {
    const settings = `registry=https://${REGISTRY}/\ncafile=${join(place.root, "ca.pem")}\n`;
    await writeFile(join(place.folder, ".npmrc"), settings);
    await writeFile(join(place.folder, "npm.yaml"), "version: 1\nnetwork: { allow: [{ registry: npm }] }\n");
    const install = `mkdir /tmp/n && cp ${place.root}/npmrc /tmp/n/.npmrc && cd /tmp/n && npm install --no-audit --no-fund --loglevel=error thing >&2 && node -p 'require("thing")'`;
    await writeFile(join(place.root, "npmrc"), settings);
    const { code, stdout } = await network.cli(
      ["exec", "--workspace", place.root, "--policy", join(place.folder, "npm.yaml"), "--", "bash", "-c", install],
      { env: { ...home(), HOME: place.folder } },
    );
    expect([code, stdout]).toEqual([0, "42\n"]);
    expect(new Set((await network.take()).visits)).toEqual(
      new Set([`${REGISTRY}/thing`, `${REGISTRY}/thing/-/thing-1.0.0.tgz`]),
    );
  });

  it("a name service that never answers ends in words, and the run goes on", async () => {
    await network.answer({ "allowed.test": ["silence"] });
    const { code, read } = await run([`${FETCH} https://allowed.test/x`, "echo on"], ["--allow-host", "allowed.test"]);
    expect([code, read[1]]).toEqual([0, "on\n"]);
    expect(read[0]).toMatch(/allowed\.test/);
  });
});
