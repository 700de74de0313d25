import { execFile } from "node:child_process";
import { mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { RunResult } from "../../src/session/result.ts";
import { ChatServer, calls, D, END, F, says, sse, tc } from "../support/chat-server.ts";
import { cli, connect, Place, startCli } from "../support/engine.ts";

const { docker } = await connect();

/** A small project with an honest bug and a test that shows it. */
async function brokenProject(place: Place): Promise<void> {
  await mkdir(join(place.root, "src"));
  await writeFile(
    join(place.root, "package.json"),
    '{"name":"sum","type":"module","scripts":{"test":"node --test"}}\n',
  );
  await writeFile(join(place.root, "src/sum.js"), "export const sum = (a, b) => a - b;\n");
  await writeFile(
    join(place.root, "sum.test.js"),
    `import test from "node:test";\nimport assert from "node:assert";\nimport { sum } from "./src/sum.js";\ntest("sum", () => assert.equal(sum(2, 3), 5));\n`,
  );
}

async function containersOf(session: string): Promise<number> {
  return (await docker.listContainers({ all: true, filters: { label: [`glovebox.session=${session}`] } })).length;
}

describe("a run with a chat server", () => {
  it("repairs a repository, and every request answers every call", async () => {
    await using place = await Place.create();
    await brokenProject(place);
    await using server = await ChatServer.start(
      calls("bash", { command: "npm test" }, "call_a"),
      sse([
        D({ role: "assistant", content: "The operator is wrong." }),
        D(tc(0, "call_b", "read", JSON.stringify({ path: "src/sum.js" }))),
        D(
          tc(
            1,
            "call_c",
            "edit",
            JSON.stringify({ path: "src/sum.js", edits: [{ oldText: "a - b", newText: "a + b" }] }),
          ),
        ),
        F("tool_calls"),
        END,
      ]),
      calls("bash", { command: "npm test" }, "call_a"),
      says("Fixed: sum subtracted."),
    );
    const { code, stdout, stderr } = await cli(
      ["run", "--workspace", place.root, "--model", "m", "make", "the", "tests", "pass"],
      {
        env: { GLOVEBOX_HOME: join(place.folder, "h"), OPENAI_API_KEY: "sk-CANARY-e2e-2", OPENAI_BASE_URL: server.url },
      },
    );
    expect([code, stdout]).toEqual([0, "The operator is wrong.\nFixed: sum subtracted.\n"]);
    expect(await readFile(join(place.root, "src/sum.js"), "utf8")).toBe("export const sum = (a, b) => a + b;\n");
    expect(stderr).toMatch(/bash.*npm test.*exit 1/);
    const bodies = server.requests.map(({ body }) => body);
    expect(bodies.map(({ messages }) => messages.length)).toEqual([2, 4, 7, 9]);
    for (const { messages } of bodies) {
      const asked = messages.flatMap(
        (message: { tool_calls?: { id: string }[] }) => message.tool_calls?.map(({ id }) => id) ?? [],
      );
      const answered = messages.flatMap((message: { role: string; tool_call_id: string }) =>
        message.role === "tool" ? [message.tool_call_id] : [],
      );
      expect(answered).toEqual(asked);
    }
    expect(bodies[0].messages[1].content).toBe("make the tests pass");
    expect(server.requests[0]?.headers.authorization).toBe("Bearer sk-CANARY-e2e-2");
  });
});

describe("the model key", () => {
  it("O-SEC-01, C-01 is in the request and nowhere else", async () => {
    await using place = await Place.create();
    const secrets = {
      OPENAI_API_KEY: "sk-CANARY-0123456789",
      GH_TOKEN: "ghp-CANARY-0123456789",
      MY_PASSWORD: "pw-CANARY-0123456789",
    };
    await using server = await ChatServer.start(
      calls("bash", {
        command: "env; cat /proc/*/environ 2>/dev/null | tr '\\0' '\\n'; cat /proc/*/cmdline | tr '\\0' ' '; sleep 1",
      }),
      says("The key is sk-CANARY-0123456789."),
    );
    const run = startCli(["run", "--events", "--workspace", place.root, "--model", "m", "go"], {
      env: { GLOVEBOX_HOME: join(place.folder, "h"), OPENAI_BASE_URL: server.url, ...secrets },
    });
    const inspected = await inspectWhileRunning(run);
    const processes = await environmentsBelow(run.child.pid ?? 0);
    const { code, stdout, stderr } = await run.ended;
    expect(code).toBe(0);
    const files = await filesBelow(join(place.folder, "h"));
    const everything = {
      inspected,
      processes,
      stdout,
      stderr,
      files,
      model: JSON.stringify(server.requests.map(({ body }) => body)),
    };
    expect(
      Object.entries(everything)
        .filter(([, text]) => text.includes("CANARY"))
        .map(([name]) => name),
    ).toEqual([]);
    // The positive control: what was searched is what it should be.
    expect(inspected).toContain('"NetworkMode":"none"');
    expect(files).toContain('"type":"run_end"');
    expect(stdout).toContain("The key is ***.");
    expect(server.requests[0]?.headers.authorization).toContain("CANARY");
  });
});

describe("a model server that sends the key back", () => {
  it("O-SEC-01, C-16 in a tool call gets it masked before anything runs", async () => {
    await using place = await Place.create();
    const key = "sk-CANARY-0123456789";
    await using server = await ChatServer.start(
      sse([
        D(tc(0, "c1", "bash", JSON.stringify({ command: `echo ${key} > leak.txt; touch f-${key}` }))),
        D(tc(1, "c2", "write", JSON.stringify({ path: `w-${key}`, content: key }))),
        F("tool_calls"),
        END,
      ]),
      says("Done."),
    );
    const { code } = await cli(["run", "--workspace", place.root, "--model", "m", "go"], {
      env: { GLOVEBOX_HOME: join(place.folder, "h"), OPENAI_API_KEY: key, OPENAI_BASE_URL: server.url },
    });
    expect(code).toBe(0);
    expect((await readdir(place.root)).sort()).toEqual(["f-***", "leak.txt", "w-***"]);
    expect(await filesBelow(place.root)).not.toContain("CANARY");
  });
});

async function inspectWhileRunning(run: ReturnType<typeof startCli>): Promise<string> {
  await new Promise<void>((resolve) => {
    run.child.stdout?.on("data", () => run.stdout().includes('"type":"tool_output"') && resolve());
  });
  const session = JSON.parse(run.stdout().split("\n")[0] ?? "{}").id;
  const [info] = await docker.listContainers({ filters: { label: [`glovebox.session=${session}`] } });
  const container = docker.getContainer(info?.Id ?? "");
  const inspected = await container.inspect();
  const execs = await Promise.all((inspected.ExecIDs ?? []).map((id) => docker.getExec(id).inspect()));
  return JSON.stringify({ inspected, execs });
}

/** Environment and command line of every process below `pid`, which itself was started with the secrets. */
async function environmentsBelow(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)("ps", ["-eo", "pid=,ppid="]);
  const pairs = stdout
    .trim()
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number));
  const family = new Set([pid]);
  for (let size = 0; size !== family.size; ) {
    size = family.size;
    for (const [child = 0, parent = 0] of pairs) if (family.has(parent)) family.add(child);
  }
  family.delete(pid);
  const texts = await Promise.all(
    [...family].map((child) => readFile(`/proc/${child}/environ`, "utf8").catch(() => "")),
  );
  return texts.join("\n");
}

async function filesBelow(folder: string): Promise<string> {
  const names = await readdir(folder, { recursive: true });
  const texts = await Promise.all(
    names.map(async (name) =>
      (await stat(join(folder, name))).size < 5_000_000 ? readFile(join(folder, name), "utf8").catch(() => "") : "",
    ),
  );
  return texts.join("\n");
}

describe("text mode", () => {
  it("O-SEC-03, P-40 shows escape sequences of model, tools and names, and executes none", async () => {
    await using place = await Place.create();
    await using server = await ChatServer.start(
      sse([
        D({ role: "assistant", content: "\u001b]52;c;cm0gLXJm\u0007\u001b[2J\u009b31mhi\u202e" }),
        D(
          tc(
            0,
            "c1",
            "bash",
            JSON.stringify({ command: "printf '\\033[2J\\033]0;title\\007'; echo '\u001b]0;x\u0007'" }),
          ),
        ),
        D(tc(1, "c2", "read", JSON.stringify({ path: "a\u001b]0;x\u0007" }))),
        F("tool_calls"),
        END,
      ]),
      says("Done."),
    );
    const { code, stdout, stderr } = await cli(["run", "--workspace", place.root, "--model", "m", "go"], {
      env: { GLOVEBOX_HOME: join(place.folder, "h"), OPENAI_API_KEY: "sk-x-0123456789", OPENAI_BASE_URL: server.url },
    });
    expect(code).toBe(0);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these bytes must not be there
    expect(`${stdout}${stderr}`).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
    expect(stdout).toContain("\\x1b]52;c;cm0gLXJm\\x07\\x1b[2J\\x9b31mhi\\u202e");
  });

  it("O-CLI-03 ends quietly, with its container gone, when nobody reads its output any more", async () => {
    await using place = await Place.create();
    await writeFile(
      join(place.folder, "s.yaml"),
      `- text: "${"word ".repeat(20_000)}"\n  calls: [ { bash: { command: "sleep 1" } } ]\n`.repeat(3),
    );
    const run = startCli(
      ["run", "--events", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"],
      { env: { GLOVEBOX_HOME: join(place.folder, "h") } },
    );
    await new Promise((resolve) => run.child.stdout?.once("data", resolve));
    const session = JSON.parse(run.stdout().split("\n")[0] ?? "{}").id;
    run.child.stdout?.destroy();
    const { code, stderr } = await run.ended;
    expect([code, stderr]).toEqual([1, expect.not.stringMatching(/EPIPE|at .*:\d+/)]);
    expect(await containersOf(session)).toBe(0);
  });
});

describe("--json", () => {
  it("prints exactly one object, which is what the schema says", async () => {
    await using place = await Place.create();
    await brokenProject(place);
    await writeFile(
      join(place.folder, "s.yaml"),
      `- calls: [ { bash: { command: "npm test" } } ]
- expect: { last_result: { contains: "fail 1" } }
  calls: [ { edit: { path: src/sum.js, edits: [ { oldText: "a - b", newText: "a + b" } ] } } ]
- calls: [ { bash: { command: "npm test" } } ]
- expect: { last_result: { contains: "pass 1" } }
  text: "Fixed."
`,
    );
    const { code, stdout } = await cli(
      ["run", "--json", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"],
      { env: { GLOVEBOX_HOME: join(place.folder, "h") } },
    );
    const result = RunResult.parse(JSON.parse(stdout));
    expect(result).toMatchObject({
      outcome: "completed",
      exit_code: 0,
      result: "Fixed.",
      turns: 4,
      tool_calls: { total: 3, errors: 1, denied: 0, synthetic: 0 },
      files_changed: [{ path: join(place.root, "src/sum.js"), added: 1, removed: 1 }],
      error: null,
    });
    expect(result.sandbox?.selftest.filter(({ holds }) => !holds)).toEqual([]);
    expect(result.sandbox?.selftest.length).toBeGreaterThan(10);
    expect(code).toBe(0);
  });

  it("O-CLI-01 denies what needs a yes when there is no terminal, without waiting, and ends with exit code 3", async () => {
    await using place = await Place.create();
    await writeFile(
      join(place.folder, "s.yaml"),
      `- calls: [ { write: { path: a, content: b } } ]\n- text: "Could not."\n`,
    );
    const { code, stdout } = await cli(
      [
        "run",
        "--json",
        "--approve",
        "ask",
        "--workspace",
        place.root,
        "--model",
        `scripted:${place.folder}/s.yaml`,
        "go",
      ],
      { env: { GLOVEBOX_HOME: join(place.folder, "h") } },
    );
    expect([code, JSON.parse(stdout).denials]).toEqual([
      3,
      [expect.objectContaining({ by: "approval", enable_with: expect.stringContaining("--approve auto") })],
    ]);
  });
});

describe("an interruption", () => {
  it.each([
    ["SIGINT", 130, "bash", `{ command: "trap '' INT TERM; echo begun; sleep 60" }`],
    ["SIGTERM", 143, "bash", `{ command: "echo begun; sleep 60" }`],
    ["SIGHUP", 129, "bash", `{ command: "echo begun; sleep 60" }`],
  ] as const)(
    "O-CLI-02 by %s stops the command, writes the result and leaves no container",
    async (signal, expected, tool, args) => {
      await using place = await Place.create();
      await writeFile(join(place.folder, "s.yaml"), `- calls: [ { ${tool}: ${args} }, { ls: {} } ]\n`);
      const run = startCli(
        ["run", "--events", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"],
        { env: { GLOVEBOX_HOME: join(place.folder, "h") } },
      );
      await new Promise<void>((resolve) =>
        run.child.stdout?.on("data", () => run.stdout().includes('"tool_output"') && resolve()),
      );
      run.child.kill(signal);
      const { code, stdout } = await run.ended;
      const events = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      expect(code).toBe(expected);
      expect(events.filter(({ type }) => type === "tool_result").map(({ reason }) => reason)).toEqual([
        "interrupted",
        "aborted_run",
      ]);
      expect(events.find(({ type }) => type === "run_end")).toMatchObject({ outcome: "aborted" });
      expect(await containersOf(events[0].id)).toBe(0);
    },
  );

  it("O-CLI-02 while the model answers is written down too, with exit code 130 in the result", async () => {
    await using place = await Place.create();
    await using server = await ChatServer.start(sse([D({ content: "Thinking" })], { end: "hang" }));
    const run = startCli(["run", "--json", "--workspace", place.root, "--model", "m", "go"], {
      env: { GLOVEBOX_HOME: join(place.folder, "h"), OPENAI_API_KEY: "sk-x-0123456789", OPENAI_BASE_URL: server.url },
    });
    while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
    await new Promise((resolve) => setTimeout(resolve, 200));
    run.child.kill("SIGINT");
    const { code, stdout } = await run.ended;
    expect([code, JSON.parse(stdout)]).toMatchObject([130, { outcome: "aborted", exit_code: 130 }]);
    expect(await containersOf(JSON.parse(stdout).session_id)).toBe(0);
  });

  it("O-CLI-02 twice leaves at once, and still no container", async () => {
    await using place = await Place.create();
    await writeFile(
      join(place.folder, "s.yaml"),
      `- calls: [ { bash: { command: "trap '' INT TERM; echo begun; sleep 60" } } ]\n`,
    );
    const run = startCli(
      ["run", "--events", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "go"],
      { env: { GLOVEBOX_HOME: join(place.folder, "h") } },
    );
    await new Promise<void>((resolve) =>
      run.child.stdout?.on("data", () => run.stdout().includes('"tool_output"') && resolve()),
    );
    run.child.kill("SIGINT");
    run.child.kill("SIGINT");
    const { code, stdout } = await run.ended;
    expect(code).toBe(130);
    expect(await containersOf(JSON.parse(stdout.split("\n")[0] ?? "").id)).toBe(0);
  });
});

describe("exec", () => {
  it("runs one command in the same sandbox, passes its streams and ends with its exit code", async () => {
    await using place = await Place.create();
    const { code, stdout, stderr } = await cli(
      ["exec", "--workspace", place.root, "--", "sh", "-c", "cat; echo out; echo err >&2; pwd; id -u; exit 7"],
      { input: "in\n", env: { GLOVEBOX_HOME: join(place.folder, "h") } },
    );
    expect([code, stdout]).toEqual([7, `in\nout\n${place.root}\n${(await stat(place.root)).uid}\n`]);
    expect(stderr).toContain("err\n");
  });

  it("says that a program does not exist", async () => {
    await using place = await Place.create();
    const { code, stderr } = await cli(["exec", "--workspace", place.root, "--", "no-such-program"], {
      env: { GLOVEBOX_HOME: join(place.folder, "h") },
    });
    expect([code, stderr]).toEqual([127, expect.stringContaining("no-such-program")]);
  });
});

describe("the other commands", () => {
  it("doctor proves a sandbox and lists each control", async () => {
    const { code, stdout } = await cli(["doctor", "--json"]);
    expect(code).toBe(0);
    expect(stdout).toContain("channel_out_of_reach");
  });

  it("doctor examines the policy and the image that a run in the current folder would have", async () => {
    await using place = await Place.create();
    const env = { GLOVEBOX_HOME: join(place.folder, "h") };
    await mkdir(join(place.root, ".glovebox"));
    await writeFile(join(place.root, ".glovebox/policy.yaml"), "version: 1\nlimits: { pids: 77 }\n");
    await writeFile(join(place.folder, "mine.yaml"), "version: 1\nworkspace: { readonly: [infra] }\n");
    const options = { cwd: place.root, env };
    const { code, stdout } = await cli(["doctor", "--json", "--policy", "../mine.yaml"], options);
    const { findings } = JSON.parse(stdout);
    const detail = (subject: string): string =>
      findings.find((finding: { subject: string }) => finding.subject.trim().startsWith(subject))?.detail;
    expect([code, detail("pids_limit")]).toEqual([0, "109"]);
    expect(detail("policy")).toMatch(/^user: \.\.\/mine\.yaml, project: /);
    expect(stdout).toMatch(/read_only [^"]*\/infra/);

    await writeFile(join(place.root, ".glovebox/policy.yaml"), "version: 1\nlimit: {}\n");
    const broken = await cli(["doctor"], options);
    expect([broken.code, broken.stdout]).toEqual([2, expect.stringMatching(/problem +policy .*limit/)]);
    const absent = await cli(["doctor", "--image", "no/such:image"], { env });
    expect([absent.code, absent.stdout]).toEqual([5, expect.stringMatching(/problem +sandbox .*no\/such/)]);
  });

  it("sessions list and show what was run", async () => {
    await using place = await Place.create();
    const env = { GLOVEBOX_HOME: join(place.folder, "h") };
    await writeFile(
      join(place.folder, "s.yaml"),
      `- calls: [ { bash: { command: "echo from-the-tool" } } ]\n- text: "All good."\n`,
    );
    const run = await cli(
      ["run", "--json", "--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`, "look", "around"],
      { env },
    );
    const id = JSON.parse(run.stdout).session_id;
    const listed = await cli(["sessions", "list"], { cwd: place.root, env });
    expect(listed.stdout).toContain("look around");
    const shown = await cli(["sessions", "show", id], { cwd: place.root, env });
    expect([shown.code, shown.stdout]).toEqual([
      0,
      expect.stringMatching(/look around[\s\S]*from-the-tool[\s\S]*All good\./),
    ]);
  });
});
