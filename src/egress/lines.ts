import type { RefusedInside } from "../core/outlet.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import type { Note, Notes } from "./ledger.ts";

/** Lines about hosts in one result; the rest is counted. */
const MOST_HOST_LINES = 7;

/** What the model is told of a call's connections: hosts first, then what never came to a host. At most 12 lines. */
export function linesOf({ notes, more }: Notes, inside: RefusedInside): string[] {
  const places = inTurn(placesOf(notes));
  const rest = places.slice(MOST_HOST_LINES).reduce((sum, { count, others }) => sum + count + others, more);
  return [
    ...places.slice(0, MOST_HOST_LINES).map(lineOf),
    ...(rest > 0 ? [`${counted(rest, "more connection or name", "more connections or names")} came to nothing`] : []),
    ...insideLines(inside),
  ];
}

/** The first that was met at a host and port, and how often it was something else. */
type Place = Note & { others: number };

function placesOf(notes: readonly Note[]): Place[] {
  const places = new Map<string, Place>();
  for (const note of notes) {
    const key = JSON.stringify([note.host, note.port]);
    const known = places.get(key);
    if (known) known.others += note.count;
    else places.set(key, { ...note, others: 0 });
  }
  return [...places.values()];
}

/** Each host once before any a second time. */
function inTurn(places: readonly Place[]): Place[] {
  const hosts = new Set<string>();
  const isFirst = places.map(({ host }) => !hosts.has(host) && hosts.add(host) !== undefined);
  return [...places.filter((_, index) => isFirst[index]), ...places.filter((_, index) => !isFirst[index])];
}

function lineOf({ host, port, verdict, why, rule, enableWith, count, others, isLate, isAssumed }: Place): string {
  const place = `\`${clip(visibleLine(host), 260)}${port === null ? "" : `:${port}`}\``;
  const times = count > 1 ? `, ${count} times` : "";
  const more = others > 0 ? `, and ${counted(others, "other refusal", "other refusals")}` : "";
  const what = verdict === "failed" ? "Not reached" : "Refused";
  const by = verdict === "failed" ? "" : ` (rule \`${visibleLine(rule)}\`)`;
  const remedy = enableWith === undefined ? "" : `. What a person can do: ${enableWith}`;
  const whose = isLate ? " for a job in the background" : isAssumed ? " for this call or a job" : "";
  const line = `${what}${whose}: ${place}${times}${more}${by}: ${why}${remedy}`;
  return clip(visibleLine(line), 700);
}

function insideLines({ unreachable, otherQuestions, taken, heldPorts }: RefusedInside): string[] {
  const lines: string[] = [];
  if (unreachable > 0) {
    const what = counted(unreachable, "connection to an address", "connections to addresses");
    lines.push(`${what} had no route: only names that the policy admits can be reached`);
  }
  if (otherQuestions > 0) {
    const what = counted(otherQuestions, "question", "questions");
    lines.push(`${what} for names went unanswered: only addresses are answered, no TXT, MX, SRV`);
  }
  const [first] = taken;
  if (first) {
    const more = taken.length > 1 ? `, and ${taken.length - 1} more` : "";
    const place = `\`${clip(visibleLine(first.name), 260)}:${first.port}\``;
    const holder = `\`${clip(visibleLine(first.process), 80)}\``;
    lines.push(
      `${place}${more} cannot be reached while ${holder} listens on that port: let it listen on 127.0.0.1 only`,
    );
  }
  if (heldPorts.length > 0) {
    const ports = heldPorts.slice(0, 5).join(", ");
    const more = heldPorts.length > 5 ? ` and ${heldPorts.length - 5} more` : "";
    lines.push(
      `A program could not listen on ${ports}${more}: hosts are reached by it; listen on 127.0.0.1 or another port`,
    );
  }
  return lines;
}

function counted(count: number, one: string, many: string): string {
  return `${count} ${count === 1 ? one : many}`;
}
