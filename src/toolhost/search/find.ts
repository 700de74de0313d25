import { byteLength, clip } from "../../core/truncate.ts";
import type { Outcome } from "../../protocol/messages.ts";
import type { ToolArgs } from "../../tools/catalogue.ts";
import { OUTPUT_LIMITS } from "../../tools/contract.ts";
import type { CallContext, Handler } from "../context.ts";
import { ESCAPED_NAMES, shownName } from "../files/names.ts";
import { resolvePath, shownPath } from "../files/paths.ts";
import { cancelled, plural, shownOutcome, withNotices } from "../notices.ts";
import { outcome, ToolFailure } from "../outcomes.ts";
import { globMatcher, type PathMatcher } from "./glob.ts";
import { hiddenFiles, hiddenWords } from "./hidden-files.ts";
import { RG_MS, type RgEnd, runRg } from "./rg.ts";
import { type SearchPlace, searchPlace, withoutDot } from "./search-place.ts";

const DEFAULT_LIMIT = 1000;
const MAX_NAME_BYTES = 64 * 1024;

export const handleFind: Handler<"find"> = async (args, context) => {
  const place = await searchPlace(args.path, context.host.hello);
  if (place.target !== undefined) {
    throw new ToolFailure(`\`${shownPath(args.path ?? "")}\` is a file; \`path\` is the directory to search`);
  }
  const search = { place, context, matches: globMatcher(relativePattern(args.pattern, args.path, context)) };
  const listing = new Listing(place, args.limit ?? DEFAULT_LIMIT);
  const end = await listFiles(search, (name, folder) => listing.add(name, folder));
  if (end.type === "cancelled") return cancelled("the search was stopped");
  if (listing.total === 0 && end.type === "done") return nothingFound(args, search, listing.folder, end.errors);
  return report(listing, end);
};

/** A pattern may name files by their whole path, though it is matched below the directory searched. */
function relativePattern(pattern: string, path: string | undefined, { host }: CallContext): string {
  const folder = resolvePath(path ?? ".", host.hello).replace(/\/(\.\/?)?$/, "");
  return pattern.startsWith(`${folder}/`) ? pattern.slice(folder.length) : pattern;
}

type FileList = { place: SearchPlace; context: CallContext; matches: PathMatcher };

/** Gives every file that matches to `take`; `folder` names a directory that matches when no file did. */
function listFiles(
  { place, context, matches }: FileList,
  take: (name: Buffer, folder: string | undefined) => void,
): Promise<RgEnd> {
  const run = {
    program: context.host.hello.programs.rg,
    args: ["--files", "-0"],
    cwd: place.cwd,
    delimiter: 0,
    maxRecordBytes: MAX_NAME_BYTES,
    timeoutMs: RG_MS,
    signal: context.signal,
  };
  return runRg(run, (record) => {
    if (record.type === "overlong") return true;
    const name = withoutDot(record.bytes);
    const text = name.toString("utf8");
    const folder = matches(text) ? undefined : parentsOf(text).find(matches);
    if (folder !== undefined || matches(text)) take(name, folder);
    return true;
  });
}

function parentsOf(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}

/** The files found, as many as are shown; the others are counted. */
class Listing {
  total = 0;
  folder: string | undefined;
  readonly lines: string[] = [];
  escaped = false;
  readonly #prefix: Buffer;
  readonly #limit: number;
  #bytes = 0;
  #full = false;

  constructor({ prefix }: SearchPlace, limit: number) {
    this.#prefix = Buffer.from(prefix);
    this.#limit = limit;
  }

  add(name: Buffer, folder: string | undefined): void {
    this.folder ??= folder;
    if (folder !== undefined) return;
    this.total++;
    if (!this.#full) this.#show(Buffer.concat([this.#prefix, name]));
  }

  #show(name: Buffer): void {
    const line = shownName(name);
    const bytes = this.#bytes + byteLength(line) + 1;
    this.#full = this.lines.length >= this.#limit || bytes > OUTPUT_LIMITS.maxBytes;
    if (this.#full) return;
    this.#bytes = bytes;
    this.lines.push(line);
    this.escaped ||= !Buffer.from(line).equals(name);
  }
}

function report(listing: Listing, end: RgEnd): Outcome {
  const shown = listing.lines.length;
  const cut = listing.total > shown;
  const notices = [
    ...(listing.escaped ? [ESCAPED_NAMES] : []),
    ...(cut ? [`First ${shown} of ${plural(listing.total, "file")}; narrow the pattern or path, or raise limit`] : []),
    ...(end.type === "timed_out" ? [`Stopped after ${RG_MS / 1000} s, there may be more; narrow the path`] : []),
    ...(end.type === "done" && end.errors !== "" ? [`Not all could be listed: ${clip(end.errors, 500)}`] : []),
  ];
  const status = end.type === "timed_out" ? "timed_out" : "ok";
  return shownOutcome(status, withNotices(listing.lines.join("\n"), notices), { matches: listing.total }, cut);
}

async function nothingFound(
  args: ToolArgs<"find">,
  search: FileList,
  folder: string | undefined,
  errors: string,
): Promise<Outcome> {
  const { place, context, matches } = search;
  const hidden = await hiddenFiles({ place, context, accepts: matches, rg: { args: ["--files"] } });
  if (context.signal.aborted) return cancelled("the search was stopped");
  const words = hidden.length > 0 ? ` ${hiddenWords(hidden)}` : folderWords(place, folder);
  const unread = errors === "" ? [] : [`Not all could be listed: ${clip(errors, 500)}`];
  return outcome("ok", withNotices(`No files match \`${shownPath(args.pattern)}\`${words}`, unread), { matches: 0 });
}

function folderWords({ prefix }: SearchPlace, folder: string | undefined): string {
  if (folder === undefined) return "";
  return `; ${shownPath(prefix + folder)} is a directory, use ls, or find with ${shownPath(folder)}/**`;
}
