import type { HostRule } from "./hosts.ts";

/** A rule that admits, as people read it: `db.test:5432 (tcp, private)`, `api.test (inspect, GET HEAD, /public/**)`. */
export function hostText(rule: HostRule): string {
  const { protocol, inspect, methods, paths, registry } = rule;
  const said = [
    protocol === "auto" ? [] : [protocol],
    // Of the hosts of a package manager it says nothing that somebody wrote.
    rule.private && registry === undefined ? ["private"] : [],
    inspect ? ["inspect"] : [],
    methods === "all" ? [] : [methods.join(" ")],
    paths === "all" ? [] : [paths.join(" ")],
    registry === undefined ? [] : [`by ${registry}`],
  ].flat();
  return said.length === 0 ? placeText(rule) : `${placeText(rule)} (${said.join(", ")})`;
}

/** Name and ports alone, which is all that a rule that denies has. */
export function placeText({ host, ports }: HostRule): string {
  return ports === "all" || (ports.length === 1 && ports[0] === 443) ? host : `${host}:${ports.join(",")}`;
}
