import { type Declaration, parseDeclarations } from "./declarations.ts";

/** What one command leaves to the next. All text is bytes as latin1 characters, since a value need not be UTF-8. */
export type ShellState = {
  cwd: string;
  umask: string;
  variables: Declaration[];
  /** Names that a shell makes by itself and that were unset. */
  unset: string[];
  functions: ShellFunction[];
  aliases: Declaration[];
};

/** `attributes` are the letters of `declare` that it has besides `f`, `text` is its definition. */
export type ShellFunction = { name: string; attributes: string; text: string };

/** Names that belong to the shell itself: assigning them means nothing, an error, or another thing than it says. */
const SHELL_OWNED = new Set(
  `BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_EXECUTION_STRING
  BASH_LINENO BASH_LOADABLES_PATH BASH_MONOSECONDS BASH_REMATCH BASH_SOURCE BASH_SUBSHELL BASH_TRAPSIG BASH_VERSINFO
  BASH_VERSION COMP_WORDBREAKS COPROC COPROC_PID DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD LINENO
  PIPESTATUS POSIXLY_CORRECT PPID PWD RANDOM SECONDS SHELLOPTS SHLVL SRANDOM UID _`.split(/\s+/),
);

/** Variables a fresh bash sets when nobody else did (bash 5.2 with an empty environment). */
export const SELF_MADE = "HOSTNAME HOSTTYPE IFS MACHTYPE OLDPWD OPTERR OPTIND OSTYPE PATH PS4 PWD SHELL TERM".split(
  " ",
);

/** Words our own scripts use once functions exist; a function of that name would stand in their way. */
export const OUR_WORDS = [
  "alias",
  "builtin",
  "declare",
  "enable",
  "eval",
  "local",
  "mapfile",
  "printf",
  "pwd",
  "shopt",
  "trap",
  "umask",
  "unset",
];

const OURS = "__glovebox";
const NAME = /^[A-Za-z_]\w*$/;

/** Where every session begins: exactly the environment it was given. */
export function firstState(root: string, env: Record<string, string>, umask: number): ShellState {
  const variables = Object.entries(env).flatMap(([name, value]) =>
    NAME.test(name) ? [{ name, attributes: "x", text: `export ${name}=${quoted(bytesOf(value))}` }] : [],
  );
  return { cwd: bytesOf(root), umask: umask.toString(8), variables, unset: [], functions: [], aliases: [] };
}

/** Variables whose name no shell can assign; they can only travel in the environment itself. */
export function unassignable(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !NAME.test(name)));
}

/** What a command saved, the items that could not be carried into that command, and the names whose value is not carried: read-only and local. */
export type Saved = { state: ShellState; lost: string[]; unsaved: string[] };

/**
 * Reads what the save script wrote: directory, umask, variables, aliases, names of lost items, local variables,
 * functions, each ended by a NUL, then the nonce. Undefined without the nonce: then the shell was cut off while writing.
 */
export function parseSaved(bytes: string, nonce: string): Saved | undefined {
  if (nonce === "" || !bytes.endsWith(`\0${nonce}`)) return undefined;
  const fields = bytes.slice(0, -nonce.length - 1).split("\0");
  const [cwd = "", umask = "", variables = "", aliases = "", lost = "", local = "", ...functions] = fields;
  // Of a shell without the builtins that tell its state, what was written is none.
  if (!cwd.startsWith("/") || !/^[0-7]+\n$/.test(umask) || variables === "") return undefined;
  const declared = parseDeclarations(variables).filter((item) => !item.name.startsWith(OURS));
  const names = new Set(declared.map((item) => item.name));
  const locals = new Set(parseDeclarations(local).map((item) => item.name));
  const isKept = (item: Declaration): boolean => !item.attributes.includes("r") && !locals.has(item.name);
  return {
    unsaved: declared.filter((item) => !isKept(item)).map((item) => item.name),
    lost: lost.split("\n").filter((name) => name !== ""),
    state: {
      cwd: cwd.replace(/\n$/, ""),
      umask: umask.trim(),
      variables: declared.filter((item) => isKept(item) && !SHELL_OWNED.has(item.name)),
      unset: SELF_MADE.filter((name) => !names.has(name)),
      functions: pairsOf(functions).filter((item) => !OUR_WORDS.includes(item.name) && !item.name.startsWith(OURS)),
      aliases: parseDeclarations(aliases),
    },
  };
}

const FUNCTION = /^declare -f(\w*) ([^\n]+)$/;

/** A lock ends with its shell: nothing could ever take a function away that every command gets read-only. */
function pairsOf(fields: readonly string[]): ShellFunction[] {
  return fields.flatMap((line, index): ShellFunction[] => {
    const [, attributes, name] = (index % 2 === 0 && FUNCTION.exec(line)) || [];
    if (attributes === undefined || name === undefined) return [];
    return [{ name, attributes: attributes.replace("r", ""), text: fields[index + 1] ?? "" }];
  });
}

/** The state may cost a command this much to restore: 1 MiB takes 40 ms. */
const MAX_STATE_BYTES = 1024 * 1024;

/** The state with its largest values left out until it is small enough, and their names. */
export function fitted(state: ShellState): { state: ShellState; dropped: string[] } {
  const items = [...state.variables, ...state.functions];
  let size = items.reduce((sum, item) => sum + item.text.length, 0);
  if (size <= MAX_STATE_BYTES) return { state, dropped: [] };
  const dropped = new Set<string>();
  for (const item of items.toSorted((a, b) => b.text.length - a.text.length)) {
    if (size <= MAX_STATE_BYTES) break;
    dropped.add(item.name);
    size -= item.text.length;
  }
  const kept = <T extends { name: string }>(list: T[]): T[] => list.filter((item) => !dropped.has(item.name));
  return {
    state: { ...state, variables: kept(state.variables), functions: kept(state.functions) },
    dropped: [...dropped],
  };
}

/** UTF-8 bytes of `text` as latin1 characters; {@link textOfBytes} is the way back. */
function bytesOf(text: string): string {
  return Buffer.from(text, "utf8").toString("latin1");
}

export function textOfBytes(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}

/** As one word of any shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
