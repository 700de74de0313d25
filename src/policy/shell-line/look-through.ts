import {
  type Options,
  optionLength,
  PARALLEL,
  SHELL_STARTERS,
  SHELLS,
  TEXT_RUNNERS,
  WRAPPERS,
  type Wrapper,
} from "./programs.ts";
import { type Argv, HOLE, isKnown, programName, SPLIT } from "./shell-line.ts";

/** Another command, which may read the same input, a text of commands, or what nobody can see. */
export type Inside = { type: "command"; argv: Argv } | { type: "code"; text: string } | { type: "unknown" };

/** What a command runs besides itself. `input` are the texts it may read, as far as they are known. */
export function insideOf([word = "", ...args]: Argv, input: readonly string[]): Inside[] {
  const name = programName(word);
  if (!isKnown(name)) return [];
  if (SHELLS.has(name)) return insideShell(args, input);
  const text = TEXT_RUNNERS.has(name) ? textOption(args) : undefined;
  if (text !== undefined) return [code(text)];
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  const inside = wrapper ? insideWrapper(name, args, wrapper) : insideOther(name, args, input);
  return inside.length === 0 && SHELL_STARTERS.has(name) ? input.map(code) : inside;
}

function insideOther(name: string, args: Argv, input: readonly string[]): Inside[] {
  switch (name) {
    case "eval":
      return args.length === 0 ? [] : [code(args.join(" "))];
    case "parallel":
      return insideParallel(args.slice(skipOptions(args, PARALLEL)));
    case "watch":
      return [code(args.slice(skipOptions(args, { letters: "nq", names: ["interval", "equexit"] })).join(" "))];
    case "trap":
      return insideTrap(args);
    case "find":
      return insideFind(args);
    case "source":
    case ".":
      if (INPUT_PATH.test(args[0] ?? "")) return inputOf(input);
      return args.every(isKnown) ? [] : [UNSEEN];
    default:
      return [];
  }
}

/** The text of `-c TEXT` or `--command=TEXT`. */
function textOption(args: Argv): string | undefined {
  const at = args.findIndex((word) => /^(?:-[a-zA-Z]*c|--command(?:=[\s\S]*)?)$/.test(word));
  const option = args[at];
  return option?.startsWith("--command=") ? option.slice("--command=".length) : option && args[at + 1];
}

const UNSEEN: Inside = { type: "unknown" };
const INPUT_PATH = /^(?:-|\/dev\/(?:stdin|fd\/.*)|\/proc\/.*)$/;

function inputOf(input: readonly string[]): Inside[] {
  return input.length === 0 ? [UNSEEN] : input.map(code);
}

function code(text: string): Inside {
  return { type: "code", text };
}

function command(argv: Argv): Inside[] {
  return argv.length === 0 ? [] : [{ type: "command", argv }];
}

/** `bash -c TEXT`, `bash FILE`, or commands from its input. What a file says is not looked at, like that of any program. */
function insideShell(args: Argv, input: readonly string[]): Inside[] {
  let at = 0;
  let isText = false;
  let isInput = false;
  for (; /^[-+]./.test(args[at] ?? ""); at++) {
    const option = args[at] ?? "";
    if (option === "--") {
      at++;
      break;
    }
    if (option.startsWith("--")) at += /^--(?:rcfile|init-file)$/.test(option) ? 1 : 0;
    else {
      isText ||= option.startsWith("-") && option.includes("c");
      isInput ||= option.startsWith("-") && option.includes("s");
      at += option.match(/[oO]/g)?.length ?? 0;
    }
  }
  const hidden = args.slice(0, at).every(isKnown) ? [] : [UNSEEN];
  const operand = args[at];
  if (isText) return operand === undefined ? hidden : [...hidden, code(operand)];
  if (operand === undefined || isInput || INPUT_PATH.test(operand)) return [...hidden, ...inputOf(input)];
  return isKnown(operand) ? hidden : [UNSEEN];
}

function insideWrapper(name: string, args: Argv, wrapper: Wrapper): Inside[] {
  if (name === "env") {
    const split = splitString(args, wrapper);
    if (split) return split;
  }
  const options = skipOptions(args, wrapper);
  if (name === "command" && args.slice(0, options).some((option) => /^-\w*[vV]/.test(option))) return [];
  let at = options + wrapper.operands;
  while (wrapper.assigns && /^[A-Za-z_]\w*=/.test(args[at] ?? "")) at++;
  const hidden = args.slice(0, at).some((word) => word.includes(SPLIT) || (word.startsWith("-") && !isKnown(word)));
  const inner = name === "xargs" ? fromInput(args.slice(at), args.slice(0, options)) : args.slice(at);
  return [...(hidden ? [UNSEEN] : []), ...command(inner)];
}

/** The words `xargs` runs: what it reads comes at the end, or where `-I` says. */
function fromInput(words: Argv, options: Argv): Argv {
  if (words.length === 0) return [];
  const place = placeOf(options);
  return place === undefined ? [...words, SPLIT] : words.map((word) => word.replaceAll(place, SPLIT));
}

function placeOf(options: Argv): string | undefined {
  const at = options.findIndex((word) => /^(?:-[^-]*?[Ii]|--replace(?:=|$))/.test(word));
  if (at === -1) return undefined;
  const [, letter, attached] = /^(?:-[^-]*?([Ii])|--replace=?)([\s\S]*)$/.exec(options[at] ?? "") ?? [];
  return attached || (letter === "I" && options[at + 1]) || "{}";
}

function skipOptions(args: Argv, options: Options): number {
  let at = 0;
  while (args[at]?.startsWith("-")) {
    const option = args[at] ?? "";
    if (option === "--") return at + 1;
    at += optionLength(option, options);
  }
  return at;
}

/** `env -S TEXT`: the words of a text, then the other words. */
function splitString(args: Argv, wrapper: Wrapper): Inside[] | undefined {
  for (let at = 0; args[at]?.startsWith("-"); at += optionLength(args[at] ?? "", wrapper)) {
    const option = args[at] ?? "";
    const found = /^(?:--split-string(?:=([\s\S]*))?|-[^-uC]*?S([\s\S]*))$/.exec(option);
    if (!found) continue;
    const attached = found[1] ?? (found[2] || undefined);
    const rest = args.slice(at + (attached === undefined ? 2 : 1));
    const text = [attached ?? args[at + 1] ?? "", ...rest.map(quoted)].join(" ");
    return [code(`env ${text}`), ...(/[\\$]/.test(text) ? [UNSEEN] : [])];
  }
  return undefined;
}

function quoted(word: string): string {
  return isKnown(word) ? `'${word.replaceAll("'", "'\\''")}'` : word;
}

function insideTrap(args: Argv): Inside[] {
  const words = args[0] === "--" ? args.slice(1) : args;
  const [text, signal] = words;
  return text === undefined || signal === undefined || text.startsWith("-") ? [] : [code(text)];
}

/** `parallel TEXT ::: VALUES`; without a text the values are what runs. */
function insideParallel(words: Argv): Inside[] {
  const at = words.findIndex((word) => word.startsWith(":::"));
  const text = at === -1 ? words : words.slice(0, at);
  if (text.length > 0) return [code([...text, SPLIT].join(" ").replaceAll("{}", SPLIT))];
  return at === -1 ? [UNSEEN] : words.slice(at + 1).map(code);
}

function insideFind(args: Argv): Inside[] {
  return args.flatMap((word, index) => {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(word)) return isKnown(word) ? [] : hiddenAction(word);
    const rest = args.slice(index + 1);
    const end = rest.findIndex((next) => next === ";" || next === "+");
    return command((end === -1 ? rest : rest.slice(0, end)).map((next) => next.replaceAll("{}", HOLE)));
  });
}

/** `$x` may be an `-exec` with all its words; `*.c` and `"$dir"` may not, as far as one can be honest about it. */
function hiddenAction(word: string): Inside[] {
  return word === SPLIT ? [UNSEEN] : [];
}
