import { matchesPath } from "../core/path-rules.ts";
import { hostText } from "./dropped.ts";
import { covers, type HostRule } from "./hosts.ts";
import type { Layer, Ruled } from "./layer.ts";

/** Rules of one file that another one of it makes void, in words. What forbids wins, so each of them is safe. */
export function contradictionsIn({ lists, hosts }: Layer): string[] {
  return [...voidPaths(lists), ...voidHosts(hosts)];
}

function voidPaths(lists: Layer["lists"]): string[] {
  const opens = [...(lists["workspace.writable"]?.items ?? []), ...(lists["workspace.unprotect"]?.items ?? [])];
  const closes = [...(lists["workspace.hidden"]?.items ?? []), ...(lists["workspace.readonly"]?.items ?? [])];
  return opens.flatMap(({ value, rule }) => {
    const against = closes.find((item) => matchesPath(item.value, value));
    return against ? [words(rule, value, against)] : [];
  });
}

function voidHosts({ allow, ask, deny }: Layer["hosts"]): string[] {
  const denied = (host: HostRule): Ruled<HostRule> | undefined => deny?.items.find(({ value }) => covers(value, host));
  return [...(allow?.items ?? []), ...(ask?.items ?? [])].flatMap(({ value, rule }) => {
    const against = denied(value);
    return against ? [words(rule, hostText(value), against)] : [];
  });
}

function words(rule: string, value: string, against: Ruled<unknown>): string {
  return `${rule}: \`${value}\` has no effect, ${against.rule} forbids it`;
}
