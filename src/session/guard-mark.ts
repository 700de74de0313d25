import { readdir, readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { writeAtomically } from "../core/atomic-file.ts";
import { GloveboxError, messageOf, systemCode } from "../core/errors.ts";
import { isSessionId } from "../core/ids.ts";
import { currentOwner, ownerState } from "../sandbox/owner.ts";
import type { Watched } from "../workspace/appeared.ts";
import type { GuardMark } from "./guard-mark-schema.ts";
import { writeFailure } from "./log.ts";

/** The mark of a session that has not looked through its workspace at its end. */
export type UnfinishedSession = { sessionFile: string; mark: GuardMark };

const ENDING = ".guard.json";

/** Says, beside the log, what is to be looked for if this session dies. @throws GloveboxError `SESSION_WRITE_FAILED`. */
export async function setMark(sessionFile: string, root: string, watched: Watched): Promise<void> {
  const mark: GuardMark = {
    version: 1,
    root,
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

async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}
