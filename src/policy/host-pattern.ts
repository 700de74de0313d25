import { ADDRESS_PROBLEM, canonicalHost } from "./host-name.ts";

/** What a rule says of hosts, in its one form: a name, or `*.name` for every name below it; or why the text is neither. */
export type HostPattern = { pattern: string } | { problem: string };

/**
 * `problem` says what is expected and goes after the text: "`x` is a URL; expected …". What a rule `admits` is never a
 * whole top level; what it `denies` may be.
 */
export function hostPattern(text: string, rule: "admits" | "denies" = "admits"): HostPattern {
  if (text === "*") {
    const instead = rule === "admits" ? "name a domain, such as `*.example.com`" : "`allow: []` says that";
    return { problem: `is every host; ${instead}` };
  }
  const isWild = text.startsWith("*.");
  const found = canonicalHost(isWild ? text.slice(2) : text);
  if ("problem" in found) return { problem: wordsFor(text, found.problem) };
  const { host } = found;
  if (isOurs(host)) {
    return { problem: "is the container itself when asked for inside; use `forward` for a service of this machine" };
  }
  if (rule === "admits" && isWild && !host.includes(".")) {
    return { problem: `is every site below \`.${host}\`; name a domain, such as \`*.example.com\`` };
  }
  return { pattern: isWild ? `*.${host}` : host };
}

/** Names that the container answers by itself. */
function isOurs(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "glovebox";
}

/** What was probably meant, where that can be told. */
function wordsFor(text: string, problem: string): string {
  if (text.includes("://")) return "is a URL; expected a host name alone, such as `example.com`";
  if (problem === ADDRESS_PROBLEM || /^[\d.:a-f]+\/\d+$/i.test(text)) return ADDRESS;
  if (text.includes("/")) return "has a path; expected a host name alone, such as `example.com`";
  if (text.includes(":")) return portProblem(text);
  if (text.lastIndexOf("*") > 0) return "has a `*` inside; only `*.` at the beginning is a wildcard";
  return problem;
}

const ADDRESS =
  "is an address; hosts are names: use `forward` for a service of this machine, or a name with `private: true`";

function portProblem(text: string): string {
  const port = text.slice(text.lastIndexOf(":") + 1);
  const isPort = /^\d+$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535;
  if (!isPort)
    return "has a port that is none; expected a name, and ports from 1 to 65535 as `{ host: x, ports: [8443] }`";
  return `has a port; write \`{ host: ${text.slice(0, text.lastIndexOf(":"))}, ports: [${port}] }\``;
}

/** The words of what speaks against a wildcard: every name below a public suffix, or below one that strangers share. */
export async function suffixOf(pattern: string): Promise<"public" | "shared" | undefined> {
  if (!pattern.startsWith("*.")) return undefined;
  const { parse } = await import("./suffixes.ts");
  const { hostname, publicSuffix, isIcann, isPrivate } = parse(pattern.slice(2), { allowPrivateDomains: true });
  if (hostname === null || publicSuffix !== hostname) return undefined;
  if (isIcann) return "public";
  return isPrivate ? "shared" : undefined;
}
