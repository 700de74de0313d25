import type Docker from "dockerode";
import { GloveboxError } from "../../core/errors.ts";
import { createClient } from "./client.ts";
import { type EngineAddress, findCandidates, formatAddress } from "./endpoint.ts";
import { type EngineFacts, readFacts } from "./facts.ts";
import { defaultsFailure, type EngineFailure, type FailureContext, namedFailure } from "./failure.ts";
import { guard } from "./guard.ts";

/** A container engine that has answered. */
export type Engine = EngineFacts & {
  docker: Docker;
  /** For people: a socket's path or a URL without secrets. */
  endpoint: string;
  /** Reached through a socket of this machine. Docker Desktop's is one too, though its containers run in a VM. */
  isLocal: boolean;
};

/** `uid` of this process, for the wording of errors only; undefined where there is none. */
export type ConnectOptions = { env: NodeJS.ProcessEnv; home: string; uid: number | undefined };

/**
 * The engine to use: DOCKER_HOST, the docker context, or the first default socket that answers; one round trip.
 * Throws `ENGINE_UNREACHABLE`, `ENGINE_FORBIDDEN`, `ENGINE_UNSUPPORTED`.
 */
export async function connectEngine({ env, home, uid }: ConnectOptions): Promise<Engine> {
  const candidates = await findCandidates(env, home);
  const context: FailureContext = { uid, platform: process.platform };
  if (candidates.type === "named") {
    return await open(candidates.address, env).catch((cause) => {
      throw asFailure(cause, (error) =>
        namedFailure(candidates.by, { address: candidates.address, cause: error }, context),
      );
    });
  }
  const failures: EngineFailure[] = [];
  for (const address of candidates.addresses) {
    try {
      return await open(address, env);
    } catch (cause) {
      if (cause instanceof GloveboxError) throw cause;
      failures.push({ address, cause });
    }
  }
  throw defaultsFailure(failures, context);
}

async function open(address: EngineAddress, env: NodeJS.ProcessEnv): Promise<Engine> {
  const docker = await createClient(address, env);
  const endpoint = formatAddress(address);
  const facts = await readFacts(docker, endpoint);
  return { docker: guard(docker), endpoint, isLocal: address.type === "unix", ...facts };
}

function asFailure(cause: unknown, otherwise: (cause: unknown) => GloveboxError): GloveboxError {
  return cause instanceof GloveboxError ? cause : otherwise(cause);
}
