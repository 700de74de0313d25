import { readFileSync } from "node:fs";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, inject, it } from "vitest";
import type { LoggedEvent } from "../../src/core/events.ts";
import type { Message } from "../../src/core/messages.ts";
import { Secrets } from "../../src/core/secrets.ts";
import { NO_APPROVER, YES_APPROVER } from "../../src/gate/approver.ts";
import { parseScript } from "../../src/model/script-file.ts";
import { createScriptedClient } from "../../src/model/scripted.ts";
import { BUILT_IN_POLICY } from "../../src/policy/policy.ts";
import type { SandboxProvider } from "../../src/session/provider.ts";
import { RunResult } from "../../src/session/result.ts";
import { LocalSandbox, localProvider } from "../support/local-sandbox.ts";
import { readLog, resultsIn, Scene } from "../support/run.ts";

const bundle = inject("localToolHost");

/** Every committed call has exactly one result, after it and in order. */
function checkCalls(log: readonly LoggedEvent[]): void {
  const calls = log.flatMap((event) =>
    event.type === "assistant" ? event.content.flatMap((part) => (part.type === "tool_call" ? [part.id] : [])) : [],
  );
  expect(resultsIn(log).map(([id]) => id)).toEqual(calls);
  expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
}

describe("a run", () => {
  it("repairs a file with real tools and writes each fact down in order", async () => {
    await using scene = await Scene.create();
    await writeFile(join(scene.root, "sum.js"), "module.exports = (a, b) => a - b;\n");
    const { result, log, events } = await scene.run(
      `- text: "Looking."
  calls: [ { read: { path: sum.js } } ]
- calls: [ { edit: { path: sum.js, edits: [ { oldText: "a - b", newText: "a + b" } ] } }, { bash: { command: "cat sum.js" } } ]
- expect: { last_result: { contains: "a + b" } }
  text: "Fixed."
  usage: { input: 900, output: 40 }
`,
      bundle,
    );
    expect(log.map(({ type }) => type)).toEqual([
      ...["policy", "system", "run_started", "user", "request_started", "assistant"],
      ...["call_prepared", "call_started", "tool_result", "request_started", "assistant"],
      ...["call_prepared", "call_started", "tool_result", "call_prepared", "call_started", "tool_result"],
      ...["request_started", "assistant", "usage", "run_end"],
    ]);
    checkCalls(log);
    expect(RunResult.parse(result)).toMatchObject({
      outcome: "completed",
      exit_code: 0,
      result: "Fixed.",
      turns: 3,
      usage: { input: 900, output: 40 },
      tool_calls: { total: 3, errors: 0, denied: 0, synthetic: 0 },
      files_changed: [{ path: join(scene.root, "sum.js"), kind: "changed", added: 1, removed: 1 }],
    });
    expect(events.filter((event) => event.type === "text_delta").length).toBeGreaterThan(0);
    expect((await stat(result.session_file ?? "")).mode & 0o777).toBe(0o600);
  });

  it("stores a fact before anybody sees it", async () => {
    await using scene = await Scene.create();
    const missing: string[] = [];
    let file = "";
    const { result } = await scene.run(`- calls: [ { bash: { command: "true" } } ]\n- text: "Done."\n`, bundle, {
      onEvent: (event) => {
        if (event.type === "session")
          file = join(scene.folder, "home/sessions", event.workspace_id, `${event.id}.jsonl`);
        if ("seq" in event && !readFileSync(file, "utf8").includes(event.id)) missing.push(event.type);
      },
    });
    expect(result.outcome).toBe("completed");
    expect(missing).toEqual([]);
  });

  it("gives each call of a group its own result: unknown tool, bad arguments, failure, success", async () => {
    await using scene = await Scene.create();
    const { log } = await scene.run(
      `- calls:
    - raed: { path: x }
    - read: { raw: '{"path":"a","content":"x' }
    - read: { path: absent }
    - ls: {}
- text: "Done."
`,
      bundle,
    );
    checkCalls(log);
    expect(resultsIn(log).map(([, status, reason]) => [status, reason])).toEqual([
      ["invalid", "unknown_tool"],
      ["invalid", "bad_arguments"],
      ["failed", undefined],
      ["ok", undefined],
    ]);
  });

  it("runs nothing of a response that was cut, and goes on", async () => {
    await using scene = await Scene.create();
    const { result, log } = await scene.run(
      `- calls: [ { write: { path: a, content: x } }, { bash: { command: "touch b" } } ]
  stop: length
- text: "Smaller now."
`,
      bundle,
    );
    checkCalls(log);
    expect(resultsIn(log).map(([, , reason]) => reason)).toEqual(["truncated", "truncated"]);
    expect(result.outcome).toBe("completed");
    await expect(stat(join(scene.root, "b"))).rejects.toThrow("ENOENT");
  });

  it.each([
    ["length", "truncated", 7],
    ["refusal", "refused", 7],
  ])("that stops with %s and no call ends as %s", async (stop, outcome, code) => {
    await using scene = await Scene.create();
    const { result } = await scene.run(`- { text: "Half", stop: ${stop} }\n`, bundle);
    expect([result.outcome, result.exit_code]).toEqual([outcome, code]);
  });

  it("ends at the limit of turns, with every call answered", async () => {
    await using scene = await Scene.create();
    const item = `- calls: [ { bash: { command: "true" } } ]\n`;
    const { result, log } = await scene.run(item.repeat(5), bundle, {
      limits: { turns: 2, toolCalls: 100, seconds: 60 },
    });
    checkCalls(log);
    expect([result.outcome, result.exit_code, result.turns]).toEqual(["limit", 4, 2]);
  });

  it("ends at the limit of tool calls in the middle of a group", async () => {
    await using scene = await Scene.create();
    const { result, log } = await scene.run(`- calls: [ { ls: {} }, { ls: {} }, { ls: {} } ]\n`, bundle, {
      limits: { turns: 9, toolCalls: 2, seconds: 60 },
    });
    expect(resultsIn(log).map(([, status]) => status)).toEqual(["ok", "ok", "not_run"]);
    expect(result.outcome).toBe("limit");
  });

  it("ends at the limit of seconds, also while a command runs", async () => {
    await using scene = await Scene.create();
    const { result, log } = await scene.run(`- calls: [ { bash: { command: "sleep 60" } }, { ls: {} } ]\n`, bundle, {
      limits: { turns: 9, toolCalls: 9, seconds: 0.5 },
    });
    checkCalls(log);
    expect(resultsIn(log).map(([, , reason]) => reason)).toEqual(["interrupted", "limit"]);
    expect([result.outcome, result.exit_code]).toEqual(["limit", 4]);
  });

  it("T25 that is aborted answers the running call and those that never started", async () => {
    await using scene = await Scene.create();
    const controller = new AbortController();
    const { result, log } = await scene.run(
      `- calls: [ { bash: { command: "echo begun; sleep 30; touch marker" } }, { ls: {} }, { write: { path: a, content: b } } ]\n`,
      bundle,
      { signal: controller.signal, onEvent: (event) => event.type === "tool_output" && controller.abort() },
    );
    checkCalls(log);
    expect(resultsIn(log).map(([, status, reason]) => [status, reason])).toEqual([
      ["cancelled", "interrupted"],
      ["not_run", "aborted_run"],
      ["not_run", "aborted_run"],
    ]);
    expect([result.outcome, result.exit_code]).toEqual(["aborted", 130]);
  });

  it("keeps the text of a response that was aborted", async () => {
    await using scene = await Scene.create();
    const controller = new AbortController();
    const { result, log } = await scene.run(`- { text: "One two three", delay_ms: 60000 }\n`, bundle, {
      signal: controller.signal,
      onEvent: (event) => event.type === "request_started" && controller.abort(),
    });
    expect(result.outcome).toBe("aborted");
    expect(log.at(-1)).toMatchObject({ type: "run_end", outcome: "aborted" });
  });

  it("answers a call as lost when its tool host is killed, and says so", async () => {
    await using scene = await Scene.create();
    const { result, log } = await scene.run(
      `- calls: [ { bash: { command: "kill -9 $PPID" } }, { ls: {} } ]\n`,
      bundle,
    );
    checkCalls(log);
    expect(resultsIn(log).map(([, status]) => status)).toEqual(["lost", "lost"]);
    expect([result.outcome, result.exit_code, result.error?.code]).toEqual(["failed", 5, "SANDBOX_LOST"]);
  });

  it("L-15 asks before it writes or executes behind a wall that is weaker than meant, unless somebody allows it", async () => {
    await using scene = await Scene.create();
    const weak: SandboxProvider = async (request) => {
      const sandbox = await localProvider(bundle)(request);
      Object.assign(sandbox.facts, { isWeakened: true });
      return sandbox;
    };
    const script = `- calls: [ { bash: { command: "echo 1" } }, { write: { path: a, content: b } }, { ls: {} } ]\n- text: "Done."\n`;
    const asked = await scene.run(script, bundle, { openSandbox: weak });
    expect(resultsIn(asked.log).map(([, status]) => status)).toEqual(["denied", "denied", "ok"]);
    expect(asked.result.denials.map(({ rule, enable_with }) => [rule, enable_with])).toEqual([
      ["built-in/approval.weakened", "set `approval: { exec: allow }` in your policy"],
      ["built-in/approval.weakened", "set `approval: { write: allow }` in your policy"],
    ]);
    const origins = { ...BUILT_IN_POLICY.origins, "approval.exec": "user/approval.exec" };
    const said = await scene.run(script, bundle, { openSandbox: weak, policy: { ...BUILT_IN_POLICY, origins } });
    expect(resultsIn(said.log).map(([, status]) => status)).toEqual(["ok", "denied", "ok"]);
  });

  it("denies what needs a yes when nobody is there, and ends with exit code 3", async () => {
    await using scene = await Scene.create();
    const { result, log } = await scene.run(
      `- calls: [ { write: { path: a, content: b } }, { read: { path: a } } ]\n- text: "I could not."\n`,
      bundle,
      { askAlways: true },
    );
    expect(resultsIn(log).map(([, status, reason]) => [status, reason])).toEqual([
      ["denied", "denied_noninteractive"],
      ["failed", undefined],
    ]);
    expect(result).toMatchObject({
      outcome: "completed",
      exit_code: 3,
      denials: [
        { tool: "write", by: "approval", rule: "flag/approve", enable_with: expect.stringContaining("--approve") },
      ],
    });
    await expect(stat(join(scene.root, "a"))).rejects.toThrow("ENOENT");
  });

  it.each([
    ["auto", YES_APPROVER, "ok", 0],
    ["deny", NO_APPROVER, "denied", 3],
  ] as const)("lets `--approve %s` answer each question, and logs who did", async (_, approver, status, code) => {
    await using scene = await Scene.create();
    const { result, log } = await scene.run(`- calls: [ { bash: { command: "true" } } ]\n- text: "Done."\n`, bundle, {
      askAlways: true,
      approver,
    });
    expect(resultsIn(log).map(([, seen]) => seen)).toEqual([status]);
    expect(log.find(({ type }) => type === "approval")).toMatchObject({ by: "flag" });
    expect(result.exit_code).toBe(code);
  });

  it("asks once for what an `always` covers", async () => {
    await using scene = await Scene.create();
    const asked: (string | null)[] = [];
    const { log } = await scene.run(
      `- calls: [ { bash: { command: "true one" } }, { bash: { command: "true one" } }, { bash: { command: "true one; echo more" } } ]\n- text: "."\n`,
      bundle,
      {
        askAlways: true,
        approver: {
          by: "person",
          ask: (question) => {
            asked.push(question.grant);
            return Promise.resolve({ type: "yes", scope: "session" });
          },
        },
      },
    );
    expect(asked).toEqual(["commands that begin with `true one`", null]);
    expect(resultsIn(log).map(([, status]) => status)).toEqual(["ok", "ok", "ok"]);
  });

  it("T09 takes other words for a no, the reason of it, and what the model reads after the results, once", async () => {
    await using scene = await Scene.create();
    const answers = ["use a branch", null];
    const { log } = await scene.run(
      `- calls: [ { bash: { command: "touch a" } }, { bash: { command: "touch b" } }, { ls: {} } ]
- text: "On a branch, then."
`,
      bundle,
      {
        askAlways: true,
        approver: {
          by: "person",
          ask: () => Promise.resolve({ type: "no", reason: answers.shift() ?? null }),
        },
      },
    );
    checkCalls(log);
    expect(resultsIn(log).map(([, status]) => status)).toEqual(["denied", "denied", "ok"]);
    const said = log.flatMap((event) => (event.type === "user" ? [[event.source, event.content]] : []));
    expect(said).toEqual([
      ["prompt", "Do it."],
      ["steer", "use a branch"],
    ]);
    const types = log.map(({ type }) => type);
    expect(types.slice(types.lastIndexOf("tool_result"), types.lastIndexOf("assistant"))).toEqual([
      ...["tool_result", "user", "request_started"],
    ]);
    expect(JSON.stringify(log.find(({ type }) => type === "tool_result"))).toContain("Reason: use a branch");
    await expect(stat(join(scene.root, "b"))).rejects.toThrow("ENOENT");
  });

  it("takes an approver that throws for a no", async () => {
    await using scene = await Scene.create();
    const { log } = await scene.run(`- calls: [ { bash: { command: "true" } } ]\n- text: "."\n`, bundle, {
      askAlways: true,
      approver: { by: "person", ask: () => Promise.reject(new Error("the terminal is gone")) },
    });
    expect(resultsIn(log)).toEqual([[expect.any(String), "denied", "denied_user"]]);
    // What went wrong is no word of a person's to the model.
    expect(log.filter(({ type }) => type === "user").length).toBe(1);
  });

  it("ends as failed, naming the item, when a script's expectation does not hold", async () => {
    await using scene = await Scene.create();
    const { result } = await scene.run(
      `- calls: [ { bash: { command: "echo red" } } ]\n- { expect: { last_result: { contains: green } }, text: "Done." }\n`,
      bundle,
    );
    expect(result.error?.code).toBe("EXPECTATION_FAILED");
    expect([result.outcome, result.exit_code]).toEqual(["failed", 1]);
  });

  it("masks a secret in the log, in events and in what the model is sent", async () => {
    await using scene = await Scene.create();
    await writeFile(join(scene.root, "leak"), "key=sk-CANARY-0123456789\n");
    const sent: (readonly Message[])[] = [];
    const scripted = createScriptedClient({
      name: "test.yaml",
      items: parseScript(
        `- calls: [ { bash: { command: "cat leak" } } ]\n- text: "It is sk-CANARY-0123456789."\n`,
        "test.yaml",
      ),
    });
    const { result, events } = await scene.run("- text: unused\n", bundle, {
      secrets: new Secrets({ OPENAI_API_KEY: "sk-CANARY-0123456789" }),
      model: {
        provider: scripted.provider,
        id: scripted.id,
        api: scripted.api,
        respond: (request, options) => {
          sent.push([...request.messages]);
          return scripted.respond(request, options);
        },
      },
    });
    const everything = [
      JSON.stringify(sent),
      JSON.stringify(events),
      JSON.stringify(result),
      await readFile(result.session_file ?? "", "utf8"),
    ];
    expect(everything.filter((text) => text.includes("CANARY"))).toEqual([]);
    expect(JSON.stringify(sent)).toContain("key=***");
  });

  it("only ever adds to the end of the context", async () => {
    await using scene = await Scene.create();
    const contexts: string[] = [];
    const scripted = createScriptedClient({
      name: "t",
      items: parseScript(`- calls: [ { ls: {} } ]\n- calls: [ { ls: {} }, { ls: {} } ]\n- text: "."\n`, "t"),
    });
    await scene.run("- text: unused\n", bundle, {
      model: {
        ...scripted,
        respond: (request, options) => {
          contexts.push(JSON.stringify(request.messages).slice(0, -1));
          return scripted.respond(request, options);
        },
      },
    });
    expect(contexts.slice(1).map((context, index) => context.startsWith(contexts[index] ?? "?"))).toEqual([true, true]);
  });

  it("fails before anything runs when the log cannot be created", async () => {
    await using scene = await Scene.create();
    await writeFile(join(scene.folder, "home"), "a file where a folder should be");
    await expect(scene.run(`- text: "."\n`, bundle)).rejects.toMatchObject({ code: "SESSION_WRITE_FAILED" });
  });

  it("ends as failed, with the session's file, when the sandbox cannot be opened", async () => {
    await using scene = await Scene.create();
    const { result } = await scene.run(`- text: "."\n`, bundle, {
      openSandbox: () => Promise.reject(new Error("no engine")),
    });
    expect(result).toMatchObject({ outcome: "failed", sandbox: null, error: { message: "no engine" } });
    expect(await readLog(result)).toMatchObject([
      { type: "run_end", outcome: "failed", error: { message: "no engine" } },
    ]);
  });

  it("closes its sandbox whatever happened", async () => {
    await using scene = await Scene.create();
    const opened: LocalSandbox[] = [];
    await scene.run(`- error: { status: 401, body: "no" }\n`, bundle, {
      openSandbox: async ({ workspace }) => {
        const sandbox = await LocalSandbox.open({ root: workspace.root, bundle });
        opened.push(sandbox);
        return sandbox;
      },
    });
    expect(opened.map(({ child }) => child.exitCode)).toEqual([0]);
  });

  it("keeps a workspace's protected link from being mounted", async () => {
    await using scene = await Scene.create();
    const { symlink } = await import("node:fs/promises");
    await symlink("elsewhere", join(scene.root, ".git"));
    const { result } = await scene.run(`- text: "."\n`, bundle);
    expect(result.error).toMatchObject({ code: "WORKSPACE_REFUSED", message: expect.stringContaining("`.git`") });
    await chmod(scene.root, 0o700);
  });
});
