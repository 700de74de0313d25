import type { IncomingHttpHeaders } from "node:http";
import type Docker from "dockerode";
import { GloveboxError } from "../../core/errors.ts";

export type Architecture = "x64" | "arm64";

/** What an engine says of itself. */
export type EngineFacts = {
  /** Stays the same over restarts of the engine. */
  id: string;
  /** Of the engine, `28.2.2`. */
  version: string;
  apiVersion: string;
  architecture: Architecture;
  /** `Debian GNU/Linux 12 (bookworm)`, `Docker Desktop`. */
  operatingSystem: string;
  kernelVersion: string;
  isRootless: boolean;
  /** The daemon maps container uids to other uids of the host (`userns-remap`). */
  isRemapped: boolean;
  isPodman: boolean;
  isDesktop: boolean;
  hasSelinux: boolean;
  cgroupVersion: 1 | 2;
  /** Names of the OCI runtimes it has. */
  runtimes: string[];
  cpus: number;
  memoryBytes: number;
};

/** `/_ping` and `/info` in one round trip of latency; what both do not say, the API version, is in their headers. */
export async function readFacts(docker: Docker, endpoint: string): Promise<EngineFacts> {
  const [headers, info] = await Promise.all([ping(docker), within(ANSWER_MS, docker.info())]);
  const facts = parseFacts(headers, info);
  const problem = unsupported(facts, String(info.OSType));
  if (problem) throw new GloveboxError("ENGINE_UNSUPPORTED", `The engine at \`${endpoint}\` ${problem.what}`, problem);
  return facts;
}

/** Time for the first answer; a slow engine behind ssh needs one or two seconds. */
const ANSWER_MS = 20_000;

/** Engine 19.03, the first whose API can do all that is used here. */
const OLDEST_API = 40;

export function unsupported(facts: EngineFacts, osType: string): { what: string; hint: string } | undefined {
  if (osType !== "linux") {
    return { what: `runs ${osType} containers, not Linux ones`, hint: "Switch it to Linux containers" };
  }
  const [major = 0, minor = 0] = facts.apiVersion.split(".").map(Number);
  if (major > 1 || minor >= OLDEST_API) return undefined;
  const what = `is version ${facts.version} (API ${facts.apiVersion}), but API 1.${OLDEST_API} is needed`;
  return { what, hint: "Update the engine to 19.03 or later" };
}

/** Pure: the facts from the headers of `/_ping` and the body of `/info`, which is trusted to be an engine's. */
export function parseFacts(headers: IncomingHttpHeaders, info: Record<string, unknown>): EngineFacts {
  const options = Array.isArray(info["SecurityOptions"]) ? info["SecurityOptions"].map(String) : [];
  const has = (name: string) => options.some((option) => option.split(",").includes(`name=${name}`));
  const operatingSystem = String(info["OperatingSystem"] ?? "");
  return {
    id: String(info["ID"] ?? ""),
    version: String(info["ServerVersion"] ?? "unknown"),
    apiVersion: String(headers["api-version"] ?? "0.0"),
    architecture: parseArchitecture(String(info["Architecture"] ?? "")),
    operatingSystem,
    kernelVersion: String(info["KernelVersion"] ?? ""),
    isRootless: has("rootless"),
    isRemapped: has("userns"),
    isPodman: headers["libpod-api-version"] !== undefined,
    isDesktop: operatingSystem === "Docker Desktop",
    hasSelinux: has("selinux"),
    cgroupVersion: String(info["CgroupVersion"]) === "2" ? 2 : 1,
    runtimes: Object.keys((info["Runtimes"] ?? {}) as object),
    cpus: Number(info["NCPU"] ?? 0),
    memoryBytes: Number(info["MemTotal"] ?? 0),
  };
}

function parseArchitecture(name: string): Architecture {
  if (["x86_64", "amd64"].includes(name)) return "x64";
  if (["aarch64", "arm64"].includes(name)) return "arm64";
  throw new GloveboxError("ENGINE_UNSUPPORTED", `The engine's architecture is \`${name}\`, expected x86_64 or aarch64`);
}

function ping(docker: Docker): Promise<IncomingHttpHeaders> {
  return new Promise((resolve, reject) => {
    const request = { path: "/_ping", method: "GET", isStream: true, statusCodes: { 200: true, 500: "server error" } };
    docker.modem.dial(request, (error, answer) => {
      if (error) return reject(error);
      const response = answer as NodeJS.ReadableStream & { headers: IncomingHttpHeaders };
      response.resume();
      resolve(response.headers);
    });
  });
}

function within<T>(milliseconds: number, answer: Promise<T>): Promise<T> {
  const { promise, timer } = timeout(milliseconds);
  return Promise.race([answer, promise]).finally(() => clearTimeout(timer));
}

function timeout(milliseconds: number): { promise: Promise<never>; timer: NodeJS.Timeout | undefined } {
  let timer: NodeJS.Timeout | undefined;
  const promise = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${milliseconds / 1000} s`)), milliseconds);
  });
  return { promise, timer };
}
