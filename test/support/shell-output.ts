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

/** What the documents say to differ: then only the next call, the state and the bounds are looked at. */
export const OTHERWISE = [
  // Of CRLF in here-documents, whose bytes are kept.
  /<<[\s\S]*\r\n|\r\n[\s\S]*<</,
  // `trap` is a function of ours: seen where functions are traced, and not itself where `builtin` is something else.
  /trap[\s\S]*(set -T|extdebug)|(set -T|extdebug)[\s\S]*trap/,
  // With a read-only function of that name nothing can tell the state for certain.
  /readonly -f (alias|builtin|declare|eval|local|printf|pwd|trap|unset)/,
  // It does not list the traps that functions do not see, and those are over when the EXIT trap begins.
  /trap[\s\S]*(DEBUG|ERR|RETURN)[\s\S]*(trap|EXIT|0)|(trap|EXIT|0)[\s\S]*(DEBUG|ERR|RETURN)/,
  /builtin *\(\)[\s\S]*trap/,
];

/** CRLF is read as LF, but not in here-documents. */
export function asRead(text: string): string {
  return text.includes("<<") ? text : text.replaceAll("\r\n", "\n");
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

/** With a child beside it, the order of lines is anybody's. */
export const RACING = /(?<![&<>|])&(?![&>\d-])|\||\bcoproc\b/;

export function noticesAmong(got: string, wanted: string): string[] | undefined {
  const rest = got.split("\n");
  for (const line of wanted.split("\n")) {
    const at = rest.indexOf(line);
    if (at === -1 && line !== "" && line !== "(no output)") return undefined;
    if (at !== -1) rest.splice(at, 1);
  }
  const lines = rest.filter((line) => line !== "");
  return lines.every((line) => /^\[.*\]$/.test(line)) ? lines : undefined;
}
