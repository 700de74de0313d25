import { constants } from "node:os";
import { dirname } from "node:path";
import type { ToolDetails } from "../../core/tool-result.ts";
import { type Cut, type Limits, tailLines } from "../../core/truncate.ts";
import { binaryKind, imageMime } from "../files/file-magic.ts";
import { plural, shownSize, withNotices } from "../notices.ts";
import type { CgroupChange } from "./cgroup.ts";
import type { Captured } from "./output-sink.ts";
import type { Cause, Exit } from "./process-run.ts";

/** The output as the model reads it, and what has to be said about it. */
export function shownOutput(captured: Captured, limits: Limits): { text: string; notices: string[]; cut: boolean } {
  if (captured.binary) return { text: "", notices: [binaryWords(captured)], cut: true };
  const cut = tailLines(captured.text, limits);
  const notices = captured.hasNul ? [binaryWords(captured)] : [];
  if (!cut.cut && !captured.headless) return { text: captured.text, notices, cut: false };
  return { text: cut.text, notices: [...notices, cutWords(cut, captured)], cut: true };
}

/** What of a command's output is ours: the path of its text in messages, and the trap that saves. */
export type Own = { textPath: string; ownText: string };

/**
 * The text without what is ours: messages of the shell come under the name any shell has instead of a path that means
 * nothing to the model, and the trap that saves, which `set -v` prints as bash reads it, is left out.
 */
export function withShellName(text: string, { textPath, ownText }: Own, shellKind: string): string {
  const kept = text.includes(ownText)
    ? text.replaceAll(`trap -- '${ownText}' EXIT\n`, "").replaceAll(ownText, "")
    : text;
  const folder = dirname(textPath);
  if (!kept.includes(folder)) return kept;
  const path = escaped(textPath);
  // busybox says `sh: FILE: line 3: `, dash `sh: 3: FILE: `.
  const named = shellKind === "sh" ? kept.replace(new RegExp(`\\bsh: (\\d+: )?${path}: `, "g"), "sh: $1") : kept;
  // A function that was carried is of a file nobody wrote, and has its line numbers.
  const carried = new RegExp(`${escaped(folder)}/restore: line \\d+: `, "g");
  return named.replace(carried, `${shellKind}: `).replaceAll(`${textPath}: `, `${shellKind}: `);
}

function escaped(path: string): string {
  return path.replace(/[^\w/]/g, "\\$&");
}

function binaryWords({ totalBytes, magic, file }: Captured): string {
  const kind = imageMime(magic) ?? binaryKind(magic);
  const what = kind === undefined || kind === "binary data" ? "" : ` (${kind})`;
  return `binary output, ${plural(totalBytes, "byte")}${what}${whereWords(file)}`;
}

function cutWords(cut: Cut, { totalBytes, totalLines, headless, file }: Captured): string {
  const lines = `the last ${cut.keptLines} of ${plural(totalLines, "line")}`;
  // Where only the window was cut, its first line is as a rule not whole.
  const inside = headless && !cut.cut ? ", the first of them without its beginning" : "";
  const partial = cut.lineCut ? ", its beginning cut" : inside;
  return `output cut: shown are ${lines}${partial}, ${shownSize(cut.keptBytes)} of ${shownSize(totalBytes)}${whereWords(file)}`;
}

function whereWords(file: Captured["file"]): string {
  if (file === undefined) return "";
  return file.whole ? `; all of it is in ${file.path}` : `; its beginning and end are in ${file.path}`;
}

/** How the command ended, last in the text and never something it printed. Empty for success. */
export function endingWords(cause: Cause, exit: Exit | undefined, timeoutMs: number): string[] {
  switch (cause) {
    case "timeout":
      return [
        `timed out after ${timeoutMs / 1000} s; its processes were killed and the shell is as before it; for a server use background, for long work a higher timeout`,
      ];
    case "cancel":
      return ["cancelled; its processes were killed and the shell is as before it"];
    case "exit":
      return exit === undefined ? ["its end is unknown"] : exitWords(exit);
  }
}

function exitWords({ code, signal }: Exit): string[] {
  if (signal !== undefined) return [`the shell was killed by ${signal} (exit code ${code})`];
  if (code === 0) return [];
  const name = code > 128 ? signalName(code - 128) : undefined;
  return [name === undefined ? `exit code ${code}` : `exit code ${code}, which is 128 + ${name}`];
}

function signalName(number: number): string | undefined {
  return Object.entries(constants.signals).find(([, value]) => value === number)?.[0];
}

/** What the container refused or killed while the command ran. */
export function limitWords({ oomKills, forksRefused }: CgroupChange): string[] {
  const words: string[] = [];
  if (oomKills > 0) {
    const killed = oomKills === 1 ? "one process" : `${oomKills} processes`;
    words.push(`out of memory: the container's limit was reached and the kernel killed ${killed}`);
  }
  if (forksRefused > 0)
    words.push("too many processes: the container's limit was reached and a process could not start");
  return words;
}

/** The same as a field, which no output can imitate. */
export function limitDetails({ oomKills, forksRefused }: CgroupChange): Pick<ToolDetails, "limits_reached"> {
  const reached = [
    ...(oomKills > 0 ? (["memory"] as const) : []),
    ...(forksRefused > 0 ? (["processes"] as const) : []),
  ];
  return reached.length === 0 ? {} : { limits_reached: reached };
}

/** The whole text: output, then notices, then how it ended. Never empty. */
export function resultText(output: string, notices: readonly string[]): string {
  return withNotices(output === "" ? "(no output)" : output, notices);
}
