import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { messageOf, systemCode } from "../core/errors.ts";
import type { Quarantined } from "../core/quarantine.ts";
import type { Keep } from "../sandbox/sandbox.ts";
import { sweep } from "../sandbox/sweep.ts";
import { lookForAppeared } from "../workspace/appeared.ts";
import { folderState } from "../workspace/same-folder.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type DockerProviderOptions, preparePorter } from "./docker-provider.ts";
import { removeMark, type UnfinishedSession, unfinishedIn, whileMarked } from "./guard-mark.ts";
import { quarantineFolder, removeParts, storeArchive } from "./quarantine.ts";

/** What was moved out of workspaces for sessions that died, and what could not be looked at. */
export type Recovered = { moved: (Quarantined & { session: string })[]; problems: string[] };

/**
 * Does what the sessions of a folder of logs did not come to: moves out of their workspace what must not be there, in a
 * container of its own. Without such a session nothing is looked at. `onRecovered` is called once, also before a throw.
 * @throws GloveboxError as a start does, and when something could not be moved: nothing may run there then.
 */
export async function finishDead(
  folder: string,
  options: DockerProviderOptions,
  signal: AbortSignal,
  onRecovered: (recovered: Recovered) => void,
): Promise<void> {
  const recovered: Recovered = { moved: [], problems: [] };
  try {
    for (const unfinished of await unfinishedIn(folder)) {
      await whileMarked(unfinished.sessionFile, signal, () => finish(unfinished, { options, signal, recovered }));
    }
  } finally {
    onRecovered(recovered);
  }
}

type Finishing = { options: DockerProviderOptions; signal: AbortSignal; recovered: Recovered };

async function finish({ sessionFile, mark }: UnfinishedSession, finishing: Finishing): Promise<void> {
  await removeParts(quarantineFolder(sessionFile));
  const workspace = await workspaceAt(mark.root);
  if (workspace) await moveOut({ sessionFile, mark }, workspace, finishing);
  await removeMark(sessionFile);
}

async function moveOut(
  { sessionFile, mark }: UnfinishedSession,
  workspace: Workspace,
  { options, signal, recovered }: Finishing,
): Promise<void> {
  const session = basename(sessionFile, ".jsonl");
  // What the session left running is removed here, before anything is looked at.
  const { engine, plan } = await preparePorter(options, {
    sessionId: session,
    workspaceId: basename(dirname(sessionFile)),
    workspace,
    signal,
  });
  if ((await folderState(mark.root, mark.folder)) !== "same") {
    recovered.problems.push(
      `session ${session}: \`${mark.root}\` is not the folder the session worked in, so nothing was moved out of it; if you still have that folder, look through it yourself`,
    );
    return;
  }
  const { found, problem } = await lookForAppeared(mark.root, mark);
  if (problem) recovered.problems.push(`session ${session}: ${problem}`);
  const keep: Keep = async (item, archive) => {
    const kept = await storeArchive(quarantineFolder(sessionFile), item, archive);
    recovered.moved.push({ ...kept, session });
  };
  await sweep(engine, { plan, keep }, found);
}

/** Undefined when the folder is gone: then nothing can be in it. */
async function workspaceAt(root: string): Promise<Workspace | undefined> {
  try {
    const info = await stat(root);
    return info.isDirectory() ? { root, uid: info.uid, gid: info.gid } : undefined;
  } catch (error) {
    if (systemCode(error) === "ENOENT" || systemCode(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** The same for many folders, one after another; what goes wrong in one does not keep the others waiting. */
export async function finishAllDead(
  folders: readonly string[],
  options: DockerProviderOptions,
  signal: AbortSignal,
): Promise<Recovered> {
  const all: Recovered = { moved: [], problems: [] };
  for (const folder of folders) {
    try {
      await finishDead(folder, options, signal, ({ moved, problems }) => {
        all.moved.push(...moved);
        all.problems.push(...problems);
      });
    } catch (error) {
      all.problems.push(messageOf(error));
    }
  }
  return all;
}
