import { dirname } from "node:path";

/** What a text left in its shell, as printed by that shell itself; bytes as latin1. */
export type Left = {
  cwd: string;
  umask: string;
  variables: Map<string, string>;
  functions: string;
  aliases: string;
  /** The directory was gone when the next command began, which then began in one above it. */
  isFolderGone?: boolean;
};

/** Not carried, or another thing in each shell. */
const SHELL_OWNED =
  /^(BASH|BASHOPTS|BASHPID|BASH_\w+|COMP_WORDBREAKS|COPROC|COPROC_PID|DIRSTACK|EPOCH\w+|EUID|FUNCNAME|GROUPS|HISTCMD|HOSTNAME|LINENO|PIPESTATUS|POSIXLY_CORRECT|PPID|PWD|RANDOM|SECONDS|SHELLOPTS|SHLVL|SRANDOM|UID|_|__glovebox\w*)$/;
/** Functions under the names of the words that carry the state are not carried. */
const NOT_CARRIED = "alias builtin declare enable eval local mapfile printf pwd shopt trap umask unset".split(" ");

/**
 * Parses directory, umask, `declare -p`, functions, aliases and local variables, each ended by a NUL. With `before`
 * read-only variables are what they were before, since they are not carried.
 */
export function leftBy(printed: string, root: string, before?: Left): Left {
  const [cwd = "", umask = "", declared = "", functions = "", aliases = "", locals = ""] = printed.split("\0");
  const here = (text: string): string => text.replaceAll(dirname(root), "PLACE");
  const local = new Set(variablesOf(locals).keys());
  const variables = new Map<string, string>();
  for (const [name, line] of variablesOf(here(declared))) {
    if (SHELL_OWNED.test(name)) continue;
    const isKept = !/^declare -\w*r/.test(line) && !local.has(name);
    const kept = isKept ? line : before?.variables.get(name);
    if (kept !== undefined) variables.set(name, kept);
  }
  return { cwd: here(cwd), umask: umask.trim(), variables, functions: withoutOurs(here(functions)), aliases };
}

function variablesOf(printed: string): Map<string, string> {
  return new Map(
    printed.split("\n").flatMap((line): [string, string][] => {
      const name = /^declare -\S+ (\w+)/.exec(line)?.[1];
      return name === undefined ? [] : [[name, line]];
    }),
  );
}

function withoutOurs(functions: string): string {
  return functions
    .replaceAll(/^declare -fr? \S+\n/gm, "")
    .replaceAll(/^declare -frx/gm, "declare -fx")
    .split(/^(?=\S+ \(\) ?\n\{|declare -f)/m)
    .filter((part) => !NOT_CARRIED.includes(/^(?:declare -\S+ )?(\S+)/.exec(part)?.[1] ?? ""))
    .join("");
}

type PlainPart = "cwd" | "umask" | "functions" | "aliases";

export function differences(got: Left, wanted: Left): string[] {
  const plain = (
    (got.isFolderGone ? ["umask", "functions", "aliases"] : ["cwd", "umask", "functions", "aliases"]) as PlainPart[]
  ).flatMap((part) => (got[part] === wanted[part] ? [] : [`${part}: got ${got[part]}, wanted ${wanted[part]}`]));
  const names = new Set([...got.variables.keys(), ...wanted.variables.keys()]);
  return [
    ...plain,
    ...[...names].flatMap((name) => {
      const [is, should] = [got.variables.get(name), wanted.variables.get(name)];
      return inOrder(is) === inOrder(should) ? [] : [`${name}: got ${is}, wanted ${should}`];
    }),
  ];
}

/** The order in an associative array is that of its making. */
function inOrder(line: string | undefined): string | undefined {
  return line !== undefined && /^declare -\w*A/.test(line) ? [...line].toSorted().join("") : line;
}
