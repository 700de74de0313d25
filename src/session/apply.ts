import { basename, dirname } from "node:path";
import { GloveboxError } from "../core/errors.ts";
import { clip } from "../core/truncate.ts";
import { VERSION } from "../core/version.ts";
import { visibleLine } from "../core/visible.ts";
import { BUILT_IN_POLICY } from "../policy/policy.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import { inBox } from "../sandbox/sweep.ts";
import { openWorkspace } from "../workspace/workspace.ts";
import { preparePorter } from "./docker-provider.ts";
import { liveIn } from "./guard-mark.ts";
import { readHistory } from "./history.ts";
import { findSession } from "./history-find.ts";
import { containerChoices } from "./policy-use.ts";
import { type KeptItem, listKept, openArchive, quarantineFolder } from "./quarantine.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a session has kept; `root` is its workspace. */
export type KeptBySession = { id: string; sessionFile: string; root: string; items: KeptItem[] };

/** @throws GloveboxError `USAGE`, `SESSION_NOT_FOUND`, `SESSION_CORRUPT`. */
export async function keptBy(word: string, { home, cwd }: Surroundings): Promise<KeptBySession> {
  const { id, path } = await findSession(home, word, cwd);
  return { id, sessionFile: path, root: await rootOf(path), items: await listKept(quarantineFolder(path)) };
}

/**
 * The one kept item of a path; `sha256`, or its beginning, tells several of one path apart.
 * @throws GloveboxError `USAGE` for none and for several.
 */
export function itemAt({ id, items }: KeptBySession, path: string, sha256: string | undefined): KeptItem {
  const plain = path.replace(/^\.\//, "").replace(/\/+$/, "");
  const matches = items.filter((item) => item.path === plain && item.sha256.startsWith(sha256 ?? ""));
  const [match, other] = matches;
  const shown = clip(visibleLine(path), 200);
  if (!match) {
    const paths = [...new Set(items.map((item) => `\`${visibleLine(item.path)}\``))];
    throw new GloveboxError("USAGE", `Session ${id} has kept nothing of \`${shown}\``, {
      hint: paths.length > 0 ? `It has kept ${clip(paths.join(", "), 1000)}` : "It has kept nothing at all",
    });
  }
  if (!other) return match;
  const hashes = matches.map((item) => `\`${item.sha256.slice(0, 12)}\` (${item.kind})`).join(", ");
  throw new GloveboxError("USAGE", `Session ${id} has kept \`${shown}\` ${matches.length} times`, {
    hint: `Say which by \`--sha256\`: ${hashes}`,
  });
}

export type ApplyOptions = {
  build: boolean;
  onProgress: (words: string) => void;
  onReaped: (reaped: Reaped) => void;
  signal: AbortSignal;
};

/**
 * Puts a kept item back into its workspace, from inside a container: nothing that is there is replaced. It stays kept.
 * @throws GloveboxError `WORKSPACE_REFUSED` with why it could not be, and as a start does.
 */
export async function bringBack(
  { id, sessionFile, root }: KeptBySession,
  item: KeptItem,
  options: ApplyOptions,
  { env, userHome, packageRoot, home }: Surroundings,
): Promise<void> {
  const workspace = await openWorkspace(root, { userHome, gloveboxHome: home.root });
  const archive = await openArchive(item);
  const folder = dirname(sessionFile);
  const [live] = await liveIn(folder);
  if (live !== undefined) {
    throw new GloveboxError(
      "WORKSPACE_REFUSED",
      `Session ${live} is at work in \`${root}\` and would move it out again`,
      {
        hint: "Wait for its end",
      },
    );
  }
  const place = { env, userHome, packageRoot, cacheDir: home.cache, version: VERSION };
  const { engine, plan } = await preparePorter(
    { ...place, ...containerChoices(BUILT_IN_POLICY, {}), ...options },
    { sessionId: id, workspaceId: basename(folder), workspace, signal: options.signal },
  );
  const keep = (): Promise<never> => Promise.reject(new Error("nothing is moved out here"));
  const problem = await inBox(engine, { plan, keep }, (connection) => connection.restore(item.path, archive));
  if (problem === undefined) return;
  throw new GloveboxError(
    "WORKSPACE_REFUSED",
    `\`${visibleLine(item.path)}\` could not be brought back: ${visibleLine(problem)}`,
    {
      hint: `It is still kept: \`${item.file}\``,
    },
  );
}

async function rootOf(sessionFile: string): Promise<string> {
  for await (const item of readHistory(sessionFile)) if (item.type === "header") return item.header.cwd;
  throw new GloveboxError("SESSION_CORRUPT", `Session log \`${sessionFile}\` does not say where it was`);
}
