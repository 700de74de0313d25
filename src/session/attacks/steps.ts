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

/**
 * Lines of system calls, each of which must come to one of the outcomes that `gives` lists: `EPERM ENOSYS`. A call may
 * be absent on this processor, but not all of them.
 */
export function calls(gives: string, ...lines: string[]): Step {
  const expected = gives.split(" ");
  return attempt(lines.length === 1 ? "a system call" : `${lines.length} system calls`, async ({ inside }) => {
    const outcomes = await inside.attempt(lines);
    const there = outcomes.filter((outcome) => outcome !== "absent");
    const wrong = outcomes.findIndex((outcome) => outcome !== "absent" && !expected.includes(outcome));
    if (wrong >= 0) return { holds: false, seen: `\`${lines[wrong]}\` gave ${outcomes[wrong]}` };
    return { holds: there.length > 0, seen: [...new Set(there)].join(" ") || "none of them exists here" };
  });
}

/** A command whose status and words, as one text, must match; `means` says what that shows, in place of the status. */
export function shell(command: string, gives: RegExp, means?: string): Step {
  return attempt(command, async ({ inside }) => {
    const { holds, seen } = judged(await inside.shell(command), gives);
    return { holds, seen: holds && means !== undefined ? means : seen };
  });
}

/** The plainest control: commands run. */
export const ALIVE = control(shell("echo alive", /^ok: alive\b/));

/** A tool call that must match in status, denial and words, as {@link summaryOf} puts them together. */
export function tool(name: ToolName, args: JsonObject, gives: RegExp): Step {
  return attempt(`${name} ${JSON.stringify(args)}`, async ({ inside }) => judged(await inside.call(name, args), gives));
}

/** A denial by containment, by this rule, that says what a person could do. */
export function deniedBy(rule: string): RegExp {
  return new RegExp(`^denied by containment, ${rule.replaceAll(/[[\].]/g, "\\$&").replace("*", "\\d+")} \\(\\S.+\\):`);
}

/** A call that may come to anything, as long as a tool host that lives says so: the host's side shows what harm it did. */
export function harmless(name: ToolName, args: JsonObject): Step {
  return attempt(`${name} ${JSON.stringify(args)}`, async ({ inside }) => {
    const summary = summaryOf(await inside.call(name, args));
    const holds = ANSWERED.test(summary);
    return { holds, seen: holds ? "no harm" : summary };
  });
}

const ANSWERED = /^(ok|failed|invalid|denied)/;
export const DONE = /^ok/;

/** The six file tools with one path. */
export function everyTool(path: string): Step[] {
  return [
    harmless("read", { path }),
    harmless("write", { path, content: "harm" }),
    harmless("edit", { path, edits: [{ oldText: "canary", newText: "harm" }] }),
    harmless("ls", { path }),
    harmless("grep", { pattern: "canary", path }),
    harmless("find", { pattern: "*", path }),
  ];
}

/** Anything else: `act` says whether it met what it should have. */
export function attempt(what: string, act: (arena: Arena) => Promise<Seen>): Step {
  return { isControl: false, what, act };
}

/** Something looked at, mostly from the host, of which the words must match. */
export function fact(what: string, look: (arena: Arena) => Promise<unknown>, gives: RegExp): Step {
  return attempt(what, async (arena) => {
    const seen = String(await look(arena));
    return { holds: gives.test(seen), seen };
  });
}

/** The status, of a denial by whom, by which rule and what would allow it, then what was said. */
export function summaryOf({ status, denial, content }: ToolResult): string {
  const who = denial ? ` by ${denial.by}, ${denial.rule} (${denial.enable_with})` : "";
  return `${status}${who}: ${textOf(content).trim()}`;
}

function judged(result: ToolResult, gives: RegExp): Seen {
  const summary = summaryOf(result);
  const holds = gives.test(summary);
  return { holds, seen: holds ? shortOf(result) : summary };
}

function shortOf({ status, denial }: ToolResult): string {
  return denial ? `${status} by ${denial.rule}` : status;
}
