import type { EgressRecord, SessionRecord } from "../core/events.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import type { RunResult } from "../session/result.ts";
import { countWords } from "./words.ts";

type Place = { host: string; port: number | null };

/** `example.com:443`; a name alone where one was asked for. */
export function placeWords({ host, port }: Place): string {
  const shown = clip(visibleLine(host), 260);
  return port === null ? shown : `${shown}:${port}`;
}

/** Lines of refused hosts that one call may have: what asks for names can ask for any number of them. */
const MAX_LINES = 5;

type Verdict = Pick<EgressRecord, "call_id" | "host" | "port" | "verdict" | "rule_id" | "why">;

/** Says of each host that was refused, or could not be reached, once for each call. */
export class RefusalNotes {
  readonly #said = new Map<string | null, Set<string>>();

  /** Undefined where there is nothing to say, or nothing new. */
  words(event: Verdict): string | undefined {
    if (event.verdict === "allowed") return undefined;
    const said = this.#said.get(event.call_id) ?? new Set();
    this.#said.set(event.call_id, said);
    const key = JSON.stringify([event.host, event.port, event.verdict]);
    if (said.has(key) || said.size > MAX_LINES) return undefined;
    said.add(key);
    if (said.size > MAX_LINES) return "more hosts were refused: `--egress` of `glovebox sessions show` lists all";
    return verdictWords(event);
  }
}

function verdictWords({ host, port, verdict, rule_id: rule, why }: Omit<Verdict, "call_id">): string {
  const reason = why === null ? "" : `: ${clip(visibleLine(why), 300)}`;
  if (verdict === "failed") return `not reached: ${placeWords({ host, port })}${reason}`;
  return `refused: ${placeWords({ host, port })} (rule ${visibleLine(rule)})${reason}`;
}

/** What a person, or nobody, said of a host. */
export function hostAnswerWords(event: Omit<Extract<SessionRecord, { type: "host_approval" }>, "type">): string {
  const who = event.by === "person" ? "a person" : "nobody there";
  const reach = event.decision === "yes" && event.scope === "session" ? ", for the session" : "";
  return `approval: ${event.decision} to ${placeWords(event)} (${who}${reach}; rule ${visibleLine(event.rule_id)})`;
}

/** Places that are listed one by one. */
const MAX_PLACES = 20;

/** Each host that was refused, by which rule and why, and the flags that would admit it. */
export function refusedPlaces({ refused, refused_unlisted: unlisted }: RunResult["egress"]): string[] {
  const shown = refused.slice(0, MAX_PLACES);
  const more = refused.length - shown.length + unlisted;
  const { flags, left } = allowFlags(refused);
  return [
    ...shown.map(({ rule, ...place }) => verdictWords({ ...place, verdict: "denied", rule_id: rule })),
    ...(more > 0 ? [`refused: ${countWords(more, "more connection")}`] : []),
    ...(flags === "" ? [] : [`run again with ${flags}${left > 0 ? `, and ${left} more` : ""}`]),
  ];
}

/** How many hosts were refused, and the flags that would admit those a flag can admit; none when there were none. */
export function refusedLines({ egress, session_id: session }: Pick<RunResult, "egress" | "session_id">): string[] {
  const hosts = new Set(egress.refused.map(({ host }) => host));
  if (hosts.size === 0) return [];
  const more = egress.refused_unlisted > 0 ? " and more" : "";
  const { flags, left } = allowFlags(egress.refused);
  const rest = left > 0 ? ` … and ${left} more: glovebox sessions show ${session ?? "latest"} --egress` : "";
  return [`${countWords(hosts.size, "host")}${more} refused${flags === "" ? "" : ` · run again with ${flags}${rest}`}`];
}

const MAX_FLAGS = 3;

type Refused = RunResult["egress"]["refused"][number];

/** `--allow-host HOST` for each place that it would admit; `left` have no room. */
function allowFlags(refused: readonly Refused[]): { flags: string; left: number } {
  const places = refused
    .filter(isForFlag)
    .map(({ host, port }) => (port === null || port === 443 ? host : `${host}:${port}`));
  const flags = [...new Set(places)].map((place) => `--allow-host ${place}`);
  return { flags: flags.slice(0, MAX_FLAGS).join(" "), left: Math.max(0, flags.length - MAX_FLAGS) };
}

/**
 * Where no rule names the host, or one asks and nobody answered, and not in a layer that binds flags: what is refused for
 * its address, its bytes or a single request, or was by a person, is not the flag's to open.
 */
function isForFlag({ host, rule, why }: Refused): boolean {
  return (
    /^(flag\/allow-host|(built-in|user|flag)\/network\.(allow|ask\[\d+\]))$/.test(rule) &&
    /^(no rule admits it|nobody .*)$/.test(why ?? "") &&
    /^[a-z\d_-]+(\.[a-z\d_-]+)+$/.test(host)
  );
}
