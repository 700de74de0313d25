import { allowHostRule } from "../policy/allow-host.ts";

/** The values of `--allow-host`, each of them a host. @throws GloveboxError `USAGE`. */
export function parseAllowHosts(texts: readonly string[] = []): readonly string[] {
  for (const text of texts) allowHostRule(text);
  return texts;
}
