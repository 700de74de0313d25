import { stat } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { messageOf, systemCode } from "../core/errors.ts";
import type { Quarantined } from "../core/quarantine.ts";
import { sweep } from "../sandbox/sweep.ts";
import { lookForAppeared } from "../workspace/appeared.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type DockerProviderOptions, preparePorter } from "./docker-provider.ts";
import { removeMark, type UnfinishedSession, unfinishedIn } from "./guard-mark.ts";
import { quarantineFolder, storeArchive } from "./quarantine.ts";

/** What was moved out of workspaces for sessions that died, and what could not be looked at. */
export type Recovered = { moved: (Quarantined & { session: string })[]; problems: string[] };

/**
 * Does what the sessions of a folder of logs did not come to: moves out of their workspace what must not be there, in a
 * container of its own. Without such a session nothing is looked at.
 * @throws GloveboxError as a start does, and when something could not be moved: nothing may run there then.
 */
export async function finishDead(
  folder: string,
  options: DockerProviderOptions,
  signal: AbortSignal,
): Promise<Recovered> {
  const recovered: Recovered = { moved: [], problems: [] };
  for (const unfinished of await unfinishedIn(folder)) await finish(unfinished, { options, signal, recovered });
  return recovered;
}

type Finishing = { options: DockerProviderOptions; signal: AbortSignal; recovered: Recovered };

async function finish(
  { sessionFile, mark }: UnfinishedSession,
  { options, signal, recovered }: Finishing,
): Promise<void> {
  const workspace = await workspaceAt(mark.root);
  if (workspace) {
    const session = basename(sessionFile, ".jsonl");
    // What the session left running is removed here, before anything is looked at.
    const { engine, plan } = await preparePorter(options, {
      sessionId: session,
      workspaceId: basename(dirname(sessionFile)),
      workspace,
      signal,
    });
    const { found, problem } = await lookForAppeared(mark.root, mark);
    if (problem) recovered.problems.push(`session ${session}: ${problem}`);
    const keep: Parameters<typeof sweep>[1]["keep"] = async (item, archive) => {
      const kept = await storeArchive(quarantineFolder(sessionFile), item, archive);
      recovered.moved.push({ ...kept, session });
    };
    await sweep(engine, { plan, keep }, found);
  }
  await removeMark(sessionFile);
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
      const { moved, problems } = await finishDead(folder, options, signal);
      all.moved.push(...moved);
      all.problems.push(...problems);
    } catch (error) {
      all.problems.push(messageOf(error));
    }
  }
  return all;
}
