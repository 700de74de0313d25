import * as fc from "fast-check";
import type { JsonObject } from "../../src/core/json.ts";
import { TOOL_NAMES } from "../../src/tools/catalogue.ts";

/** Random arguments for tools: right, nearly right, and nothing like it. Paths aim at everything but the workspace. */

const path = fc.oneof(
  fc.constantFrom(
    ...[".", "..", "a", "a.txt", "dir/b.txt", "./dir/../a.txt", "dir", "~", "~/x", "~root/x", "/", "", " ", "a ", "*"],
    ...[
      "../OUT",
      "../OUT/kept.txt",
      "dir/../../OUT/kept.txt",
      "link",
      "link/kept.txt",
      "link/new.txt",
      "chain/kept.txt",
    ],
    ...["/etc/passwd", "/proc/self/environ", "/proc/1/mem", "/dev/null", "/dev/zero", "/dev/full", "fifo", "a.txt/x"],
    ...[
      "a\0b",
      "\0",
      "\ud800",
      "a\ud800.txt",
      "\n",
      "a\nb",
      "-rf",
      "--help",
      "$HOME",
      "`id`",
      "é",
      "e\u0301",
      "\u202e",
    ],
    ...["x".repeat(255), "x".repeat(256), "x/".repeat(2100), "file:///etc/passwd", "C:\\x", "a//b", "a/./b", ".git/x"],
  ),
  fc
    .array(fc.constantFrom("..", ".", "OUT", "dir", "link", "~", "", "kept.txt", "a"), { maxLength: 6 })
    .map((parts) => parts.join("/")),
  fc.string({ unit: "binary", maxLength: 12 }),
);
const text = fc.oneof(
  fc.constantFrom(
    "",
    "x",
    "old\n",
    "new\n",
    "a\r\nb",
    "\ufeff",
    "\0",
    "\ud83d",
    "漢🙂",
    "y".repeat(70_000),
    "\u001b[31m",
  ),
  fc.string({ unit: "binary", maxLength: 40 }),
);
const pattern = fc.constantFrom(
  "x",
  ".*",
  "(",
  "[",
  "**",
  "**/*",
  "{a,b}",
  "\\",
  "$",
  "^",
  "(?<=a)b",
  "a{1,99999}",
  "!x",
  "\n",
  "\0",
);
const count = fc.constantFrom<unknown>(
  1,
  2,
  0,
  -1,
  1.5,
  1e12,
  1e308,
  -0,
  2 ** 53,
  "3",
  "0x10",
  "1e3",
  " 2 ",
  "",
  "NaN",
  null,
  true,
);
const flag = fc.constantFrom<unknown>(true, false, "true", "false", "yes", 1, null);
const command = fc.constantFrom(
  "true",
  "echo hi",
  "exit 3",
  "cat",
  "printf '\\xff'",
  "",
  "#",
  "(",
  "\0",
  "\ud800",
  "seq 3000",
);

/** By name of a parameter; a tool that gains one here unknown is still given all the others. */
const VALUES: Record<string, fc.Arbitrary<unknown>> = {
  path,
  content: text,
  pattern,
  command,
  glob: pattern,
  offset: count,
  limit: count,
  context: count,
  timeout: fc.constantFrom<unknown>(1, 2, 0, -1, 1e12, "2", "NaN", null, 1e-9, 3600.5),
  job: count,
  kill: flag,
  ignoreCase: flag,
  literal: flag,
  background: fc.constantFrom<unknown>(false, "false", null, 7, "yes"),
  oldText: text,
  newText: text,
  edits: fc.oneof(
    fc.array(fc.record({ oldText: text, newText: text }), { maxLength: 3 }),
    fc.record({ oldText: text, newText: text }),
    fc.array(fc.record({ oldText: text, newText: text, more: fc.boolean() }), { maxLength: 2 }),
    fc.array(fc.record({ oldText: text, newText: text }), { maxLength: 2 }).map((edits) => JSON.stringify(edits)),
  ),
};
const WANTED: Record<string, string[]> = {
  bash: ["command", "timeout", "background", "job", "kill"],
  edit: ["path", "edits", "oldText", "newText"],
  find: ["pattern", "path", "limit"],
  grep: ["pattern", "path", "glob", "ignoreCase", "literal", "context", "limit"],
  ls: ["path", "limit"],
  read: ["path", "offset", "limit"],
  write: ["path", "content"],
};
const STRANGE = [
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "Path",
  "file",
  "",
  "a.b",
  "\ud800",
  "k".repeat(5000),
];

const fitting = (tool: string): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(
      ...(WANTED[tool] ?? []).map((name) =>
        fc.option(
          (VALUES[name] ?? fc.jsonValue()).map((value) => [name, value] as const),
          { freq: 6 },
        ),
      ),
    )
    .map((entries) => Object.fromEntries(entries.filter((entry) => entry !== null)) as JsonObject);

const mutated = (tool: string): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(
      fitting(tool),
      fc.array(
        fc.tuple(fc.oneof(fc.constantFrom(...STRANGE), fc.constantFrom(...(WANTED[tool] ?? ["x"]))), fc.jsonValue()),
        { minLength: 1, maxLength: 3 },
      ),
    )
    .map(([args, extra]) => Object.fromEntries([...Object.entries(args), ...extra]) as JsonObject);

const deep = fc.tuple(fc.constantFrom("path", "edits", "x"), fc.constantFrom(100, 5000)).map(([name, depth]) => {
  return `{"${name}":${"[".repeat(depth)}${"]".repeat(depth)}}`;
});

const rawOf = (tool: string): fc.Arbitrary<string> =>
  fc.oneof(
    { weight: 5, arbitrary: fitting(tool).map((args) => JSON.stringify(args)) },
    { weight: 3, arbitrary: mutated(tool).map((args) => JSON.stringify(args)) },
    { weight: 1, arbitrary: deep },
    { weight: 1, arbitrary: fc.json() },
    {
      weight: 1,
      arbitrary: fc.tuple(fitting(tool), fc.nat(200)).map(([args, at]) => JSON.stringify(args).slice(0, at)),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        "",
        " ",
        "null",
        "[]",
        "{}",
        "NaN",
        '{"path":"a","path":"b"}',
        "\ufeff{}",
        "{'path':1}",
        '{"path":"\\ud800"}',
      ),
    },
  );

/** A tool's name and the raw text of arguments, as a model sends them. */
export const rawCall: fc.Arbitrary<{ tool: string; raw: string }> = fc
  .constantFrom(...TOOL_NAMES)
  .chain((tool) => rawOf(tool).map((raw) => ({ tool, raw })));
