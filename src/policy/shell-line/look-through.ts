import { assignsCode, hidesCode } from "./hidden-code.ts";
import {
  GLOBAL_OPTIONS,
  type Options,
  optionLength,
  PARALLEL,
  RUNUSER,
  readOptions,
  SHELL_STARTERS,
  SHELLS,
  WATCH,
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
  if (hidesCode(name, args, input)) return [UNSEEN];
  const wrapper = Object.hasOwn(WRAPPERS, name) ? WRAPPERS[name] : undefined;
  const inside = wrapper ? insideWrapper(name, args, wrapper) : insideOther(name, args, input);
  return inside.length === 0 && SHELL_STARTERS.has(name) ? input.map(code) : inside;
}

function insideOther(name: string, args: Argv, input: readonly string[]): Inside[] {
  switch (name) {
    case "eval":
      return insideEval(args[0] === "--" ? args.slice(1) : args);
    case "git":
      return insideGit(args);
    case "runuser":
    case "script":
    case "su":
      return insideTextRunner(name, args);
    case "sg":
      return insideGroup(args);
    case "parallel":
      return behind(args, PARALLEL, insideParallel);
    case "watch":
      return behind(args, WATCH, insideEval);
    case "trap":
      return insideTrap(args);
    case "find":
      return insideFind(args);
    case "source":
    case ".":
      return insideSource(args[0] === "--" ? args.slice(1) : args, input);
    default:
      return [];
  }
}

const UNSEEN: Inside = { type: "unknown" };
/** Also as a path from `/dev`, wherever that is said. */
const INPUT_PATH = /^-|stdin$|(?:^|\/)(?:fd|proc)(?:\/|$)|(?:^|\/)\d+$/;

/** A file below a folder that is not known is one nevertheless. */
function isFile(word: string): boolean {
  return isKnown(word.startsWith(`${HOLE}/`) ? word.slice(1) : word);
}

function insideSource(args: Argv, input: readonly string[]): Inside[] {
  if (INPUT_PATH.test(args[0] ?? "")) return inputOf(input);
  return args.every(isFile) ? [] : [UNSEEN];
}

function insideEval(args: Argv): Inside[] {
  return args.length === 0 ? [] : [code(args.join(" "))];
}

function behind(args: Argv, options: Options, inside: (words: Argv) => Inside[]): Inside[] {
  const { end, isSure } = readOptions(args, options);
  return [...(isSure ? [] : [UNSEEN]), ...inside(args.slice(end))];
}

/** Every text that may be one of `-c TEXT`, `-cTEXT`, `--command TEXT` and their like, wherever it stands. */
function insideTextRunner(name: string, args: Argv): Inside[] {
  const texts = args.flatMap((word, index) => {
    const found = /^(?:-[a-zA-Z]*?c|--(?:c[a-z]*|se[a-z-]*)(?:=|$))([\s\S]*)$/.exec(word);
    const text = found && (found[1] || args[index + 1]);
    return text ? [code(text)] : [];
  });
  const hidden = args.some((word) => word.includes(SPLIT) || (word.startsWith("-") && !isKnown(word)));
  const isWrapper = name === "runuser" && args.some((word) => /^(?:-[a-zA-Z]*u|--us)/.test(word));
  const end = args.indexOf("--");
  const rest = isWrapper ? args.slice(readOptions(args, RUNUSER).end) : end === -1 ? [] : args.slice(end + 1);
  return [...texts, ...(hidden ? [UNSEEN] : []), ...command(rest)];
}

/** `sg GROUP TEXT`, `sg - GROUP -c TEXT`. */
function insideGroup(args: Argv): Inside[] {
  const [, ...words] = args.filter((word) => word !== "-");
  return insideEval(words.filter((word) => word !== "-c").slice(0, 1));
}

function insideGit(args: Argv): Inside[] {
  const options = GLOBAL_OPTIONS["git"];
  const [subcommand, ...rest] = options ? args.slice(readOptions(args, options).end) : args;
  switch (subcommand) {
    case "submodule": {
      const at = rest.indexOf("foreach");
      return at === -1 ? [] : insideEval(rest.slice(at + 1).filter((word) => !/^--(?:rec|q)|^-q$/.test(word)));
    }
    case "rebase":
      return rest.flatMap((word, index) => {
        const found = /^(?:-[a-zA-Z]*?x|--ex[ec]*(?:=|$))([\s\S]*)$/.exec(word);
        const text = found && (found[1] || rest[index + 1]);
        return text ? [code(text)] : [];
      });
    case "bisect":
      return rest[0] === "run" ? command(rest.slice(1)) : [];
    case "filter-branch":
      return [UNSEEN];
    default:
      return [];
  }
}

function inputOf(input: readonly string[]): Inside[] {
  return input.length === 0 ? [UNSEEN] : input.map(code);
}

function code(text: string): Inside {
  return { type: "code", text };
}

function command(argv: Argv): Inside[] {
  return argv.length === 0 ? [] : [{ type: "command", argv }];
}

const SHELL_FLAGS =
  /^--?(?:debug|debugger|dump-po-strings|dump-strings|help|login|noediting|noprofile|norc|posix|pretty-print|protected|restricted|verbose|version|wordexp)$/;

/** `bash -c TEXT`, `bash FILE`, or commands from its input. What a file says is not looked at, like that of any program. */
function insideShell(args: Argv, input: readonly string[]): Inside[] {
  let at = 0;
  let isText = false;
  let isInput = false;
  let isSure = true;
  for (let option = args[0]; option !== undefined && /^[-+]/.test(option); option = args[at]) {
    at++;
    if (option === "--" || option === "-") break;
    if (SHELL_FLAGS.test(option)) continue;
    isSure &&= isKnown(option) && !/^--|^-(?:rcfile|init-file)$/.test(option);
    isText ||= option.includes("c");
    isInput ||= option.includes("s");
    at += option.match(/[oO]/g)?.length ?? 0;
  }
  const hidden = isSure && args.slice(0, at).every(isKnown) ? [] : [UNSEEN];
  const operand = args[at];
  if (isText) return operand === undefined ? hidden : [...hidden, code(operand)];
  if (operand === undefined || isInput || INPUT_PATH.test(operand)) return [...hidden, ...inputOf(input)];
  return isFile(operand) ? hidden : [UNSEEN];
}

function insideWrapper(name: string, args: Argv, wrapper: Wrapper): Inside[] {
  if (name === "env") {
    const split = splitString(args, wrapper);
    if (split) return split;
  }
  const { end, isSure } = readOptions(args, wrapper);
  if (name === "command" && args.slice(0, end).some((option) => /^-\w*[vV]/.test(option))) return [];
  let at = end + wrapper.operands;
  while (wrapper.assigns && args[at]?.includes("=")) at++;
  const before = args.slice(0, at);
  const hidden = !isSure || before.some((word) => word.includes(SPLIT) || assignsCode(word));
  return [...(hidden ? [UNSEEN] : []), ...wrapped(name, args.slice(at), args.slice(0, end))];
}

function wrapped(name: string, words: Argv, options: Argv): Inside[] {
  switch (name) {
    case "xargs":
      return command(fromInput(words, options));
    case "flock":
      return /^(?:-c|--c[a-z]*)$/.test(words[0] ?? "") ? insideEval(words.slice(1, 2)) : command(words);
    case "setarch":
      // The architecture may be left out, and options may come behind it.
      return [...command(words), ...command(words.slice(1).filter((_, index, rest) => index >= firstOperand(rest)))];
    default:
      return command(words);
  }
}

function firstOperand(words: Argv): number {
  return Math.max(
    0,
    words.findIndex((word) => !word.startsWith("-")),
  );
}

/** The words `xargs` runs: what it reads comes at the end, or where `-I` says. Other options than common ones hide it. */
function fromInput(words: Argv, options: Argv): Argv {
  if (words.length === 0) return [];
  let place: string | undefined;
  let isCounted = false;
  for (let at = 0; at < options.length; at++) {
    const option = options[at] ?? "";
    if (/^--(?:null|no-run-if-empty|verbose|exit|open-tty|interactive|)$/.test(option)) continue;
    const counted = /^--(?:arg-file|delimiter|max-args|max-chars|max-procs|process-slot-var)(=|$)/.exec(option);
    const [, letter, value] = /^-[0rtpxo]*(?:([aEILnPsdi])([\s\S]*))?$/.exec(option) ?? [];
    const replace = /^--replace(?:=([\s\S]+))?$/.exec(option);
    if (replace || letter === "i" || letter === "I") {
      if (place !== undefined) return [SPLIT];
      place = replace?.[1] || value || (letter === "I" ? (options[++at] ?? "") : "{}");
    } else if (counted) at += counted[1] === "" ? 1 : 0;
    else if (letter !== undefined) at += value === "" ? 1 : 0;
    else if (!/^-[0rtpxo]+$/.test(option)) return [SPLIT];
    isCounted ||= /[nL]/.test(letter ?? "") || option.startsWith("--max-args");
  }
  if (place === undefined) return [...words, SPLIT];
  return place === "" || isCounted ? [SPLIT] : words.map((word) => word.replaceAll(place, SPLIT));
}

/** `env -S TEXT`: the words of a text, then the other words. */
function splitString(args: Argv, wrapper: Wrapper): Inside[] | undefined {
  for (let at = 0; args[at]?.startsWith("-"); at += optionLength(args[at] ?? "", wrapper)) {
    const option = args[at] ?? "";
    const found = /^(?:--s[a-z-]*(?:=([\s\S]*))?|-[^-uC]*?S([\s\S]*))$/.exec(option);
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
    const end = rest.findIndex((next, at) => next === ";" || (next === "+" && rest[at - 1] === "{}"));
    return command((end === -1 ? rest : rest.slice(0, end)).map((next) => next.replaceAll("{}", HOLE)));
  });
}

/** `$x` may be an `-exec` with all its words; `*.c` and `"$dir"` may not, as far as one can be honest about it. */
function hiddenAction(word: string): Inside[] {
  return word === SPLIT ? [UNSEEN] : [];
}
