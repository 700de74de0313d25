import { join } from "node:path";
import { GloveboxError } from "../../core/errors.ts";
import { readDockerContext } from "./context.ts";

/** Where an engine listens. `tlsDir` holds `ca.pem`, `cert.pem` and `key.pem`; undefined means plain HTTP. */
export type EngineAddress =
  | { type: "unix"; path: string }
  | { type: "tcp"; host: string; port: number; tlsDir: string | undefined; verify: boolean }
  | { type: "ssh"; host: string; port: number; username: string | undefined };

/**
 * What to try. `named`: a person chose it, so nothing else is tried when it does not answer; `by` says how they did.
 * `defaults`: the usual sockets, the first that answers is used.
 */
export type EngineCandidates =
  | { type: "named"; by: string; address: EngineAddress }
  | { type: "defaults"; addresses: EngineAddress[] };

/** DOCKER_HOST, then the current docker context, then the default sockets. Throws `ENGINE_UNREACHABLE` for a broken name. */
export async function findCandidates(env: NodeJS.ProcessEnv, home: string): Promise<EngineCandidates> {
  if (env["DOCKER_HOST"]) return namedByHost(env["DOCKER_HOST"], env);
  const context = await readDockerContext(env, home);
  if (context) {
    const by = `Docker context \`${context.name}\``;
    const address = { ...parseAddress(context.host, by) };
    if (address.type === "tcp") Object.assign(address, { tlsDir: context.tlsDir, verify: context.verify });
    return { type: "named", by, address };
  }
  return { type: "defaults", addresses: defaultSockets(env, home).map((path) => ({ type: "unix", path })) };
}

function namedByHost(host: string, env: NodeJS.ProcessEnv): EngineCandidates {
  const address = parseAddress(host, "DOCKER_HOST");
  if (address.type === "tcp" && (env["DOCKER_TLS_VERIFY"] || env["DOCKER_CERT_PATH"])) {
    address.tlsDir = env["DOCKER_CERT_PATH"] || join(env["HOME"] ?? "/", ".docker");
    address.verify = Boolean(env["DOCKER_TLS_VERIFY"]);
  }
  return { type: "named", by: "DOCKER_HOST", address };
}

/** `unix://PATH`, `tcp://HOST[:PORT]`, `http(s)://…` or `ssh://[USER@]HOST[:PORT]`; `by` is named in the error. */
export function parseAddress(text: string, by: string): EngineAddress {
  const path = text.match(/^unix:\/\/(\/.*)$/)?.[1];
  if (path) return { type: "unix", path };
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const host = url?.hostname.replace(/^\[(.*)\]$/, "$1");
  if (url && host && url.protocol === "ssh:") {
    const username = url.username ? decodeURIComponent(url.username) : undefined;
    return { type: "ssh", host, port: Number(url.port || 22), username };
  }
  if (url && host && ["tcp:", "http:", "https:"].includes(url.protocol)) {
    const port = Number(url.port || (url.protocol === "https:" ? 2376 : 2375));
    return { type: "tcp", host, port, tlsDir: undefined, verify: true };
  }
  throw new GloveboxError("ENGINE_UNREACHABLE", `${by} is \`${text}\`, which is no address of a container engine`, {
    hint: "Use unix:///path/to/docker.sock, tcp://HOST:PORT or ssh://USER@HOST",
  });
}

/** The sockets engines make when nobody configures them, the most likely first. */
export function defaultSockets(env: NodeJS.ProcessEnv, home: string): string[] {
  const runtimeDir = env["XDG_RUNTIME_DIR"];
  return [
    "/var/run/docker.sock",
    ...(runtimeDir ? [join(runtimeDir, "docker.sock")] : []),
    join(home, ".docker/run/docker.sock"),
    join(home, ".docker/desktop/docker.sock"),
    ...(runtimeDir ? [join(runtimeDir, "podman/podman.sock")] : []),
    "/run/podman/podman.sock",
  ];
}

/** The address as people write it. */
export function formatAddress(address: EngineAddress): string {
  if (address.type === "unix") return address.path;
  const host = address.host.includes(":") ? `[${address.host}]` : address.host;
  const user = address.type === "ssh" && address.username ? `${address.username}@` : "";
  return `${address.type}://${user}${host}:${address.port}`;
}
