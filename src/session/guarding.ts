import type { Policy } from "../policy/policy.ts";
import type { Keep } from "../sandbox/sandbox.ts";
import { type Look, lookForAppeared, type Watched } from "../workspace/appeared.ts";
import type { MountPlan } from "../workspace/mount-plan.ts";
import { renewPlan } from "../workspace/renew-plan.ts";
import { type FolderIdentity, folderState, identityOf } from "../workspace/same-folder.ts";
import { removeMark, setMark } from "./guard-mark.ts";
import type { SandboxRequest } from "./provider.ts";
import { quarantineFolder, storeArchive } from "./quarantine.ts";
import type { Recorder } from "./recorder.ts";

/** What a session does so that nothing stays in its workspace that must not be there. */
export type Guarding = {
  /** The part of it that the sandbox does. */
  request: Pick<SandboxRequest, "replan" | "protectLinks" | "appeared" | "keep">;
  /** Before anything runs: leaves a mark, for whoever comes after a session that died. */
  begin: () => Promise<void>;
  /** When all has been looked through. */
  end: () => Promise<void>;
};

export type GuardingParts = {
  root: string;
  plan: MountPlan;
  hardlinks: Policy["hardlinks"];
  recorder: Pick<Recorder, "path" | "append">;
};

export function guardWorkspace({ root, plan, hardlinks, recorder }: GuardingParts): Guarding {
  const watched = watchedIn(plan);
  let folder: FolderIdentity | undefined;
  return {
    request: {
      replan: (linked) => renewPlan(root, plan, { paths: linked, rule: hardlinks.rule }),
      protectLinks: hardlinks.value === "allow" ? "never" : "before_writing",
      appeared: () => lookInSame(root, folder, watched),
      async keep(item, archive) {
        const kept = await storeArchive(quarantineFolder(recorder.path), item, archive);
        await recorder.append({ type: "quarantine", ...kept });
      },
    },
    async begin() {
      const { born, ...held } = await identityOf(root);
      await setMark(recorder.path, { root, folder: { ...held, born } }, watched);
      folder = held;
    },
    end: () => removeMark(recorder.path),
  };
}

/** What a command made is not looked for in a folder that it never saw. */
async function lookInSame(root: string, folder: FolderIdentity | undefined, watched: Watched): Promise<Look> {
  if (folder && (await folderState(root, folder)) === "same") return lookForAppeared(root, watched);
  const problem = `the workspace is no longer at \`${root}\`, so what the session left in it could not be looked through`;
  return { found: [], problem };
}

/** Where there is no session: what cannot be kept is not moved out. */
export const keepNothing: Keep = () => Promise.reject(new Error("there is no session that could keep it"));

/** The same for a sandbox without a session, whose person sees to what appears. */
export function withoutSession({ root, plan, hardlinks }: Omit<GuardingParts, "recorder">): Guarding["request"] {
  return {
    replan: (linked) => renewPlan(root, plan, { paths: linked, rule: hardlinks.rule }),
    protectLinks: hardlinks.value === "allow" ? "never" : "at_start",
    appeared: () => Promise.resolve({ found: [], problem: undefined }),
    keep: keepNothing,
  };
}

/** What is there at the start is never taken for something that appeared. */
function watchedIn({ guarded, readonly, hidden }: MountPlan): Watched {
  const protectedPaths = [...readonly, ...hidden].map(({ path }) => path);
  return { guarded, protected: protectedPaths.filter((path) => path !== ".") };
}
