import { link, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { GloveboxError, systemCode } from "../../core/errors.ts";
import { shortId } from "../../core/ids.ts";

/** Who holds a lock. `started` tells a process from a later one with the same pid; empty where it cannot be known. */
export type LockHolder = { pid: number; started: string; host: string };

export type LockOptions = { signal?: AbortSignal | undefined; onWait?: (holder: LockHolder) => void };

/** Runs `work` while no other process holds `path`. A lock whose holder is dead is broken. */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  await acquire(path, options);
  try {
    return await work();
  } finally {
    await rm(path, { force: true });
  }
}

async function acquire(path: string, { signal, onWait }: LockOptions): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  for (let told = false; ; ) {
    signal?.throwIfAborted();
    if (await tryAcquire(path)) return;
    const holder = await readHolder(path);
    if (holder && !(await isAlive(holder))) {
      await breakLock(path, holder);
    } else {
      if (holder && !told) onWait?.(holder);
      told ||= holder !== undefined;
      await sleep(POLL_MS, undefined, { signal });
    }
  }
}

const POLL_MS = 100;

/** A link to a complete file: the lock never exists without its holder's name in it. */
async function tryAcquire(path: string): Promise<boolean> {
  const mine = `${path}.${process.pid}.${shortId()}`;
  const holder: LockHolder = { pid: process.pid, started: await startOf(process.pid), host: hostname() };
  await writeFile(mine, JSON.stringify(holder));
  try {
    await link(mine, path);
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw new GloveboxError("IMAGE_BUILD_FAILED", `The lock \`${path}\` cannot be made`, { cause: error });
  } finally {
    await rm(mine, { force: true });
  }
}

async function readHolder(path: string): Promise<LockHolder | undefined> {
  try {
    const value: Partial<LockHolder> = JSON.parse(await readFile(path, "utf8"));
    return { pid: Number(value.pid), started: String(value.started), host: String(value.host) };
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    // A power cut can leave an empty file: nobody holds it.
    if (error instanceof SyntaxError) return { pid: 0, started: "", host: hostname() };
    throw error;
  }
}

/** A holder on another machine that shares the folder cannot be asked and counts as alive. */
async function isAlive(holder: LockHolder): Promise<boolean> {
  if (holder.host !== hostname()) return true;
  if (!(holder.pid > 0)) return false;
  try {
    process.kill(holder.pid, 0);
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
  return (await startOf(holder.pid)) === holder.started;
}

/** Field 22 of /proc/PID/stat (proc(5)): clock ticks from boot to the process's start. */
async function startOf(pid: number): Promise<string> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

/** Takes the lock away only if it is still the dead holder's: another waiter may have broken and taken it meanwhile. */
async function breakLock(path: string, dead: LockHolder): Promise<void> {
  const taken = `${path}.dead.${process.pid}.${shortId()}`;
  try {
    await rename(path, taken);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return;
    throw error;
  }
  const found = await readHolder(taken);
  if (found && (found.pid !== dead.pid || found.started !== dead.started))
    await link(taken, path).catch(() => undefined);
  await rm(taken, { force: true });
}
