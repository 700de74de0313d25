import { PathMatcher } from "../core/path-rules.ts";

/** A rule for hosts in its one canonical form. */
export type HostRule = {
  /** A name, `*.name` for every name below it, or `registry:npm` until npm has been asked for its hosts. */
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
  /** The package manager whose configuration names the host; omitted, a person does. */
  registry?: string;
};

/** The package manager that has still to be asked which hosts a rule means; until then it matches none. */
export function unaskedRegistry({ host }: HostRule): string | undefined {
  return host.startsWith("registry:") ? host.slice("registry:".length) : undefined;
}

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
export function seesRequests({ inspect, methods, paths }: HostRule): boolean {
  return inspect || methods !== "all" || paths !== "all";
}

/** Connections and requests of every kind that a rule matches, for what has to hold for all of them. */
export function cornersOf(rule: HostRule): HostProbe[] {
  const { host, protocol, methods, paths } = rule;
  const anyMethod = methods === "all" ? [OTHER] : methods;
  const anyPath = paths === "all" ? [`/${OTHER}`] : paths.map((pattern) => pattern.replaceAll(/\*+/g, OTHER));
  const requests = anyMethod.flatMap((method) => anyPath.map((path) => ({ method, path })));
  const ways: Pick<HostProbe, "tls" | "request">[] =
    protocol === "auto"
      ? [...requests.map((request) => ({ request })), ...tlsWays(rule, requests)]
      : [{ tls: "sealed" }];
  return (rule.ports === "all" ? [443] : rule.ports).flatMap((port) =>
    ways.map((way) => ({ host, port, protocol, isPrivate: rule.private, ...way })),
  );
}

/** What only a rule for every method, or every path, matches. */
const OTHER = "OTHER";

function tlsWays(rule: HostRule, requests: NonNullable<HostProbe["request"]>[]): Pick<HostProbe, "tls" | "request">[] {
  if (!seesRequests(rule)) return [{ tls: "sealed" }];
  return rule.inspect ? requests.map((request) => ({ tls: "opened", request })) : [];
}

/** Whether everything that `inner` matches is denied by `deny`. */
export function deniesAll(deny: HostRule, inner: HostRule): boolean {
  return matchesNameOf(deny.host, inner.host) && includes(deny.ports, inner.ports);
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
