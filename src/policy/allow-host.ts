import { GloveboxError } from "../core/errors.ts";
import { hostPattern, suffixOf } from "./host-pattern.ts";
import type { HostRule } from "./hosts.ts";
import { type Layer, NO_OPINION } from "./layer.ts";
import { ADMITTED } from "./read-layer.ts";

/** The rule of `--allow-host HOST[:PORT]`, port 443 where none is named. @throws GloveboxError `USAGE`. */
export function allowHostRule(text: string): HostRule {
  const [, name = text, digits] = /^([^:]*|\[[^\]]*\]):(\d+)$/.exec(text) ?? [];
  const port = Number(digits ?? 443);
  if (port < 1 || port > 65_535) throw unusable(text, "has a port that is none; expected 1 to 65535");
  const found = hostPattern(name);
  if ("problem" in found) throw unusable(text, found.problem);
  return { host: found.pattern, ...ADMITTED, ports: [port] };
}

/** The hosts a person names for one run, as opinions, and what is dangerous of them. @throws GloveboxError `USAGE`. */
export async function allowHostLayer(texts: readonly string[]): Promise<{ hosts: Layer["hosts"]; warnings: string[] }> {
  if (texts.length === 0) return { hosts: NO_OPINION.hosts, warnings: [] };
  const rule = "flag/allow-host";
  const items = texts.map((text, index) => ({ value: allowHostRule(text), rule: `${rule}[${index}]` }));
  const warnings: string[] = [];
  for (const { value, rule: id } of items) {
    const suffix = await suffixOf(value.host);
    if (suffix === "public") throw unusable(value.host, "is every site below a public suffix");
    if (suffix === "shared") warnings.push(`${id}: everybody can have a site that \`${value.host}\` matches`);
  }
  return { hosts: { allow: { rule, items } }, warnings };
}

function unusable(text: string, problem: string): GloveboxError {
  return new GloveboxError("USAGE", `\`--allow-host\`: \`${text}\` ${problem}`, {
    hint: "Expected `HOST` or `HOST:PORT`, such as `--allow-host packages.example.com`",
  });
}
