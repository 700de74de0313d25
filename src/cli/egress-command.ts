import { visibleLine } from "../core/visible.ts";
import { readHistory } from "../session/history.ts";
import { EgressHistory, type EgressRow } from "../session/history-egress.ts";
import { hostAnswerWords, placeWords } from "./egress-words.ts";
import type { Printer } from "./printer.ts";
import { tableLines } from "./table.ts";
import { sizeWords } from "./words.ts";

export type EgressView = { path: string; sessionId: string; json: boolean };

/** `glovebox sessions show ID --egress`: what went over the network, by host. */
export async function printEgress({ path, sessionId, json }: EgressView, out: Printer): Promise<void> {
  const history = new EgressHistory();
  let isTorn = false;
  for await (const item of readHistory(path)) {
    if (item.type === "event") history.add(item.event);
    else if (item.type === "torn") isTorn = true;
  }
  const { rows: hosts, answers: approvals } = history;
  if (json) return out.line(JSON.stringify({ version: 1, session_id: sessionId, torn: isTorn, hosts, approvals }));
  for (const line of egressLines(hosts)) out.line(line);
  for (const answer of approvals) out.line(hostAnswerWords(answer));
}

/** A row for each host and port, as far as its connections came to the same. */
export function egressLines(rows: readonly EgressRow[]): string[] {
  if (rows.length === 0) return ["no connections, and none were tried by name"];
  const head = ["HOST", "VERDICT", "CONNECTIONS", "UP", "DOWN", "RULE", "CALLS", "WHY"];
  return tableLines(head, rows.map(cellsOf));
}

function cellsOf(row: EgressRow): string[] {
  const moved = (bytes: number | null): string => (row.verdict === "denied" || bytes === null ? "-" : sizeWords(bytes));
  return [
    placeWords(row),
    row.verdict,
    String(row.connections),
    moved(row.bytes_up),
    moved(row.bytes_down),
    visibleLine(row.rule_id),
    callWords(row.calls),
    visibleLine(row.why ?? (row.via === "direct" || row.via === null ? "" : `by ${row.via}`)),
  ];
}

/** Ids of calls can be long, and many: all are in `--json`. */
const MAX_CALLS = 2;

function callWords(calls: EgressRow["calls"]): string {
  const named = calls.slice(0, MAX_CALLS).map((id) => (id === null ? "none" : visibleLine(id)));
  const more = calls.length - named.length;
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}
