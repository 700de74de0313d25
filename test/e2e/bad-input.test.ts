import { chmod, mkdir, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ChatServer, D, html, json, sse } from "../support/chat-server.ts";
import { type CliOptions, cli, connect, Place } from "../support/engine.ts";

const { docker } = await connect();

type Case = {
  name: string;
  args: (place: Place) => string[];
  options?: (place: Place) => CliOptions;
  code: number;
  says: RegExp;
};

const DONE = `- text: "Done."\n`;

async function prepared(): Promise<Place> {
  const place = await Place.create();
  await writeFile(join(place.folder, "done.yaml"), DONE);
  await writeFile(join(place.folder, "typo.yaml"), `- text: "a"\n- txet: "b"\n`);
  await writeFile(join(place.folder, "file"), "x");
  await writeFile(join(place.folder, "suffix.yaml"), "version: 1\nnetwork: { allow: ['*.co.uk'] }\n");
  const unseen = "version: 1\nnetwork: { allow: [{ host: a.example.com, methods: [GET] }] }\n";
  await writeFile(join(place.folder, "unseen.yaml"), unseen);
  return place;
}

const scripted = (place: Place, file = "done.yaml"): string[] => ["--model", `scripted:${place.folder}/${file}`];
const inRepo = (place: Place): string[] => ["--workspace", place.root];

/** Each: one sentence that says what and what to do, the right exit code, and nothing left behind. */
const CASES: Case[] = [
  {
    name: "a policy with every site below a public suffix",
    args: (p) => ["policy", "check", `${p.folder}/suffix.yaml`],
    code: 2,
    says: /`\*\.co\.uk` is every site below a public suffix/,
  },
  {
    name: "a policy with a limit of requests that nobody could see",
    args: (p) => ["policy", "check", `${p.folder}/unseen.yaml`],
    code: 2,
    says: /`network\.allow\[0\]\.methods` .*add `inspect: true`/,
  },
  {
    name: "N-34 every host as a host to allow",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "--allow-host", "*", "go"],
    code: 2,
    says: /`\*` is every host.*--allow-host packages\.example\.com/s,
  },
  {
    name: "a URL as a host to allow",
    args: (p) => ["exec", ...inRepo(p), "--allow-host", "https://a.example.com/x", "--", "true"],
    code: 2,
    says: /is a URL.*HOST:PORT/s,
  },
  {
    name: "O-NET-02 an address as a host to allow",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "--allow-host", "0x7f.1:80", "go"],
    code: 2,
    says: /is an address/,
  },
  {
    name: "a host to allow with a port that is none",
    args: (p) => ["policy", "show", ...inRepo(p), "--allow-host", "a.example.com:99999"],
    code: 2,
    says: /has a port that is none/,
  },
  {
    name: "a host that is to be explained and is none",
    args: (p) => ["policy", "explain", "host", "a..example.com", ...inRepo(p)],
    code: 2,
    says: /is no host name/,
  },
  { name: "no command", args: () => [], code: 2, says: /Usage: glovebox/ },
  { name: "an unknown command", args: () => ["rnu", "x"], code: 2, says: /`rnu`.*`?run/s },
  {
    name: "an unknown option",
    args: (p) => ["run", ...inRepo(p), "--modle", "x", "go"],
    code: 2,
    says: /`--modle`.*--model/s,
  },
  { name: "an option without its value", args: () => ["run", "go", "--model"], code: 2, says: /--model/ },
  {
    name: "a limit that is no number",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "--max-turns", "abc", "go"],
    code: 2,
    says: /--max-turns.*`abc`/,
  },
  {
    name: "a limit of nothing",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "--max-turns", "0", "go"],
    code: 2,
    says: /--max-turns.*`0`/,
  },
  {
    name: "an unknown approver",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "--approve", "maybe", "go"],
    code: 2,
    says: /`maybe`.*ask/s,
  },
  {
    name: "an empty prompt",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), " "],
    code: 2,
    says: /prompt is empty/,
  },
  {
    name: "O-CLI-01 no prompt and nothing on stdin",
    args: (p) => ["run", ...inRepo(p), ...scripted(p)],
    code: 2,
    says: /prompt/,
  },
  {
    name: "an empty prompt on stdin",
    args: (p) => ["run", ...inRepo(p), ...scripted(p)],
    options: () => ({ input: "\n" }),
    code: 2,
    says: /prompt is empty/,
  },
  {
    name: "a workspace that does not exist",
    args: (p) => ["run", "--workspace", join(p.folder, "nope"), ...scripted(p), "go"],
    code: 2,
    says: /nope` does not exist/,
  },
  {
    name: "a workspace that is a file",
    args: (p) => ["run", "--workspace", join(p.folder, "file"), ...scripted(p), "go"],
    code: 2,
    says: /file` is not a folder/,
  },
  {
    name: "O-POL-10 the whole file system as workspace",
    args: (p) => ["run", "--workspace", "/", ...scripted(p), "go"],
    code: 2,
    says: /`\/` is the whole file system/,
  },
  {
    name: "O-POL-10 the home folder as workspace",
    args: (p) => ["run", "--workspace", homedir(), ...scripted(p), "go"],
    code: 2,
    says: /is your home folder/,
  },
  {
    name: "O-POL-10 /etc as workspace",
    args: (p) => ["run", "--workspace", "/etc", ...scripted(p), "go"],
    code: 2,
    says: /holds `\/etc`/,
  },
  {
    name: "a script that does not exist",
    args: (p) => ["run", ...inRepo(p), ...scripted(p, "nope.yaml"), "go"],
    code: 2,
    says: /nope\.yaml/,
  },
  {
    name: "a script with a typo",
    args: (p) => ["run", ...inRepo(p), ...scripted(p, "typo.yaml"), "go"],
    code: 2,
    says: /line 2.*`txet`.*`text`/s,
  },
  { name: "no key", args: (p) => ["run", ...inRepo(p), "go"], code: 6, says: /OPENAI_API_KEY.*scripted:FILE/s },
  {
    name: "no engine where DOCKER_HOST says",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "go"],
    options: () => ({ env: { DOCKER_HOST: "unix:///nowhere.sock" } }),
    code: 5,
    says: /DOCKER_HOST.*nowhere\.sock/s,
  },
  {
    name: "a context that does not exist",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "go"],
    options: () => ({ env: { DOCKER_HOST: undefined, DOCKER_CONTEXT: "nope" } }),
    code: 5,
    says: /nope/,
  },
  {
    name: "an image that does not exist",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "--image", "glovebox-test/nope:1", "go"],
    code: 5,
    says: /glovebox-test\/nope:1/,
  },
  {
    name: "an image name that is none",
    args: (p) => ["run", ...inRepo(p), ...scripted(p), "--image", "Bad Image!!", "go"],
    code: 2,
    says: /`Bad Image!!` is not the name of an image/,
  },
  {
    name: "O-SESS-07 a session id that is a path",
    args: () => ["sessions", "show", "../../etc/passwd"],
    code: 2,
    says: /\.\.\/\.\.\/etc\/passwd/,
  },
  { name: "O-SESS-07 an empty session id", args: () => ["sessions", "show", ""], code: 2, says: /session/i },
  {
    name: "a session that does not exist",
    args: () => ["sessions", "show", "01a22d46-0043-7363-a8d5-4b4f3cd38463"],
    code: 2,
    says: /01a22d46/,
  },
];

describe("bad input", () => {
  it.each(CASES)("$name ends with exit code $code and a sentence", async ({ args, options, code, says }) => {
    await using place = await prepared();
    const home = join(place.folder, "glovebox-home");
    const given = options?.(place) ?? {};
    const {
      stdout,
      stderr,
      code: ended,
    } = await cli(args(place), { ...given, env: { GLOVEBOX_HOME: home, ...given.env } });
    expect([ended, stderr]).toEqual([code, expect.stringMatching(says)]);
    expect(stderr).not.toMatch(/^\s+at |node:internal|\[object /m);
    expect(stdout).toBe("");
  });

  it.each(CASES.filter(({ args }) => args.length > 0 && args.toString().includes('"run"')))(
    "$name gives one JSON object with --json",
    async ({ args, options, code }) => {
      await using place = await prepared();
      const given = options?.(place) ?? {};
      const words = args(place);
      const { stdout, code: ended } = await cli([...words.slice(0, 1), "--json", ...words.slice(1)], {
        ...given,
        env: { GLOVEBOX_HOME: join(place.folder, "h"), ...given.env },
      });
      expect(ended).toBe(code);
      expect(JSON.parse(stdout)).toMatchObject({
        version: 1,
        outcome: "failed",
        exit_code: code,
        error: { message: expect.any(String) },
      });
    },
  );
});

describe("a model server that misbehaves", () => {
  it.each([
    ["answers HTML", html(200), 1, /HTML/],
    ["does not know the key", json(401, { error: { message: "Incorrect API key provided" } }), 6, /Incorrect API key/],
    ["does not know the model", json(404, { error: { message: "The model does not exist" } }), 1, /does not exist/],
    ["stops in the middle", sse([D({ content: "The answer is" })]), 1, /broke off after 13 characters/],
    ["breaks the connection", sse([D({ content: "The" })], { end: "cut" }), 1, /connection|broke|reset|closed/i],
  ])("that %s fails the run in one sentence, with nothing left", async (_, reply, code, says) => {
    await using place = await prepared();
    await using server = await ChatServer.start(reply);
    const {
      stdout,
      stderr,
      code: ended,
    } = await cli(["run", "--json", ...inRepo(place), "--model", "m", "--model-retries", "0", "go"], {
      env: { GLOVEBOX_HOME: join(place.folder, "h"), OPENAI_API_KEY: "sk-CANARY-e2e-1", OPENAI_BASE_URL: server.url },
    });
    const result = JSON.parse(stdout);
    expect([ended, result.exit_code, result.error.message]).toEqual([code, code, expect.stringMatching(says)]);
    expect(stdout + stderr).not.toContain("CANARY");
    const left = await docker.listContainers({
      all: true,
      filters: { label: [`glovebox.session=${result.session_id}`] },
    });
    expect(left).toEqual([]);
  });
});

describe("a user without rights", () => {
  it.runIf(process.getuid?.() === 0)("of the engine's socket is told so", async () => {
    await using place = await prepared();
    await mkdir(join(place.folder, "h"));
    for (const path of [place.folder, place.root, join(place.folder, "h")]) await chmod(path, 0o777);
    const { execFile } = await import("node:child_process");
    const { promisify } = await import("node:util");
    const { cliPath } = await import("../support/engine.ts");
    const failed = await promisify(execFile)(
      "setpriv",
      [
        "--reuid",
        "65534",
        "--regid",
        "65534",
        "--clear-groups",
        process.execPath,
        cliPath,
        "run",
        ...inRepo(place),
        ...scripted(place),
        "go",
      ],
      { env: { PATH: process.env["PATH"], HOME: "/nonexistent", GLOVEBOX_HOME: join(place.folder, "h") } },
    ).catch((error: { code: number; stderr: string }) => error);
    expect([Reflect.get(failed, "code"), failed.stderr]).toEqual([5, expect.stringMatching(/docker\.sock.*uid 65534/)]);
  });
});
