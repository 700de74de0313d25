import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { GloveboxError, systemCode, toGloveboxError } from "../core/errors.ts";
import { isSessionId } from "../core/ids.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { type SessionSummary, summarise } from "./history.ts";
import { type Home, sessionFile, workspaceId } from "./home.ts";

/** A log by its place; nothing of it has been read. */
export type SessionPlace = { id: string; path: string };

/** A log in a list: what it says, or why it cannot be read. */
export type ListedSession = SessionPlace &
  ({ type: "readable"; summary: SessionSummary } | { type: "unreadable"; error: GloveboxError });

/** Sessions of the workspace at `cwd`, or of all; newest first. One that cannot be read is listed as such. */
export async function listSessions(home: Home, cwd: string | undefined): Promise<ListedSession[]> {
  const places = await findPlaces(home, cwd);
  const listed: ListedSession[] = [];
  for (const place of places) {
    const found = await summarise(place.path).then(
      (summary) => ({ type: "readable" as const, summary }),
      (error: unknown) => ({ type: "unreadable" as const, error: toGloveboxError(error) }),
    );
    listed.push({ ...place, ...found });
  }
  return listed;
}

/** Fewer characters of an id are more likely a slip than a choice. */
const SHORTEST_PREFIX = 4;

/**
 * The session a person means by its id, a unique beginning of it, or `latest` of the workspace at `cwd`. Nothing but
 * such words ever becomes part of a path. @throws GloveboxError `USAGE`, `SESSION_NOT_FOUND`.
 */
export async function findSession(home: Home, word: string, cwd: string): Promise<SessionPlace> {
  if (word === "latest") {
    const [newest] = await findPlaces(home, cwd);
    if (newest) return newest;
    throw notFound("No session has been run in this folder");
  }
  if (!/^[0-9a-f-]+$/.test(word) || word.length < SHORTEST_PREFIX || word.length > 36) {
    throw new GloveboxError("USAGE", `\`${clip(visibleLine(word), 60)}\` is not the id of a session`, {
      hint: "Give its id, the first four or more characters of it, or `latest`; `glovebox sessions list --all` lists them",
    });
  }
  const matches = (await findPlaces(home, undefined)).filter(({ id }) => id.startsWith(word));
  const [match, other] = matches;
  if (!match) throw notFound(`There is no session \`${word}\``);
  if (!other) return match;
  throw new GloveboxError("USAGE", `${matches.length} sessions begin with \`${word}\``, {
    hint: `Such as \`${match.id}\` and \`${other.id}\`; give more of the id`,
  });
}

async function findPlaces(home: Home, cwd: string | undefined): Promise<SessionPlace[]> {
  const workspaces = cwd === undefined ? await workspacesIn(home) : [workspaceId(await realpath(cwd).catch(() => cwd))];
  const places = await Promise.all(workspaces.map((workspace) => placesIn(home, workspace)));
  // An id begins with its time.
  return places.flat().toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

/** Names of the folders of logs, one a workspace. */
export async function workspacesIn(home: Home): Promise<string[]> {
  const entries = await entriesOf(home.sessions);
  return entries.filter((entry) => entry.isDirectory() && /^[0-9a-f]{16}$/.test(entry.name)).map(({ name }) => name);
}

async function placesIn(home: Home, workspace: string): Promise<SessionPlace[]> {
  const entries = await entriesOf(join(home.sessions, workspace));
  return entries.flatMap(({ name }) => {
    const id = name.replace(/\.jsonl$/, "");
    return name !== id && isSessionId(id) ? [{ id, path: sessionFile(home, workspace, id) }] : [];
  });
}

async function entriesOf(folder: string) {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw error;
  }
}

function notFound(message: string): GloveboxError {
  return new GloveboxError("SESSION_NOT_FOUND", message, { hint: "`glovebox sessions list --all` lists them" });
}
