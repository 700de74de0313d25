import { GloveboxError, systemCode } from "../../core/errors.ts";
import { type EngineAddress, formatAddress } from "./endpoint.ts";
import { engineWords } from "./guard.ts";

/** One address that did not answer, and why. */
export type EngineFailure = { address: EngineAddress; cause: unknown };

export type FailureContext = { uid: number | undefined; platform: NodeJS.Platform };

/** The error for an engine that a person named (`by`) and that did not answer. */
export function namedFailure(by: string, failure: EngineFailure, context: FailureContext): GloveboxError {
  const where = `${by} (\`${formatAddress(failure.address)}\`)`;
  if (isForbidden(failure.cause)) return forbidden(where, failure.cause, context);
  return new GloveboxError("ENGINE_UNREACHABLE", `${where} does not answer: ${reason(failure.cause)}`, {
    hint: `Start that engine, or unset ${by === "DOCKER_HOST" ? by : "the context"} to use a local one`,
    cause: failure.cause,
  });
}

/** The error when none of the default sockets answered; sockets that are there say more than those that are not. */
export function defaultsFailure(failures: readonly EngineFailure[], context: FailureContext): GloveboxError {
  const refusing = failures.find(({ cause }) => isForbidden(cause));
  if (refusing) return forbidden(`The engine's socket \`${formatAddress(refusing.address)}\``, refusing.cause, context);
  const silent = failures.find(({ cause }) => systemCode(cause) !== "ENOENT");
  const hint = installHint(context);
  if (silent) {
    const path = formatAddress(silent.address);
    const said = `The engine's socket \`${path}\` is there, but no engine answers behind it: ${reason(silent.cause)}`;
    return new GloveboxError("ENGINE_UNREACHABLE", said, { hint, cause: silent.cause });
  }
  const tried = failures.map(({ address }) => `\`${formatAddress(address)}\``).join(", ");
  return new GloveboxError("ENGINE_UNREACHABLE", `No container engine was found, tried ${tried}`, { hint });
}

function forbidden(what: string, cause: unknown, context: FailureContext): GloveboxError {
  const who = context.uid === undefined ? "this user" : `uid ${context.uid}`;
  return new GloveboxError("ENGINE_FORBIDDEN", `${what} may not be opened by ${who}`, {
    hint: "Join its group (`sudo usermod -aG docker $USER`, then log in again), or run a rootless engine",
    cause,
  });
}

function isForbidden(cause: unknown): boolean {
  return ["EACCES", "EPERM"].includes(systemCode(cause) ?? "");
}

function installHint({ platform, uid }: FailureContext): string {
  if (platform === "linux" && uid === 0) {
    return "Start it with `dockerd`, or install one: `apt-get install docker.io` on Debian and Ubuntu; `npm run demo` does both";
  }
  if (platform === "linux") return "Start it with `sudo systemctl start docker`, or install Docker Engine or Podman";
  return "Start Docker Desktop, or install it";
}

function reason(cause: unknown): string {
  const code = systemCode(cause);
  if (code === "ECONNREFUSED") return "connection refused";
  if (code === "ENOENT") return "there is no such socket";
  return engineWords(cause);
}
