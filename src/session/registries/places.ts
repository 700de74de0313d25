import { hostPattern } from "../../policy/host-pattern.ts";

/** A host and the ports at which a package manager uses it. */
export type RegistryPlace = { host: string; ports: number[] };

const MOST_HOSTS = 100;

/** Host and port alone of what a configuration names, and why some of it can be no rule, in words. */
export function placesOf(urls: readonly string[]): { places: RegistryPlace[]; problems: string[] } {
  const ports = new Map<string, Set<number>>();
  const problems = new Set<string>();
  for (const url of urls.filter((text) => URL.canParse(text)).map((text) => new URL(text))) {
    const port = portOf(url);
    if (port === undefined) continue;
    const found = url.hostname.includes("*") ? { problem: "is no host name" } : hostPattern(url.hostname);
    if ("problem" in found) problems.add(`\`${url.hostname}\` ${found.problem}`);
    else if (ports.has(found.pattern) || ports.size < MOST_HOSTS) {
      ports.set(found.pattern, (ports.get(found.pattern) ?? new Set()).add(port));
    } else problems.add(`more than ${MOST_HOSTS} hosts are named, the rest is left out`);
  }
  return { places: [...ports].map(([host, all]) => ({ host, ports: [...all] })), problems: [...problems] };
}

function portOf({ protocol, port }: URL): number | undefined {
  if (protocol !== "http:" && protocol !== "https:") return undefined;
  if (port !== "") return Number(port);
  return protocol === "http:" ? 80 : 443;
}
