// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text

import * as fc from "fast-check";
import { LINES } from "./shell-lines.ts";
import { BROKEN, FUNCTIONS, NAMES, SIGNALS, VALUES } from "./shell-words.ts";

/** Random text for a shell: right, broken and none at all. Nothing of it prints what differs from run to run. */

const name = fc.constantFrom(...NAMES);
const fn = fc.constantFrom(...FUNCTIONS);
const value = fc.constantFrom(...VALUES);
const word = fc.oneof(
  { weight: 4, arbitrary: value.map((text) => `"${text.replaceAll('"', '\\"')}"`) },
  { weight: 2, arbitrary: value.map((text) => `'${text.replaceAll("'", "'\\''")}'`) },
  { weight: 2, arbitrary: name.map((of) => `"$${of}"`) },
  { weight: 1, arbitrary: name.map((of) => `\${${of}[@]}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "$?",
      "$#",
      "$-",
      '"$@"',
      "$LINENO",
      "${A:-none}",
      "${B:?gone}",
      "${A//1/2}",
      "${!A}",
      "${#arr[@]}",
      "$FUNCNAME",
      "$BASH_SUBSHELL",
      "${PIPESTATUS[*]}",
    ),
  },
);

const plainLine = fc.oneof(
  ...LINES.map((pool) => fc.constantFrom(...pool)),
  word.map((text) => `echo ${text}`),
  word.map((text) => `printf '%s|' ${text}`),
  fc.tuple(name, word).map(([of, text]) => `${of}=${text}`),
  fc.tuple(name, word).map(([of, text]) => `export ${of}=${text}`),
  fc
    .tuple(
      fc.constantFrom("-i", "-a", "-A", "-x", "-r", "-l", "-u", "-n", "-t", "-g", "+x", "-ax", "--", "-c"),
      name,
      word,
    )
    .map(([flag, of, text]) => `declare ${flag} ${of}=${text}`),
  fc.tuple(name, word, word).map(([of, one, two]) => `${of}=(${one} ${two})`),
  fc.tuple(name, word).map(([of, text]) => `${of}[3]=${text}`),
  fc.tuple(name, word).map(([of, text]) => `declare -A ${of}=([k]=${text} ["a b"]=2)`),
  fc.tuple(name, word).map(([of, text]) => `${of}+=${text}`),
  name.map((of) => `unset ${of}`),
  name.map((of) => `readonly ${of}`),
  fn.map((of) => `unset -f ${of}`),
  name.map((of) => `declare -p ${of}`),
  fn.map((of) => `${of} one two`),
  fc.tuple(fn, word).map(([of, text]) => `${of}() { echo in-${of} ${text}; }`),
  fn.map((of) => `${of}() { :; }; export -f ${of}`),
  fn.filter((of) => of !== "trap").map((of) => `readonly -f ${of}`),
  fn.filter((of) => of !== "trap").map((of) => `type -t ${of}`),
  fc
    .tuple(
      fc.constantFrom("ll", "echo", "printf", "declare", "trap", "unset", "eval", "cd", "pwd", "builtin", "a-b", "ü"),
      fc.constantFrom("echo aliased", "echo one; ", "builtin ", "no such", "'", "{ "),
    )
    .map(([of, text]) => `alias ${of}="${text}"`),
  fc
    .tuple(
      fc.constantFrom("echo bye", "echo $?", "exit 4", ":", "", "false", "exec true", "cd /tmp"),
      fc.constantFrom(...SIGNALS),
    )
    .map(([text, signal]) => `trap '${text}' ${signal}`),
  fc.constantFrom(...SIGNALS).map((signal) => `trap - ${signal}`),
);

const statement: fc.Arbitrary<string> = fc.letrec<{ line: string; block: string }>((tie) => ({
  line: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 8, arbitrary: plainLine },
    { weight: 3, arbitrary: tie("block") },
  ),
  block: fc.oneof(
    tie("line").map((of) => `( ${of}\n)`),
    tie("line").map((of) => `{ ${of}\n}`),
    tie("line").map((of) => `if ${of}\nthen ${of}\nelse echo no\nfi`),
    tie("line").map((of) => `for A in 1 2; do ${of}\ndone`),
    tie("line").map((of) => `case $A in 1) ${of}\n;; *) echo star;; esac`),
    fc.tuple(fn, tie("line")).map(([of, line]) => `${of}() {\n${line}\n}`),
    fc.tuple(fn, tie("line")).map(([of, line]) => `${of}() (\n${line}\n)\n${of}`),
    tie("line").map((of) => `h() { local A=in B; ${of}\n}; h`),
    tie("line").map((of) => `echo "$(${of}\n)"`),
    tie("line").map((of) => `{ ${of}\n} | cat`),
    tie("line").map((of) => `! ${of}`),
    tie("line").map((of) => `eval '${of.replaceAll("'", "'\\''")}'`),
    tie("line").map((of) => `{ ${of}\n} 2>/dev/null`),
    tie("line").map((of) => `A=tmp ${of}`),
    tie("line").map((of) => `bash -c '${of.replaceAll("'", "'\\''")}'`),
    fc.tuple(tie("line"), tie("line")).map(([one, two]) => `${one} && ${two}`),
    fc.tuple(tie("line"), tie("line")).map(([one, two]) => `${one} || ${two}`),
  ),
})).line;

const program = fc
  .tuple(fc.array(statement, { minLength: 1, maxLength: 6 }), fc.constantFrom("\n", "\n", "\n", "; ", "\r\n"))
  .map(([lines, between]) => lines.join(between));

const broken = fc
  .tuple(program, fc.array(fc.tuple(fc.nat(), fc.constantFrom(...BROKEN)), { minLength: 1, maxLength: 4 }))
  .map(([text, parts]) =>
    parts.reduce((so, [at, part]) => {
      const where = at % (so.length + 1);
      return so.slice(0, where) + part + so.slice(where);
    }, text),
  );

const noise = fc.oneof(
  fc.array(fc.constantFrom(...BROKEN, "echo", "x"), { maxLength: 12 }).map((parts) => parts.join("")),
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.string({ unit: "grapheme", maxLength: 30 }),
  fc.string({ unit: fc.constantFrom("\0", "a", "\ud800", "\udc00", "\n", "'"), maxLength: 6 }),
);

export const shellText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: program },
  { weight: 2, arbitrary: broken },
  { weight: 1, arbitrary: noise },
);
