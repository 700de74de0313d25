import { execFile } from "node:child_process";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";
import { promisify } from "node:util";
import { systemCode } from "../core/errors.ts";
import { isJsonObject } from "../core/json.ts";
import { LABELS } from "./labels.ts";

/** The process that made a container, so that another one can tell whether it is still there. */
export type Owner = {
  /** Machine and boot, so that a pid of another machine or an earlier boot is never taken for this one. */
  machine: string;
  /** The pid namespace: controllers in different containers can have equal pids. */
  namespace: string;
  pid: number;
  /** When the process started, in the system's own words: a pid can be used again. */
  startedAt: string;
};

export async function currentOwner(): Promise<Owner> {
  const [place, startedAt] = await Promise.all([currentPlace(), startOf(process.pid)]);
  return { ...place, pid: process.pid, startedAt: startedAt ?? "unknown" };
}

/** The labels of a container that only looks at something and is removed at once. */
export async function probeLabels(version: string): Promise<Record<string, string>> {
  return { [LABELS.version]: version, [LABELS.kind]: "probe", ...(await ownerLabel()) };
}

/** Says of a container that it is ours, as long as this process lives. */
export async function ownerLabel(): Promise<Record<string, string>> {
  return { [LABELS.owner]: JSON.stringify(await currentOwner()) };
}

/** `unknown` when the owner lives where this process cannot look. */
export async function ownerState(owner: Owner): Promise<"alive" | "dead" | "unknown"> {
  const here = await currentPlace();
  if (owner.machine !== here.machine || owner.namespace !== here.namespace) return "unknown";
  const startedAt = await startOf(owner.pid);
  if (startedAt === undefined && isThere(owner.pid)) return "unknown";
  return startedAt === owner.startedAt ? "alive" : "dead";
}

/** Of a process that cannot be looked at: another user's, where `/proc` hides those (`hidepid`). */
function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

/** Undefined for a label that is not what {@link currentOwner} makes. */
export function parseOwner(label: string | undefined): Owner | undefined {
  try {
    const value: unknown = JSON.parse(label ?? "");
    if (!isJsonObject(value)) return undefined;
    const { machine, namespace, pid, startedAt } = value;
    if (typeof machine !== "string" || typeof namespace !== "string") return undefined;
    if (!Number.isSafeInteger(pid) || typeof startedAt !== "string") return undefined;
    return { machine, namespace, pid: Number(pid), startedAt };
  } catch {
    return undefined;
  }
}

async function currentPlace(): Promise<Pick<Owner, "machine" | "namespace">> {
  const [machine, boot, namespace] = await Promise.all([
    readFile("/etc/machine-id", "utf8").catch(() => hostname()),
    readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => ""),
    readlink("/proc/self/ns/pid").catch(() => "host"),
  ]);
  return { machine: [machine.trim(), boot.trim()].join("/"), namespace };
}

/** Linux: clock ticks since boot (proc(5), field 22, counted behind the name in parentheses); elsewhere what `ps` says. */
async function startOf(pid: number): Promise<string | undefined> {
  if (process.platform === "linux") {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
    return stat?.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  }
  const ps = await promisify(execFile)("/bin/ps", ["-o", "lstart=", "-p", String(pid)]).catch(() => undefined);
  return ps?.stdout.trim() || undefined;
}
