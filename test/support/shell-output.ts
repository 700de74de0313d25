import { readable } from "../../src/toolhost/shell/output-text.ts";
import type { PlainEnd } from "./plain-bash.ts";

export const SIGNALS: Record<string, number> = {
  SIGHUP: 1,
  SIGINT: 2,
  SIGQUIT: 3,
  SIGABRT: 6,
  SIGKILL: 9,
  SIGUSR1: 10,
  SIGSEGV: 11,
  SIGPIPE: 13,
  SIGTERM: 15,
  SIGXCPU: 24,
  SIGXFSZ: 25,
};

export const KNOWN_NOTICES = [
  /^\[exit code \w+(, which is \w+ \+ SIG\w+)?\]$/,
  /^\[the shell was killed by SIG\w+ \(exit code \w+\)\]$/,
  /^\[syntax error: /,
  /^\[the shell ended without saving its state: /,
  /^\[job \w+ goes on in the background: /,
  /^\[CRLF line endings /,
  /^\[binary output, /,
  /^\[output cut: /,
];

/**
 * Texts whose output and state are not compared, but the next call and the bounds: what the documents say to differ, what
 * is a matter of which process is faster, and corners where bash's own answer depends on how it was started.
 */
export const OTHERWISE = [
  /\r/,
  // Children beside it, and who ends first.
  /(?<![&<>])&(?![&>])|(?<!\|)\|(?!\|)|<\(|>\(|\bcoproc\b|\bkill\b|\$\$|\$!|PPID|\bulimit\b/,
  // Modes and variables in which bash reads or prints everything otherwise, also what was started with.
  /\benable\b|compat|posix|extdebug|functrace|BASH|\bIFS\b|\bPS4\b|OPTIND|\$\{?_\b|declare -n|readonly -f/i,
  // `trap` is a function of ours: seen where functions are traced, and not itself where it is asked for as a builtin.
  /trap[\s\S]*(set \S*[xvT]|DEBUG|ERR|RETURN|builtin|command|>&-)|(set \S*[xvT]|DEBUG|ERR|RETURN|builtin|command|>&-)[\s\S]*trap/,
  // An EXIT trap expands no aliases.
  /alias[\s\S]*trap|trap[\s\S]*alias/,
  // bash prints some functions with here-documents in a way that it cannot read again; the next call says so.
  /<<[\s\S]*\(\)|\(\)[\s\S]*<</,
];

/** A listing of all there is shows how the shell was started. */
export function listsAll(output: string): boolean {
  return output.includes("BASH_VERSINFO");
}

export function shownOutput({ output }: PlainEnd): string {
  const { text, unreadable } = readable(output, false);
  return (unreadable > 0.1 ? "" : text) || "(no output)";
}

/** The lines in brackets behind the wanted output; undefined where something else is there. */
export function noticesAfter(got: string, wanted: string): string[] | undefined {
  if (!got.startsWith(wanted)) return undefined;
  const rest = got.slice(wanted.length);
  if (rest === "") return [];
  const lines = wanted.endsWith("\n") ? rest : rest.slice(1);
  if (!wanted.endsWith("\n") && !rest.startsWith("\n")) return undefined;
  return /^(\[[^\n]*\](\n|$))+$/.test(lines) ? lines.split("\n") : undefined;
}
