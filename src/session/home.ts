import { createHash } from "node:crypto";
import { join, resolve } from "node:path";

/** The places of one user's glovebox. All are made on first use, for their owner only. */
export type Home = { root: string; sessions: string; cache: string };

/** `~/.glovebox`, or `$GLOVEBOX_HOME`. */
export function homeOf(env: NodeJS.ProcessEnv, userHome: string): Home {
  const root = resolve(env["GLOVEBOX_HOME"] || join(userHome, ".glovebox"));
  return { root, sessions: join(root, "sessions"), cache: join(root, "cache") };
}

/** Names a workspace without saying where it is: the first 16 hex digits of the SHA-256 of its path. */
export function workspaceId(root: string): string {
  return createHash("sha256").update(root).digest("hex").slice(0, 16);
}

export function sessionFile(home: Home, workspace: string, id: string): string {
  return join(home.sessions, workspace, `${id}.jsonl`);
}
