import { GloveboxError } from "../core/errors.ts";
import { Secret } from "../core/secrets.ts";

/** The proxy of the person's own network, and the names that do without. */
export type UpstreamProxy = {
  /** Speaks TLS itself (`https:`). */
  secure: boolean;
  host: string;
  port: number;
  /** The value of `Proxy-Authorization`. */
  authorization: Secret | undefined;
  /** From `NO_PROXY`. */
  exempt: readonly Exemption[];
  /** Certificates (PEM) to check a `secure` one by; omitted, the system's. */
  certificates?: string;
};

/** A name and all below it; undefined is any. */
type Exemption = { suffix: string | undefined; port: number | undefined };

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy that an environment names, as most programs read it: lower case first, an empty value is none. Its
 * credentials are in no text. @throws GloveboxError `CONFIG_INVALID` for what is no address of a proxy.
 */
export function upstreamProxyFrom(env: Environment): UpstreamProxy | undefined {
  const variable = VARIABLES.find((name) => env[name]?.trim());
  if (variable === undefined) return undefined;
  const url = parseProxyUrl(variable, env[variable]?.trim() ?? "");
  const secure = url.protocol === "https:";
  return {
    secure,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port) || (secure ? 443 : 80),
    authorization: authorizationOf(variable, url),
    exempt: exemptionsOf(env["no_proxy"] || env["NO_PROXY"] || ""),
  };
}

const VARIABLES = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];

function parseProxyUrl(variable: string, value: string): URL {
  const text = value.includes("://") ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  // The value may hold a password wherever the mistake is, so nothing of it is shown but a scheme that is known.
  if (!url?.hostname) throw broken(variable, "is no address of a proxy");
  if (url.protocol.startsWith("socks")) throw broken(variable, "names a SOCKS proxy, which is not spoken here");
  if (!["http:", "https:"].includes(url.protocol)) throw broken(variable, "is no address of an HTTP proxy");
  return url;
}

function authorizationOf(variable: string, { username, password }: URL): Secret | undefined {
  if (username === "" && password === "") return undefined;
  try {
    const pair = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
    return new Secret(`Basic ${Buffer.from(pair).toString("base64")}`);
  } catch {
    throw broken(variable, "has a user or password with a `%` that is no escape");
  }
}

function broken(variable: string, problem: string): GloveboxError {
  return new GloveboxError(
    "CONFIG_INVALID",
    `\`${variable}\` ${problem}; expected such as \`http://proxy.example.com:3128\``,
    { hint: `Set \`${variable}\` right, or unset it for connections without a proxy` },
  );
}

function exemptionsOf(list: string): Exemption[] {
  const entries = list.split(/[\s,]+/).filter((entry) => entry !== "");
  return entries.map((entry) => {
    const [, name = "", port] = /^(.*?)(?::(\d{1,5}))?$/.exec(entry.toLowerCase()) ?? [];
    const suffix = name.replace(/^\*?\./, "").replace(/\.$/, "");
    return { suffix: suffix === "*" ? undefined : suffix, port: port === undefined ? undefined : Number(port) };
  });
}

/** Whether a connection to `host` (canonical) does without the proxy. */
export function isExempt({ exempt }: UpstreamProxy, { host, port }: { host: string; port: number }): boolean {
  return exempt.some(
    (item) =>
      (item.port === undefined || item.port === port) &&
      (item.suffix === undefined || host === item.suffix || host.endsWith(`.${item.suffix}`)),
  );
}

/** Whether a name means something in the person's own network only, where a proxy must not be led to. */
export function isLocalName(host: string): boolean {
  return !host.includes(".") || LOCAL_SUFFIXES.some((suffix) => host === suffix.slice(1) || host.endsWith(suffix));
}

// RFC 6762, RFC 8375, RFC 6761; `.internal` is reserved by ICANN, and the metadata service of a cloud has a name there.
const LOCAL_SUFFIXES = [".local", ".internal", ".home.arpa", ".localhost"];
