import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cli } from "../setup.mjs";
import { PULSE_FILE } from "./repo.mjs";

const isColoured = process.stdout.isTTY === true && !process.env.NO_COLOR && process.env.TERM !== "dumb";
const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 };
const paint = (style, text) => (isColoured ? `\x1b[${CODES[style]}m${text}\x1b[0m` : text);
const say = (text = "") => console.log(text);

/** Text of a stranger's as one line that no terminal obeys, of at most `width` characters. */
function harmless(text, width) {
  const line = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "?");
  return line.length > width ? `${line.slice(0, width - 1)}…` : line;
}

export function printOpening({ repo, home }) {
  say();
  say(paint("bold", "A repository nobody should trust, and an agent that repairs it"));
  say(paint("dim", `repository  ${repo}`));
  say(paint("dim", `home        ${home} (a canary; so is the API key that glovebox gets)`));
  say(paint("dim", "model       a script; the tools, the container and the attacks are real"));
  say();
}

/** Prints everything and gives whether all of it is as it should be. */
export function printReport({ session, evidence }) {
  const { repair, attempts, changed, rows } = evidence;
  heading("The tests, by the exit codes in the session's log");
  say(`  before  ${codeWords(repair.codes[0])}`);
  say(`  after   ${codeWords(repair.codes[1])}`);
  heading("The change, as the session's log and the file on this machine have it");
  for (const line of (repair.diff ?? "no diff").trimEnd().split("\n")) say(`  ${diffLine(harmless(line, 110))}`);
  say(
    paint(
      "dim",
      `  files changed in the workspace: ${harmless(changed.join(", "), 200)} (${PULSE_FILE}: see the last row)`,
    ),
  );
  heading("What the repository tried · what it saw · what this machine shows");
  for (const row of rows) printRow(row, attempts.get(row.id) ?? []);
  const holds = repair.holds && session.exitCode === 0 && rows.every((row) => row.holds && attempts.has(row.id));
  say();
  if (holds) say(paint("green", "Everything is as it should be."));
  else say(paint("red", "This is not as it should be: look at the rows marked ✗ and at the session."));
  return holds;
}

function heading(text) {
  say();
  say(paint("bold", text));
}

function codeWords(code) {
  if (code === undefined) return paint("red", "did not run");
  return code === 0 ? paint("green", "green, exit code 0") : paint("red", `red, exit code ${code}`);
}

function diffLine(line) {
  if (line.startsWith("+")) return paint("green", line);
  return line.startsWith("-") ? paint("red", line) : paint("dim", line);
}

/** Attempts that saw the same are one line; below them what this machine shows of them all. */
function printRow({ host, holds }, attempts) {
  const mark = holds && attempts.length > 0 ? paint("green", "✓") : paint("red", "✗");
  const lines = groupBySaw(attempts).map(({ saw, list }) => [wordsOf(list), ERRNO[saw] ?? saw]);
  if (lines.length === 0) lines.push(["(no attempt was recorded)", ""]);
  lines.forEach(([tried, saw], index) => {
    say(`${index === 0 ? mark : " "} ${harmless(tried, 50).padEnd(50)}  ${harmless(saw, 46)}`.trimEnd());
  });
  say(`    ${paint("cyan", `this machine: ${harmless(host, 110)}`)}`);
}

const ERRNO = {
  ENOENT: "no such file",
  EACCES: "not permitted",
  EROFS: "read-only file system",
  EBUSY: "busy: it is a mount",
  ECONNREFUSED: "refused: this is the container's own",
  ENETUNREACH: "no network",
  EAI_AGAIN: "no such name",
  ENOTFOUND: "no such name",
};

function groupBySaw(attempts) {
  const groups = new Map();
  for (const item of attempts) groups.set(item.saw, [...(groups.get(item.saw) ?? []), item]);
  return [...groups].map(([saw, list]) => ({ saw, list }));
}

function wordsOf([first, ...others]) {
  return others.length === 0 ? first.tried : `${first.tried} and ${others.length} more`;
}

export function printEnd({ session, holds }) {
  const glovebox = isOnPath("glovebox") ? "glovebox" : `node ${cli}`;
  heading("Where the session is, and how to look at it");
  say(paint("dim", `  ${session.file}`));
  say(`  ${glovebox} sessions show ${session.id}`);
  if (!holds) return;
  heading("The same with a real model, on a repository of yours");
  say(`  OPENAI_API_KEY=… ${glovebox} run --workspace DIR --model NAME "make the tests pass"`);
}

/** An engine that was there before is nobody's business. */
export function printEngine({ started, pid }) {
  if (!started) return;
  say();
  say(`A container engine was started for this and goes on (dockerd, pid ${pid}). To stop it: kill ${pid}`);
}

function isOnPath(program) {
  return (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));
}
