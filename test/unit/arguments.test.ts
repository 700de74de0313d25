import { describe, expect, test } from "vitest";
import { isWellFormed } from "../../src/core/truncate.ts";
import { parseArguments, unknownTool, validateArguments } from "../../src/tools/arguments.ts";
import { contractOf, type ToolName, toolsWith } from "../../src/tools/catalogue.ts";

describe("a call of bash", () => {
  const problem = (args: object): string | undefined => {
    const parsed = parseArguments("bash", JSON.stringify(args));
    return parsed.ok ? undefined : parsed.problem.split("\n")[1];
  };

  test.each<[string, object, string]>([
    ["nothing at all", {}, "`command` is missing; without one only `job` can be asked for"],
    ["a command and a job", { command: "ls", job: 1 }, "send one of the two"],
    ["a kill of nothing", { kill: true }, "`kill` ends a background job: name it with `job`"],
    ["a kill of all", { job: 0, kill: true }, "`kill` needs the id of one"],
    ["a job with a timeout", { job: 1, timeout: 5 }, "go with `command`"],
    ["a job below 0", { job: -1 }, "job: Too small"],
  ])("with %s is refused with what to do", (_, args, words) => {
    expect(problem(args)).toContain(words);
  });

  test.each<[object, object]>([
    [{ command: "" }, { command: "" }],
    [{ job: 1, command: "", kill: null }, { job: 1 }],
    [
      { job: "2", kill: "true" },
      { job: 2, kill: true },
    ],
  ])("%j is taken as it was meant", (args, meant) => {
    expect(parseArguments("bash", JSON.stringify(args))).toEqual({ ok: true, args: meant });
  });

  test("that looks at a job or ends it only reads, and is not cut to a time", () => {
    const { effects, within } = contractOf("bash");
    expect(effects({ job: 1, kill: true }).map(({ kind }) => kind)).toEqual(["read"]);
    expect(effects({ command: "ls" })).toEqual([{ kind: "exec", command: "ls" }]);
    expect(within?.({ job: 1 }, 5)).toEqual({ job: 1 });
  });
});

describe("a call of pty", () => {
  test.each<[string, object, string]>([
    ["a start of nothing", { action: "start" }, "`start` needs `command`"],
    ["a text for nobody", { action: "send", text: "x" }, "`send` needs `id`"],
    ["nothing to type", { action: "send", id: 1, text: "" }, "text: Too small"],
    ["a text for a read", { action: "read", id: 1, text: "x" }, "`read` takes no `text`"],
    ["another action", { action: "stop", id: 1 }, "action: Invalid option"],
  ])("with %s is refused with what to do", (_, args, words) => {
    const parsed = parseArguments("pty", JSON.stringify(args));
    expect(parsed.ok ? "" : parsed.problem).toContain(words);
  });

  test("has its commands and what it types judged as commands", () => {
    const { effects } = contractOf("pty");
    expect(effects({ action: "start", command: "python3" })).toEqual([{ kind: "exec", command: "python3" }]);
    expect(effects({ action: "send", id: 1, text: "git push\n" })).toEqual([{ kind: "exec", command: "git push\n" }]);
    for (const action of ["read", "kill"]) expect(effects({ action, id: 1 })[0]?.kind).toBe("read");
  });

  test("says how it is switched on where it is not", () => {
    expect(unknownTool("pty", toolsWith([]))).toBe(
      "Not run: `pty` is not switched on in this session; a person switches it on with `--tool pty`. Available: bash, edit, find, grep, ls, read, write.",
    );
    expect(toolsWith(["pty"])).toEqual(["bash", "edit", "find", "grep", "ls", "pty", "read", "write"]);
  });
});

describe("what loses nothing is coerced", () => {
  test.each<[string, ToolName, string, Record<string, unknown>]>([
    ["a number as text", "read", '{"path":"a","offset":"42"}', { path: "a", offset: 42 }],
    ["a boolean as text", "grep", '{"pattern":"a","literal":"true"}', { pattern: "a", literal: true }],
    ["null for an optional parameter", "ls", '{"path":null}', {}],
    ["no arguments at all", "ls", "", {}],
    ["one edit for a list", "edit", '{"path":"a","edits":{"oldText":"x","newText":"y"}}', edits()],
    ["a list as JSON text", "edit", JSON.stringify({ path: "a", edits: JSON.stringify([edit()]) }), edits()],
    ["list members as JSON text", "edit", JSON.stringify({ path: "a", edits: [JSON.stringify(edit())] }), edits()],
    ["the legacy single form", "edit", '{"path":"a","oldText":"x","newText":"y"}', edits()],
    ["the legacy single form beside null", "edit", '{"path":"a","oldText":"x","newText":"y","edits":null}', edits()],
    [
      "text that looks like JSON, where text is wanted",
      "write",
      '{"path":"a","content":"{\\"b\\":1}"}',
      { path: "a", content: '{"b":1}' },
    ],
    [
      "text that looks like a number, where text is wanted",
      "write",
      '{"path":"a","content":"42"}',
      { path: "a", content: "42" },
    ],
  ])("%s", (_, tool, raw, args) => {
    expect(parseArguments(tool, raw)).toEqual({ ok: true, args });
  });
});

describe("what is wrong is said", () => {
  test.each<[string, ToolName, string, string]>([
    ["cut JSON is never repaired", "read", '{"path":"a', "Not run: the arguments are not valid JSON"],
    [
      "O-SHELL-05 a timeout that is NaN",
      "bash",
      '{"command":"x","timeout":NaN}',
      "Not run: the arguments are not valid JSON",
    ],
    [
      "O-SHELL-05 a timeout that is endless",
      "bash",
      '{"command":"x","timeout":1e999}',
      "Not run: invalid arguments.\ntimeout: ",
    ],
    ["a list", "read", "[]", "Not run: the arguments must be a JSON object. Received: []"],
    ["null", "read", "null", "Not run: the arguments must be a JSON object. Received: null"],
    [
      "a missing parameter",
      "read",
      "{}",
      "Not run: invalid arguments.\npath: Invalid input: expected string, received undefined\nReceived: {}",
    ],
    [
      "null for a required parameter",
      "read",
      '{"path":null}',
      'Not run: invalid arguments.\npath: Invalid input: expected string, received null\nReceived: {"path":null}',
    ],
    [
      "an unknown parameter",
      "read",
      '{"path":"a","ofset":1}',
      'Not run: invalid arguments.\narguments: unknown parameter `ofset` (did you mean `offset`?); allowed: path, offset, limit\nReceived: {"path":"a","ofset":1}',
    ],
    [
      "names of other tools of this kind, at top level",
      "edit",
      '{"file_path":"a","old_string":"x","new_string":"y"}',
      [
        "Not run: invalid arguments.",
        "arguments: unknown parameter `old_string` (did you mean `oldText`?), `new_string` (did you mean `newText`?); allowed: oldText, newText",
        "arguments: unknown parameter `file_path` (did you mean `path`?); allowed: path, edits\n",
      ].join("\n"),
    ],
    [
      "no edits at all",
      "edit",
      '{"path":"a"}',
      "Not run: invalid arguments.\nedits: Invalid input: expected array, received undefined\n",
    ],
    [
      "half of the legacy single form",
      "edit",
      '{"path":"a","oldText":"x"}',
      "Not run: invalid arguments.\nnewText: Invalid input: expected string, received undefined\n",
    ],
    [
      "an unknown parameter of an edit",
      "edit",
      '{"path":"a","edits":[{"oldText":"x","newTxt":"y","newText":"z"}]}',
      "Not run: invalid arguments.\nedits.0: unknown parameter `newTxt` (did you mean `newText`?); allowed: oldText, newText\n",
    ],
    [
      "a parameter named as every object has",
      "read",
      '{"path":"a","constructor":1}',
      "Not run: invalid arguments.\narguments: unknown parameter `constructor`; allowed: path, offset, limit\n",
    ],
    [
      "a parameter named __proto__",
      "read",
      '{"path":"a","__proto__":1}',
      "Not run: invalid arguments.\narguments: unknown parameter `__proto__`; allowed: path, offset, limit\n",
    ],
    [
      "a number too long to keep",
      "read",
      '{"path":"a","offset":"99999999999999999999"}',
      "Not run: invalid arguments.\noffset: Invalid input: expected number, received string\n",
    ],
    [
      "a fraction of a line",
      "read",
      '{"path":"a","offset":"1.5"}',
      "Not run: invalid arguments.\noffset: Invalid input: expected int, received number\n",
    ],
    [
      "a time above the most, with its unit",
      "bash",
      '{"command":"x","timeout":5000}',
      "Not run: invalid arguments.\ntimeout: Too big: at most 3600 seconds; for longer ones there is `background`\n",
    ],
    [
      "one wrong name in an edit of a list is told where it is",
      "edit",
      '{"path":"a","edits":[{"old_str":"x","newText":"y"}]}',
      "Not run: invalid arguments.\nedits.0: unknown parameter `old_str` (did you mean `oldText`?); allowed: oldText, newText\n",
    ],
  ])("%s", (_, tool, raw, problem) => {
    const parsed = parseArguments(tool, raw);
    expect(parsed.ok).toBe(false);
    expect(!parsed.ok && parsed.problem.slice(0, problem.length)).toBe(problem);
  });

  test.each<[ToolName, string, string]>([
    ["bash", "cmd", "command"],
    ["bash", "run_in_background", "background"],
    ["grep", "include", "glob"],
    ["grep", "query", "pattern"],
    ["grep", "-i", "ignoreCase"],
    ["find", "name", "pattern"],
    ["find", "glob", "pattern"],
    ["read", "start_line", "offset"],
    ["grep", "max_results", "limit"],
  ])("%s: the name `%s` that others use is led to ours", (tool, theirs, ours) => {
    const parsed = parseArguments(tool, JSON.stringify({ [theirs]: 1 }));
    expect(parsed.ok ? "" : parsed.problem).toContain(`\`${theirs}\` (did you mean \`${ours}\`?)`);
  });

  test.each([
    ["cat", "read"],
    ["read_file", "read"],
    ["ReadFile", "read"],
    ["Glob", "find"],
    ["rg", "grep"],
    ["list-dir", "ls"],
    ["run_command", "bash"],
    ["str_replace_editor", "edit"],
    ["create_file", "write"],
    ["gerp", "grep"],
  ])("the tool `%s` of others is led to ours", (theirs, ours) => {
    expect(unknownTool(theirs, toolsWith([]))).toMatch(new RegExp(` Closest: ${ours}\\.$`));
  });

  test("arguments nested a hundred thousand deep are refused, not a crash", () => {
    const raw = `{"path":${"[".repeat(100_000)}${"]".repeat(100_000)}}`;
    const parsed = parseArguments("read", raw);
    expect(parsed.ok).toBe(false);
    expect(validateArguments("read", JSON.parse(raw)).ok).toBe(false);
  });

  test("a thousand unknown parameters are told in few words", () => {
    const raw = JSON.stringify(
      Object.fromEntries(Array.from({ length: 1000 }, (_, at) => [`p${at}${"x".repeat(500)}`, at])),
    );
    const parsed = parseArguments("ls", raw);
    expect(!parsed.ok && parsed.problem.length < 4000 && parsed.problem.includes("and 990 more")).toBe(true);
  });

  test("O-OUT-01: the words about hostile arguments are well-formed and hold no control character", () => {
    const parsed = parseArguments("read", `{"path":"\ud83d\u001b[31m","x":1}`);
    expect(!parsed.ok && isWellFormed(parsed.problem) && !parsed.problem.includes("\u001b")).toBe(true);
    expect(unknownTool("\u001b]0;x\ud83d", toolsWith([]))).toBe(
      "Not run: no tool named `\\x1b]0;x\\ud83d`. Available: bash, edit, find, grep, ls, read, write.",
    );
  });
});

test("the object given is not changed", () => {
  const value = { path: "a", offset: "1", limit: null };
  expect(validateArguments("read", value)).toEqual({ ok: true, args: { path: "a", offset: 1 } });
  expect(value).toEqual({ path: "a", offset: "1", limit: null });
});

function edit() {
  return { oldText: "x", newText: "y" };
}

function edits() {
  return { path: "a", edits: [edit()] };
}
