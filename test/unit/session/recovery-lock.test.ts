import { mkdtempSync, rmSync } from "node:fs";
import { readdir, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { uuidv7 } from "../../../src/core/ids.ts";
import { currentOwner } from "../../../src/sandbox/owner.ts";
import { removeMark, setMark, whileMarked } from "../../../src/session/guard-mark.ts";

const PLACE = { root: "/srv/ws", folder: { dev: "1", ino: "2", born: "3" } };
const never = new AbortController().signal;

let folder: string;
let id: string;
let sessionFile: string;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "glovebox-lock-"));
  id = uuidv7();
  sessionFile = join(folder, `${id}.jsonl`);
  await setMark(sessionFile, PLACE, { guarded: [], protected: [] });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const lockFile = (number: number): string => join(folder, `${id}.guard.${number}.lock`);

async function leaveDeadLock(number: number): Promise<void> {
  await writeFile(lockFile(number), JSON.stringify({ ...(await currentOwner()), pid: 0x3fffff }));
}

/** Many who want to do the work at once; gives how often it was done. */
async function workDone(times = 8): Promise<number> {
  let done = 0;
  const work = async (): Promise<void> => {
    done++;
    await new Promise((resolve) => setTimeout(resolve, 50));
    await removeMark(sessionFile);
  };
  await Promise.all(Array.from({ length: times }, () => whileMarked(sessionFile, never, work)));
  return done;
}

describe("the lock of a recovery", () => {
  it("lets one of many do it, and leaves nothing", async () => {
    expect([await workDone(), await readdir(folder)]).toEqual([1, []]);
  });

  it("lets one of many take over from holders that died, and leaves nothing", async () => {
    for (const number of [0, 1]) await leaveDeadLock(number);
    expect([await workDone(), await readdir(folder)]).toEqual([1, []]);
  });

  it("is taken over from one that died before its name was in it", async () => {
    await writeFile(lockFile(0), "");
    await utimes(lockFile(0), 1, 1);
    expect([await workDone(2), await readdir(folder)]).toEqual([1, []]);
  });

  it("is given back when the work fails, for the next to try", async () => {
    await leaveDeadLock(0);
    const failing = whileMarked(sessionFile, never, () => Promise.reject(new Error("no engine")));
    await expect(failing).rejects.toThrow("no engine");
    expect((await readdir(folder)).toSorted()).toEqual([`${id}.guard.0.lock`, `${id}.guard.json`]);
    expect([await workDone(2), await readdir(folder)]).toEqual([1, []]);
  });

  it("is waited for no longer than the signal says", async () => {
    await writeFile(lockFile(0), JSON.stringify(await currentOwner()));
    const reason = new Error("interrupted");
    const abort = new AbortController();
    let worked = false;
    const waiting = whileMarked(sessionFile, abort.signal, async () => {
      worked = true;
    });
    setTimeout(() => abort.abort(reason), 150);
    await expect(waiting).rejects.toBe(reason);
    expect([worked, (await readdir(folder)).toSorted()]).toEqual([false, [`${id}.guard.0.lock`, `${id}.guard.json`]]);
  });
});
