import { tailChars } from "../../core/truncate.ts";

/** How far from the end a question may stand: a program that got no answer says a line or two more. */
const LAST_LINES = 3;

/** `[Y/n]`, `(yes/no)`, `(y/N/a)`, as package managers, git and installers ask. */
const CHOICE = /[[(]\s*y(?:es)?\s*\/\s*no?\b[^\])\n]{0,40}[\])]/i;
/** What python's `input` says where there is none. */
const NO_INPUT = /\bEOFError: EOF when reading a line\s*$/;

const WORDS =
  "it asked a question and found the end of the input, since commands have no stdin: answer by an option of the program, such as -y, or by a pipe into it";

/**
 * A way out for a program that asked somebody and met the end of its input. Who answers also ends the line; so what
 * follows a question on its line, or no newline at all, tells one that nobody answered from a text about questions.
 */
export function questionWords(output: string, exitCode: number): string[] {
  const last = tailChars(output, 2000).trimEnd().split("\n").slice(-LAST_LINES);
  return isOpenQuestion(tailChars(output, 400)) ||
    (exitCode !== 0 && (last.some(isUnanswered) || NO_INPUT.test(tailChars(output, 400))))
    ? [WORDS]
    : [];
}

/** The output ends in the middle of a line, with a question. */
function isOpenQuestion(end: string): boolean {
  const line = end.slice(end.lastIndexOf("\n") + 1);
  const choice = CHOICE.exec(line);
  const afterChoice = choice && line.slice(choice.index + choice[0].length);
  return (
    (afterChoice !== null && /^\s*[?:>]?\s*$/.test(afterChoice)) || /\S\? ?(?:[[(][^\])\n]{1,40}[\])]:? ?)?$/.test(line)
  );
}

function isUnanswered(line: string): boolean {
  const choice = CHOICE.exec(line);
  return choice !== null && /^[)\]]?\s*[?:>]?\s*\w/.test(line.slice(choice.index + choice[0].length));
}
