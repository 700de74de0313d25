import { domainToASCII } from "node:url";
import { PathMatcher } from "../core/path-rules.ts";

/** A rule for hosts in its one canonical form. */
export type HostRule = {
  /** A name, `*.name` for every name below it, or `registry:npm`. */
  host: string;
  ports: readonly number[] | "all";
  /** `tcp` lets any bytes pass. */
  protocol: "auto" | "tcp" | "ssh";
  /** The name may resolve to a private address. */
  private: boolean;
  /** TLS is opened, so that single requests are seen. */
  inspect: boolean;
  /** Upper case. */
  methods: readonly string[] | "all";
  /** Patterns of request paths: `*` within a segment, `**` over any number of them. */
  paths: readonly string[] | "all";
};

/** What is judged: a connection, or one request on it. */
export type HostProbe = {
  host: string;
  port: number;
  protocol: HostRule["protocol"];
  /** The name resolved to a private address; omitted, that is not known or not so. */
  isPrivate?: boolean;
  /** TLS that passes as it is, so that no request is seen, or TLS that is opened; omitted, neither is known. */
  tls?: "sealed" | "opened";
  /** Omitted while only the connection is judged. `path` without the query. */
  request?: { method: string; path: string };
};

/** Why `text` is no host pattern, in words that say what is expected; undefined when it is one. */
export function hostProblem(text: string): string | undefined {
  if (text === "*") return "is every host; name a domain, such as `*.example.com`";
  if (text.includes("://")) return "is a URL; expected a host name alone, such as `example.com`";
  if (text.includes("/")) {
    return /^[\d.:a-f]+\/\d+$/i.test(text) ? ADDRESS : "has a path; expected a host name alone, such as `example.com`";
  }
  if (isAddress(text)) return ADDRESS;
  if (text.includes(":")) return portProblem(text);
  const name = text.startsWith("*.") ? text.slice(2) : text;
  if (name.includes("*")) return "has a `*` inside; only `*.` at the beginning is a wildcard";
  if (!isName(name)) return "is no host name";
  if (name !== text && !name.includes("."))
    return `is every site below \`.${name}\`; name a domain, such as \`*.example.com\``;
  return undefined;
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

/** Every form a resolver takes for an address: dotted, short, decimal, octal, hex, IPv6. */
function isAddress(text: string): boolean {
  if (/^\[?[\da-f]*:[\da-f]*:[\da-f:.]*(%.*)?\]?$/i.test(text)) return true;
  const last = text.replace(/\.$/, "").split(".").at(-1) ?? "";
  return /^(\d+|0x[\da-f]*)$/i.test(last);
}

function isName(name: string): boolean {
  const ascii = domainToASCII(name.replace(/\.$/, ""));
  return ascii.length <= 253 && /^(?!-)[a-z\d_-]{1,63}(?<!-)(\.(?!-)[a-z\d_-]{1,63}(?<!-))*$/.test(ascii);
}

/** Lower case, A-labels, no dot at the end: the form names are compared in. */
export function normalHost(text: string): string {
  const wild = text.startsWith("*.");
  const name = domainToASCII((wild ? text.slice(2) : text).replace(/\.$/, "")).toLowerCase();
  return wild ? `*.${name}` : name;
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

/** Whether a rule that denies speaks of a connection: by name and port alone. */
export function deniesHost(rule: HostRule, { host, port }: HostProbe): boolean {
  return matchesPort(rule, port) && matchesNameOf(rule.host, host);
}

/** Whether a rule that allows or asks speaks of it. */
export function matchesHost(rule: HostRule, probe: HostProbe): boolean {
  return (
    deniesHost(rule, probe) &&
    admits(rule, probe.protocol) &&
    (rule.private || probe.isPrivate !== true) &&
    admitsTls(rule, probe.tls) &&
    (probe.request === undefined || matchesRequest(rule, probe.request))
  );
}

/** `*.a.b` is any depth below `a.b` and not `a.b` itself. */
export function matchesNameOf(pattern: string, host: string): boolean {
  return pattern.startsWith("*.") ? host.length >= pattern.length && host.endsWith(pattern.slice(1)) : host === pattern;
}

/** Whether a rule speaks of single requests, which must be seen then. */
function seesRequests({ inspect, methods, paths }: HostRule): boolean {
  return inspect || methods !== "all" || paths !== "all";
}

/** Whether everything that `inner` matches is matched by `outer`. */
export function covers(outer: HostRule, inner: HostRule): boolean {
  return (
    // A wildcard stands for the names below it: no rule names it exactly, and a wider one matches it.
    matchesNameOf(outer.host, inner.host) &&
    includes(outer.ports, inner.ports) &&
    admits(outer, inner.protocol) &&
    (outer.private || !inner.private) &&
    (["sealed", "opened"] as const).every((tls) => admitsTls(outer, tls) || !admitsTls(inner, tls)) &&
    includes(outer.methods, inner.methods) &&
    includes(outer.paths, inner.paths)
  );
}

function admitsTls(rule: HostRule, tls: HostProbe["tls"]): boolean {
  if (tls === undefined || !seesRequests(rule)) return true;
  return tls === "opened" && rule.inspect;
}

function matchesPort({ ports }: HostRule, port: number): boolean {
  return ports === "all" || ports.includes(port);
}

function matchesRequest({ methods, paths }: HostRule, { method, path }: { method: string; path: string }): boolean {
  const isMethod = methods === "all" || methods.includes(method);
  return isMethod && (paths === "all" || paths.some((pattern) => matchesRequestPath(pattern, path)));
}

/** Unlike a rule for files, one for requests does not reach below what it names, unless it ends in `**`. */
function matchesRequestPath(pattern: string, path: string): boolean {
  const isOpenEnded = pattern.endsWith("/**");
  let matcher: PathMatcher | undefined = PathMatcher.of(pattern.slice(1));
  for (const name of path.slice(1).split("/")) {
    matcher = matcher?.enter(name);
    if (isOpenEnded && matcher?.isMatch) return true;
  }
  return matcher?.isMatch ?? false;
}

function includes<T>(outer: readonly T[] | "all", inner: readonly T[] | "all"): boolean {
  return outer === "all" || (inner !== "all" && inner.every((item) => outer.includes(item)));
}

function admits(rule: HostRule, protocol: HostRule["protocol"]): boolean {
  return rule.protocol === "tcp" || rule.protocol === protocol;
}
