import { matchesPath } from "../core/path-rules.ts";
import { hostText } from "./host-text.ts";
import { covers, deniesAll, type HostRule, seesRequests } from "./hosts.ts";
import type { Layer, Ruled } from "./layer.ts";

/** Rules of one file that another one of it makes void, in words. What forbids wins, so most of them are safe. */
export function contradictionsIn({ lists, hosts, choices }: Layer): string[] {
  return [...voidPaths(lists), ...voidHosts(hosts, choices["approval.net"]), ...voidLimits(hosts.allow?.items ?? [])];
}

function voidPaths(lists: Layer["lists"]): string[] {
  const opens = [...(lists["workspace.writable"]?.items ?? []), ...(lists["workspace.unprotect"]?.items ?? [])];
  const closes = [...(lists["workspace.hidden"]?.items ?? []), ...(lists["workspace.readonly"]?.items ?? [])];
  return opens.flatMap(({ value, rule }) => {
    const against = closes.find((item) => matchesPath(item.value, value));
    return against ? [words(rule, value, against)] : [];
  });
}

function voidHosts({ allow, ask, deny }: Layer["hosts"], net: Ruled<string> | undefined): string[] {
  const forbids = net?.value === "deny" ? net : undefined;
  const against = ({ value }: Ruled<HostRule>): Ruled<unknown> | undefined =>
    deny?.items.find((item) => deniesAll(item.value, value)) ?? forbids;
  const denied = [...(allow?.items ?? []), ...(ask?.items ?? [])].flatMap((item) => {
    const found = against(item);
    return found ? [words(item.rule, hostText(item.value), found)] : [];
  });
  const asked = (allow?.items ?? []).flatMap((item) => {
    const found = against(item) ? undefined : ask?.items.find(({ value }) => deniesAll(value, item.value));
    return found ? [`${item.rule}: \`${hostText(item.value)}\` is asked for, ${found.rule} says so`] : [];
  });
  return [...denied, ...asked];
}

/** Limits of requests that a wider rule beside them lifts: of several rules that admit, the loosest counts. */
function voidLimits(allow: readonly Ruled<HostRule>[]): string[] {
  const limited = allow.filter(({ value }) => seesRequests(value));
  return limited.flatMap(({ value, rule }) =>
    (value.ports === "all" ? [] : value.ports).flatMap((port) => {
      const atPort = { ...value, ports: [port] };
      const wider = allow.find((item) => !seesRequests(item.value) && covers(item.value, atPort));
      return wider
        ? [`${rule}: \`${hostText(value)}\` limits nothing on port ${port}, ${wider.rule} admits all of it there`]
        : [];
    }),
  );
}

function words(rule: string, value: string, against: Ruled<unknown>): string {
  return `${rule}: \`${value}\` has no effect, ${against.rule} forbids it`;
}

/** Hosts named for one run that the person's own rules admit already: what those limit stays limited. */
export function flagsWithoutEffect(flags: Layer["hosts"], { allow, ask }: Layer["hosts"]): string[] {
  return (flags.allow?.items ?? []).flatMap(({ value, rule }) => {
    if (ask?.items.some((item) => deniesAll(item.value, value))) return [];
    const known = allow?.items.find((item) => item.rule !== rule && deniesAll(item.value, value));
    return known ? [`${rule}: ${known.rule} admits it already, with its own limits`] : [];
  });
}
