import type { JsonObject } from "../../core/json.ts";
import { textOf } from "../../core/messages.ts";
import type { ToolResult } from "../../core/tool-result.ts";
import type { ToolName } from "../../tools/catalogue.ts";
import type { Arena } from "./arena.ts";
import type { Seen, Step } from "./attack.ts";

/** What proves that the refusals beside it mean something. */
export function control(step: Step): Step {
  return { ...step, isControl: true };
}

/** Lines of system calls, each of which must come to one of the outcomes that `gives` lists: `EPERM ENOSYS`. */
export function calls(gives: string, ...lines: string[]): Step {
  const expected = gives.split(" ");
  return attempt(lines.join(", "), async ({ inside }) => {
    const outcomes = await inside.attempt(lines);
    const wrong = outcomes.findIndex((outcome) => !expected.includes(outcome) && outcome !== "absent");
    if (wrong >= 0) return { holds: false, seen: `\`${lines[wrong]}\` gave ${outcomes[wrong]}` };
    return { holds: true, seen: [...new Set(outcomes)].join(" ") };
  });
}

/** A command whose status and words, as one text, must match. */
export function shell(command: string, gives: RegExp, seconds?: number): Step {
  return attempt(command, async ({ inside }) => judged(await inside.shell(command, seconds), gives));
}

/** A tool call whose status, rule of denial and words, as one text, must match. */
export function tool(name: ToolName, args: JsonObject, gives: RegExp): Step {
  return attempt(`${name} ${JSON.stringify(args)}`, async ({ inside }) => judged(await inside.call(name, args), gives));
}

/** Whatever is said to a call, it is said by a tool host that lives; the host's side shows whether it did harm. */
export const ANSWERED = /^(ok|failed|invalid|denied)/;
export const DONE = /^ok/;
export const REFUSED = /^(failed|denied)/;

/** The six file tools with one path. */
export function everyTool(path: string): Step[] {
  return [
    tool("read", { path }, ANSWERED),
    tool("write", { path, content: "harm" }, ANSWERED),
    tool("edit", { path, edits: [{ oldText: "canary", newText: "harm" }] }, ANSWERED),
    tool("ls", { path }, ANSWERED),
    tool("grep", { pattern: "canary", path }, ANSWERED),
    tool("find", { pattern: "*", path }, ANSWERED),
  ];
}

/** Anything else, done from the host: gives what is wrong, or what was seen. */
export function attempt(what: string, act: (arena: Arena) => Promise<Seen>): Step {
  return { isControl: false, what, act };
}

/** A fact that must be so, in words that say it. */
export function fact(what: string, look: (arena: Arena) => Promise<unknown>, gives: RegExp): Step {
  return attempt(what, async (arena) => {
    const seen = String(await look(arena));
    return { holds: gives.test(seen), seen };
  });
}

/** `ok`, `denied by RULE` or another status, then what was said. */
export function summaryOf({ status, denial, content }: ToolResult): string {
  return `${status}${denial ? ` by ${denial.rule}` : ""}: ${textOf(content).trim()}`;
}

function judged(result: ToolResult, gives: RegExp): Seen {
  const summary = summaryOf(result);
  const holds = gives.test(summary);
  return { holds, seen: holds ? (summary.split(":")[0] ?? "") : summary };
}
