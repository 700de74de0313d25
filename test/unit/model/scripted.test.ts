import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Message } from "../../../src/core/messages.ts";
import { parseScript, readScript } from "../../../src/model/script-file.ts";
import { createScriptedClient } from "../../../src/model/scripted.ts";
import { fail, hear } from "../../support/chat-client.ts";

const play = (text: string) => createScriptedClient({ name: "demo.yaml", items: parseScript(text, "demo.yaml") });
const after = (text: string, isError = false): Message[] => [
  { role: "user", content: "go" },
  { role: "assistant", content: [{ type: "tool_call", id: "call_1", name: "bash", arguments: "{}" }] },
  { role: "tool", callId: "call_1", toolName: "bash", content: [{ type: "text", text }], isError },
];
const request = (messages: Message[]) => ({ system: "", messages, tools: [] });

test("a script is played item by item, and then the model has nothing to say", async () => {
  const client = play(`
- text: "Let me look."
  calls:
    - bash: { command: "npm test" }
    - ls:
- text: Fixed.
  usage: { input: 900, output: 40 }
`);
  const heard = [await hear(client), await hear(client), await hear(client)];
  const base = { usage: undefined, reportedUsd: undefined, responseId: undefined, model: "demo.yaml" };
  expect(heard.map(({ message }) => message)).toEqual([
    {
      ...base,
      content: [
        { type: "text", text: "Let me look." },
        { type: "tool_call", id: "call_1", name: "bash", arguments: '{"command":"npm test"}' },
        { type: "tool_call", id: "call_2", name: "ls", arguments: "{}" },
      ],
      stopReason: "tool_use",
    },
    {
      ...base,
      content: [{ type: "text", text: "Fixed." }],
      stopReason: "stop",
      usage: { input: 900, output: 40, reasoning: 0, cache_read: 0, cache_write: 0 },
    },
    { ...base, content: [], stopReason: "stop" },
  ]);
  expect(heard[0]?.deltas.map(({ text }) => text)).toEqual(["Let ", "me ", "look."]);
});

test("ids go on where a resumed conversation ended", async () => {
  const { message } = await hear(play("- calls: [ { bash: { command: ls } } ]"), request(after("x")));
  expect(message.content).toMatchObject([{ id: "call_2" }]);
});

const RAW: [string, string][] = [
  ["of the item", `- calls: [ { write: } ]\n  raw: '{"path": '`],
  ["beside the tool", `- calls: [ { write: , raw: '{"path": ' } ]`],
  ["within the tool", `- calls: [ { write: { raw: '{"path": ' } } ]`],
];

test.each(RAW)("raw %s is the text of the arguments as it is", async (_, script) => {
  const { message } = await hear(play(script));
  expect(message.content).toEqual([{ type: "tool_call", id: "call_1", name: "write", arguments: '{"path": ' }]);
});

test("an item says how the answer stops", async () => {
  const { message } = await hear(play("- { text: cut, stop: length }"));
  expect(message.stopReason).toBe("length");
});

test("an error is the failure a server's answer would be", async () => {
  const client = play('- error: { status: 401, body: { error: { message: "no key" } } }\n- error: { status: 529 }');
  const failures = [await fail(client), await fail(client)];
  expect(failures.map(({ code, message, retry }) => [code, message, retry.type])).toEqual([
    ["CREDENTIALS_REJECTED", "`scripted` rejected the credentials (401): no key", "never"],
    ["MODEL_UNREACHABLE", "`scripted` answered 529: no reason given", "back_off"],
  ]);
});

test("a delay can be aborted", async () => {
  const { message } = await hear(play("- { text: late, delay_ms: 60000 }"), undefined, AbortSignal.timeout(20));
  expect([message.stopReason, message.content]).toEqual(["aborted", []]);
});

test("an expectation that is met lets the script go on", async () => {
  const script = `- { text: ok, expect: { last_result: { contains: [1 failed, 2 passed], not_contains: 3, matches: "^1 f", status: error } } }`;
  const client = play(script.replace("not_contains: 3", 'not_contains: "3"'));
  expect((await hear(client, request(after("out:\n1 failed\n2 passed", true)))).message.stopReason).toBe("stop");
});

const UNMET: [string, string][] = [
  [
    "{ contains: 1 failed }",
    "expected the last result to contain `1 failed`; the result of `bash` (ok) was `all\\npassed`",
  ],
  [
    "{ not_contains: passed }",
    "expected the last result not to contain `passed`; the result of `bash` (ok) was `all\\npassed`",
  ],
  ["{ matches: ^x }", "expected the last result to match `^x`; the result of `bash` (ok) was `all\\npassed`"],
  [
    "{ status: error }",
    "expected the last result to have status `error`; the result of `bash` (ok) was `all\\npassed`",
  ],
];

test.each(UNMET)("an expectation %s that is not met says what was there", async (wanted, problem) => {
  const client = play(`- text: first\n- expect: { last_result: ${wanted} }\n  text: second`);
  await hear(client);
  await expect(hear(client, request(after("all\npassed")))).rejects.toMatchObject({
    code: "EXPECTATION_FAILED",
    message: `Script \`demo.yaml\`, item 2 (line 2): ${problem}`,
  });
});

test("an expectation without any result says so", async () => {
  const client = play("- expect: { last_result: { contains: x } }");
  await expect(hear(client)).rejects.toThrow("item 1 (line 1): expected a tool result, but there is none yet");
});

const INVALID: [string, string, string][] = [
  ["a typo of a key", "- text: a\n- txt: b", "line 2: `txt` is not a key here; did you mean `text`?"],
  [
    "a typo deep inside",
    "- text: a\n  expect:\n    last_result:\n      contain: x",
    "line 4: `contain` is not a key here; did you mean `contains`?",
  ],
  ["a wrong type", "- text: a\n- text: 5", "line 2: `item 2.text`: Invalid input: expected string, received number"],
  ["a key given twice", "- text: a\n  text: b", "line 2: Map keys must be unique"],
  ["no list", "text: a", "line 1: expected a list of items, each beginning with `- `"],
  ["an empty file", "# nothing\n", "it is empty; expected a list of items"],
  [
    "two tools in one call",
    "- calls:\n    - { bash: {}, read: {} }",
    "line 2: `item 1.calls.0`: expected one tool and its arguments, such as `bash: { command: ls }`",
  ],
  ["raw without a call", "- raw: x", "line 1: `item 1`: `raw` needs exactly one call"],
  [
    "an answer with an error",
    "- text: a\n  error: { status: 500 }",
    "line 1: `item 1`: an item with `error` answers nothing else",
  ],
  [
    "a broken pattern",
    '- expect: { last_result: { matches: "(" } }',
    "line 1: `item 1.expect.last_result.matches`: Invalid regular expression: /(/mu: Unterminated group",
  ],
  [
    "two documents",
    "- text: a\n---\n- text: b",
    "line 2: Source contains multiple documents; please use YAML.parseAllDocuments()",
  ],
  ["an unknown tag", "- text: !env HOME", "line 1: Unresolved tag: !env"],
  [
    "an alias bomb",
    `- calls:\n    - bash: &a [x,x,x,x,x,x,x,x,x,x]\n${["b", "c", "d", "e"].map((name, n) => `    - bash: &${name} [${Array(9).fill(`*${"abcd"[n]}`).join()}]`).join("\n")}`,
    "Excessive alias count indicates a resource exhaustion attack",
  ],
];

test.each(INVALID)("%s is told with file and line", (_, text, problem) => {
  const place = problem.startsWith("line") ? "," : ":";
  expect(() => parseScript(text, "demo.yaml")).toThrow(
    expect.objectContaining({ code: "SCRIPT_INVALID", message: `Script \`demo.yaml\`${place} ${problem}` }),
  );
});

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-script-"));
  await mkdir(join(folder, "directory"));
  await writeFile(join(folder, "large"), `- text: ${"x".repeat(1024 * 1024)}`);
  await writeFile(join(folder, "binary"), Buffer.of(0xff, 0xfe));
  execFileSync("mkfifo", [join(folder, "pipe")]);
});
afterAll(() => rm(folder, { recursive: true }));

const UNREADABLE: [string, string][] = [
  ["missing", "there is no such file"],
  ["directory", "it is a directory; expected a YAML file"],
  ["large", "it has 1048584 bytes; at most 1 MiB is read"],
  ["binary", "it is not UTF-8 text"],
  ["pipe", "it is not a regular file"],
];

test.each(UNREADABLE)("a file that is %s is told as that", async (name, problem) => {
  await expect(readScript(join(folder, name), name)).rejects.toMatchObject({
    code: "SCRIPT_INVALID",
    message: `Script \`${name}\`: ${problem}`,
  });
});
