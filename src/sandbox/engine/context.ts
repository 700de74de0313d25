import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { GloveboxError, systemCode } from "../../core/errors.ts";
import { isJsonObject, type JsonObject } from "../../core/json.ts";

/** An engine as the docker CLI's context store names it. */
export type DockerContext = { name: string; host: string; tlsDir: string | undefined; verify: boolean };

/** The current docker context, or undefined for the default one. Throws `ENGINE_UNREACHABLE` when it is named but broken. */
export async function readDockerContext(env: NodeJS.ProcessEnv, home: string): Promise<DockerContext | undefined> {
  const configDir = env["DOCKER_CONFIG"] || join(home, ".docker");
  const name = env["DOCKER_CONTEXT"] || (await currentContext(configDir));
  if (!name || name === "default") return undefined;
  const id = createHash("sha256").update(name).digest("hex");
  const meta = await readJson(join(configDir, "contexts/meta", id, "meta.json"));
  const endpoint = objectAt(objectAt(meta, "Endpoints"), "docker");
  const host = endpoint?.["Host"];
  if (typeof host !== "string") {
    throw new GloveboxError("ENGINE_UNREACHABLE", `Docker context \`${name}\` has no engine in \`${configDir}\``, {
      hint: "List the contexts with `docker context ls` and choose one with `docker context use NAME`",
    });
  }
  const tlsDir = join(configDir, "contexts/tls", id, "docker");
  const hasTls = (await readFile(join(tlsDir, "ca.pem")).catch(() => undefined)) !== undefined;
  return { name, host, tlsDir: hasTls ? tlsDir : undefined, verify: endpoint?.["SkipTLSVerify"] !== true };
}

async function currentContext(configDir: string): Promise<string | undefined> {
  const name = (await readJson(join(configDir, "config.json")))?.["currentContext"];
  return typeof name === "string" ? name : undefined;
}

/** Undefined when there is no such file; the docker CLI also carries on when it cannot read its configuration. */
async function readJson(path: string): Promise<JsonObject | undefined> {
  try {
    const value = JSON.parse(await readFile(path, "utf8"));
    return isJsonObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || systemCode(error)) return undefined;
    throw error;
  }
}

function objectAt(value: JsonObject | undefined, key: string): JsonObject | undefined {
  const child = value?.[key];
  return child !== undefined && isJsonObject(child) ? child : undefined;
}
