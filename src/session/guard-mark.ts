import { open, readFile, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { writeAtomically } from "../core/atomic-file.ts";
import { GloveboxError, messageOf, systemCode } from "../core/errors.ts";
import { isSessionId } from "../core/ids.ts";
import { currentOwner, ownerState, parseOwner } from "../sandbox/owner.ts";
import type { Watched } from "../workspace/appeared.ts";
import type { GuardMark } from "./guard-mark-schema.ts";
import { writeFailure } from "./log.ts";
import { namesIn } from "./names-in.ts";

/** The mark of a session that has not looked through its workspace at its end. */
export type UnfinishedSession = { sessionFile: string; mark: GuardMark };

const ENDING = ".guard.json";

/** Says, beside the log, what is to be looked for if this session dies. @throws GloveboxError `SESSION_WRITE_FAILED`. */
export async function setMark(
  sessionFile: string,
  place: Pick<GuardMark, "root" | "folder">,
  watched: Watched,
): Promise<void> {
  const mark: GuardMark = {
    version: 1,
    ...place,
    owner: await currentOwner(),
    guarded: [...watched.guarded],
    protected: [...watched.protected],
  };
  const file = markOf(sessionFile);
  await writeAtomically(file, `${JSON.stringify(mark)}\n`, 0o600).catch((error: unknown) => {
    throw writeFailure(file, error);
  });
}

export function removeMark(sessionFile: string): Promise<void> {
  return rm(markOf(sessionFile), { force: true });
}

/**
 * Does `work`, which removes the mark, while no other process does: waits for one that does, and does nothing if the mark
 * is gone then. @throws GloveboxError `SESSION_WRITE_FAILED`, and what `signal` aborts with.
 */
export async function whileMarked(sessionFile: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const { mine, left } = await lock(sessionFile, signal);
  try {
    if (await readMark(markOf(sessionFile))) await work();
    // Not before the mark has gone: whoever passed one of these waits at the next.
    await Promise.all(left.map((file) => rm(file, { force: true })));
  } finally {
    await rm(mine, { force: true });
  }
}

/**
 * A lock whose holder died is never removed by those who want it, as two of them could remove each other's: the lock
 * after it is taken instead. `left`: the ones before.
 */
async function lock(sessionFile: string, signal: AbortSignal): Promise<{ mine: string; left: string[] }> {
  for (let left: string[] = []; ; ) {
    signal.throwIfAborted();
    const mine = sessionFile.replace(/\.jsonl$/, `.guard.${left.length}.lock`);
    if (await createLock(mine)) return { mine, left };
    if (await isLeft(mine)) {
      left.push(mine);
    } else {
      await sleep(POLL_MS, undefined, { signal }).catch(() => signal.throwIfAborted());
      left = [];
    }
  }
}

const POLL_MS = 100;
/** Its holder writes its name into a new lock at once, or has died before. */
const NAMELESS_MS = 10_000;

async function createLock(file: string): Promise<boolean> {
  try {
    const handle = await open(file, "wx", 0o600);
    try {
      await handle.writeFile(JSON.stringify(await currentOwner()));
    } catch (error) {
      await rm(file, { force: true });
      throw error;
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (systemCode(error) === "EEXIST") return false;
    throw writeFailure(file, error);
  }
}

async function isLeft(file: string): Promise<boolean> {
  try {
    const owner = parseOwner(await readFile(file, "utf8"));
    if (owner) return (await ownerState(owner)) === "dead";
    return Date.now() - (await stat(file)).mtimeMs > NAMELESS_MS;
  } catch (error) {
    if (systemCode(error) === "ENOENT") return false;
    throw error;
  }
}

/** Sessions in a folder of logs whose controller is gone and which never looked. @throws GloveboxError `SESSION_CORRUPT`. */
export async function unfinishedIn(folder: string): Promise<UnfinishedSession[]> {
  const marked = await marksIn(folder);
  const states = await Promise.all(marked.map(({ mark }) => ownerState(mark.owner)));
  return marked.filter((_, index) => states[index] === "dead");
}

async function marksIn(folder: string): Promise<UnfinishedSession[]> {
  const ids = (await namesIn(folder)).flatMap((name) => {
    const id = basename(name, ENDING);
    return name.endsWith(ENDING) && isSessionId(id) ? [id] : [];
  });
  const found: UnfinishedSession[] = [];
  for (const id of ids) {
    const sessionFile = join(folder, `${id}.jsonl`);
    const mark = await readMark(markOf(sessionFile));
    if (mark) found.push({ sessionFile, mark });
  }
  return found;
}

/** Ids of sessions in a folder of logs that are still at work. */
export async function liveIn(folder: string): Promise<string[]> {
  const marked = await marksIn(folder);
  const states = await Promise.all(marked.map(({ mark }) => ownerState(mark.owner)));
  return marked
    .filter((_, index) => states[index] !== "dead")
    .map(({ sessionFile }) => basename(sessionFile, ".jsonl"));
}

/** Undefined when it has gone meanwhile. */
async function readMark(file: string): Promise<GuardMark | undefined> {
  const { parseMark } = await import("./guard-mark-schema.ts");
  try {
    return parseMark(await readFile(file, "utf8"));
  } catch (error) {
    if (systemCode(error) === "ENOENT") return undefined;
    throw new GloveboxError("SESSION_CORRUPT", `\`${file}\` cannot be used: ${messageOf(error)}`, {
      hint: "It says what a session that died has to look for in its workspace; look there yourself, then remove the file",
      cause: error,
    });
  }
}

function markOf(sessionFile: string): string {
  return sessionFile.replace(/\.jsonl$/, ENDING);
}
