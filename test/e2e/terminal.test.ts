import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { stat, writeFile } from "node:fs/promises";
import { type AddressInfo, createServer, type Server } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, cliPath, Place, startCli } from "../support/engine.ts";

const QUOTE = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** The command line at a terminal of its own, as `script` (bsdutils) makes one; both outputs come as one. */
class Terminal {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  output = "";

  constructor(args: readonly string[], env: Record<string, string>) {
    const command = [process.execPath, cliPath, ...args].map(QUOTE).join(" ");
    this.child = spawn("script", ["-qfec", command, "/dev/null"], {
      env: { PATH: process.env["PATH"], HOME: process.env["HOME"], TERM: "xterm", NO_COLOR: "1", ...env },
      stdio: ["pipe", "pipe", "inherit"],
    });
    this.child.stdout?.on("data", (chunk: Buffer) => {
      this.output += chunk.toString();
    });
    this.ended = new Promise((resolve) => this.child.on("close", resolve));
  }

  /** Waits for a text that was not there before. */
  async see(text: string): Promise<void> {
    const from = this.output.length;
    while (!this.output.slice(from).includes(text) && !this.output.endsWith(text)) {
      if (this.child.exitCode !== null) throw new Error(`ended before \`${text}\`: ${this.output}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  type(text: string): void {
    this.child.stdin?.write(text);
  }
}

async function asking(
  place: Place,
  calls: string,
  options = ["--approve", "ask"],
  env: Record<string, string> = {},
): Promise<Terminal> {
  await writeFile(join(place.folder, "s.yaml"), `- calls: [ ${calls} ]\n- text: "The end."\n`);
  return new Terminal(
    ["run", ...options, "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"],
    { GLOVEBOX_HOME: join(place.folder, "h"), ...env },
  );
}

/** A proxy of the person's own network, behind which every host says what it is told. */
async function openProxy(): Promise<{ env: Record<string, string>; asked: string[]; server: Server }> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", (head: Buffer) => {
      asked.push(head.toString().split(" ", 2).join(" "));
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(socket);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { env: { HTTPS_PROXY: `http://somebody:pass-of-proxy@127.0.0.1:${port}` }, asked, server };
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

const ASKED = "or why not: ";

describe("a person at a terminal", () => {
  it("is asked before each change, and yes, no and always mean what they say", async () => {
    await using place = await Place.create();
    const terminal = await asking(
      place,
      ["a", "b", "c", "d"].map((name) => `{ write: { path: ${name}, content: x } }`).join(", "),
    );
    await terminal.see(ASKED);
    expect(terminal.output).toMatch(/Allow write\?[\s\S]*path: a/);
    terminal.type("y\r");
    await terminal.see(ASKED);
    terminal.type("not this one\r");
    await terminal.see(ASKED);
    terminal.type("a\r");
    expect([await terminal.ended, terminal.output]).toEqual([0, expect.stringContaining("The end.")]);
    expect(await Promise.all(["a", "b", "c", "d"].map((name) => exists(join(place.root, name))))).toEqual([
      true,
      false,
      true,
      true,
    ]);
    expect(terminal.output.match(/Allow write\?/g)?.length).toBe(3);
  });

  it("is asked by a rule for a command, and says in words what the model should do instead", async () => {
    await using place = await Place.create();
    const rules = "commands: [{ match: touch a, decision: ask }, { match: touch b, decision: deny }]";
    await writeFile(join(place.folder, "p.yaml"), `version: 1\n${rules}\n`);
    const calls = ["true; touch a", "touch a", "touch c", "env touch b"].map(
      (command) => `{ bash: { command: "${command}" } }`,
    );
    const terminal = await asking(place, calls.join(", "), ["--policy", join(place.folder, "p.yaml")]);
    await terminal.see(ASKED);
    expect(terminal.output).toContain('rule user/commands[0]; no "always"');
    terminal.type("y\r");
    await terminal.see(ASKED);
    expect(terminal.output).toContain('"always" covers commands that begin with `touch a`');
    terminal.type("make it a folder\r");
    expect(await terminal.ended).toBe(0);
    expect(await Promise.all(["a", "b", "c"].map((name) => exists(join(place.root, name))))).toEqual([
      true,
      false,
      true,
    ]);
    const { stdout } = await cli(["sessions", "show", "latest"], {
      cwd: place.root,
      env: { GLOVEBOX_HOME: join(place.folder, "h") },
    });
    expect(stdout).toContain("> make it a folder");
  });

  it("L-13 has not answered with what was typed before the question was there", async () => {
    await using place = await Place.create();
    const terminal = await asking(place, `{ write: { path: a, content: x } }`);
    terminal.type("y\ry\r");
    await terminal.see(ASKED);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect([terminal.child.exitCode, await exists(join(place.root, "a"))]).toEqual([null, false]);
    terminal.type("n\r");
    expect([await terminal.ended, await exists(join(place.root, "a"))]).toEqual([0, false]);
  });

  it("L-14 is shown what is hidden in the arguments", async () => {
    await using place = await Place.create();
    const terminal = await asking(place, `{ bash: { command: "echo ok \\u202e\\u001b[2J" } }`);
    await terminal.see(ASKED);
    expect(terminal.output).toContain("\\u202e\\x1b[2J");
    terminal.type("n\r");
    expect(await terminal.ended).toBe(0);
  });

  it("O-CLI-02 says no and ends the run with Ctrl-C at a question", async () => {
    await using place = await Place.create();
    const terminal = await asking(place, `{ write: { path: a, content: x } }`);
    await terminal.see(ASKED);
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(130);
    expect(await exists(join(place.root, "a"))).toBe(false);
  });
});

describe("a person at a terminal who is asked for a host", () => {
  const POLICY = `version: 1
network: { ask: [{ host: git.example.test, ports: [7], protocol: tcp }] }
`;
  const REACH = "exec 3<>/dev/tcp/git.example.test/7 && echo hello >&3 && read -t 20 -u 3 line && echo got $line";
  const ASKED_HOST = "[n]o: ";

  async function reaching(place: Place, times: number, env: Record<string, string>): Promise<Terminal> {
    await writeFile(join(place.folder, "p.yaml"), POLICY);
    const calls = Array.from({ length: times }, () => `{ bash: { command: "${REACH}" } }`);
    return asking(place, calls.join(", "), ["--policy", join(place.folder, "p.yaml"), "--approve", "auto"], env);
  }

  async function shown(place: Place, ...options: string[]): Promise<string> {
    const env = { GLOVEBOX_HOME: join(place.folder, "h") };
    return (await cli(["sessions", "show", "latest", ...options], { cwd: place.root, env })).stdout;
  }

  it("L-10 says no, once and for this session, and no flag answers in their place", async () => {
    await using place = await Place.create();
    const { env, asked, server } = await openProxy();
    const terminal = await reaching(place, 4, env);
    await terminal.see(ASKED_HOST);
    expect(terminal.output).toMatch(/Connect to git\.example\.test, port 7\?[\s\S]*for bash exec 3<>/);
    terminal.type("n\r");
    await terminal.see(ASKED_HOST);
    terminal.type("y\r");
    await terminal.see(ASKED_HOST);
    terminal.type("s\r");
    expect([await terminal.ended, terminal.output]).toEqual([0, expect.stringContaining("The end.")]);
    server.close();
    expect(asked).toEqual(Array.from({ length: 3 }, () => "CONNECT git.example.test:7"));
    expect((await shown(place)).match(/approval: (?:yes|no) to .*/g)).toEqual([
      "approval: no to git.example.test:7 (a person; rule user/network.ask[0])",
      "approval: yes to git.example.test:7 (a person; rule user/network.ask[0])",
      "approval: yes to git.example.test:7 (a person, for the session; rule user/network.ask[0])",
    ]);
    const table = await shown(place, "--egress");
    expect(table).toMatch(/git\.example\.test:7 +allowed +3 +18 B +18 B +user\/network\.ask\[0\]/);
    expect(table).toMatch(/git\.example\.test:7 +denied +1 /);
    expect(await shown(place, "--json")).not.toContain("pass-of-proxy");
  });

  it("O-CLI-02 says no and ends the run with Ctrl-C at the question", async () => {
    await using place = await Place.create();
    const { env, asked, server } = await openProxy();
    const terminal = await reaching(place, 2, env);
    await terminal.see(ASKED_HOST);
    terminal.type("\u0003");
    expect(await terminal.ended).toBe(130);
    server.close();
    expect(asked).toEqual([]);
  });
});

describe("O-CLI-01 without a terminal", () => {
  it("a prompt in the arguments does not wait for a pipe that never ends", async () => {
    await using place = await Place.create();
    await writeFile(join(place.folder, "s.yaml"), `- text: "Done."\n`);
    const run = startCli(["run", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"], {
      env: { GLOVEBOX_HOME: join(place.folder, "h") },
      keepStdinOpen: true,
    });
    expect(await run.ended).toMatchObject({ code: 0, stdout: "Done.\n" });
  });
});
