import { domainToUnicode } from "node:url";
import { visibleLine } from "../core/visible.ts";
import type { HostAnswer, HostQuestion } from "../egress/host-approver.ts";
import type { Paint } from "./paint.ts";

/**
 * The question as it stands on the terminal. The host is in the letters it is looked up by: what it reads in others is a
 * warning beside it, since such letters can look like those of another name.
 */
export function hostQuestionLines(question: HostQuestion, call: string | undefined, paint: Paint): string[] {
  const { host, port, rule } = question;
  const reading = readingOf(host);
  return [
    paint("bold", `Connect to ${visibleLine(host)}, port ${port}?`),
    ...(reading === undefined
      ? []
      : [paint("yellow", `  ! it has letters beyond a to z and reads \`${reading}\`: it may look like another name`)]),
    `  ${call === undefined ? "asked for by no running call" : `for ${call}`}`,
    paint("dim", `rule ${visibleLine(rule)}; "session" covers this host and port, until the session ends`),
  ];
}

export const HOST_PROMPT = "[y]es, once; for this [s]ession; [n]o: ";

/** Anything but a clear yes is a no. */
export function parseHostAnswer(line: string): HostAnswer {
  switch (line.trim().toLowerCase()) {
    case "y":
    case "yes":
    case "once":
      return { type: "yes", scope: "connection" };
    case "s":
    case "session":
    case "a":
    case "always":
      return { type: "yes", scope: "session" };
    default:
      return { type: "no" };
  }
}

/** What a name with an A-label reads in the letters of its language. */
function readingOf(host: string): string | undefined {
  if (!/(^|\.)xn--/i.test(host)) return undefined;
  return visibleLine(domainToUnicode(host) || host);
}
