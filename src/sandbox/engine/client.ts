import { readFile } from "node:fs/promises";
import { join } from "node:path";
import Docker from "dockerode";
import type { EngineAddress } from "./endpoint.ts";

/**
 * A client for `address`. Every option is given, also the empty ones: dockerode fills what is left out from
 * DOCKER_HOST, which may name another engine.
 */
export async function createClient(address: EngineAddress, env: NodeJS.ProcessEnv): Promise<Docker> {
  const none = { host: undefined, port: undefined, ca: undefined, cert: undefined, key: undefined, timeout: undefined };
  if (address.type === "unix") return make({ ...none, protocol: "http", socketPath: address.path });
  const { host, port } = address;
  if (address.type === "ssh") {
    const ssh = { username: address.username, sshOptions: { agent: env["SSH_AUTH_SOCK"] } };
    return make({ ...none, protocol: "ssh", host, port, ...ssh });
  }
  if (!address.tlsDir) return make({ ...none, protocol: "http", host: url("http", host), port, pathPrefix: "/" });
  const [ca, cert, key] = await Promise.all(
    ["ca.pem", "cert.pem", "key.pem"].map((name) => readFile(join(address.tlsDir ?? "", name))),
  );
  const tls = { ca, cert, key, ...(!address.verify && { checkServerIdentity: () => undefined }) };
  return make({ ...none, protocol: "https", host: url("https", host), port, pathPrefix: "/", ...tls });
}

/** With its protocol, else docker-modem reads the host as a path. */
function url(protocol: string, host: string): string {
  return `${protocol}://${host.includes(":") ? `[${host}]` : host}`;
}

// The types of dockerode do not know that an option may be present and undefined.
function make(options: Record<string, unknown>): Docker {
  return new Docker(options as Docker.DockerOptions);
}
