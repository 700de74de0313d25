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
  const listing = new Listing(search, args.limit ?? DEFAULT_LIMIT);
  const end = await listFiles(search, (name, text) => listing.add(name, text));
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

/** Gives every file to `take`, by its name's bytes and by its text. */
function listFiles({ place, context }: FileList, take: (name: Buffer, text: string) => void): Promise<RgEnd> {
  const run = {
    program: context.host.hello.programs.rg,
    args: ["--files", "-0"],
    cwd: place.cwd,
    isRoot: place.isRoot,
    delimiter: 0,
    maxRecordBytes: MAX_NAME_BYTES,
    timeoutMs: RG_MS,
    signal: context.signal,
  };
  return runRg(run, (record) => {
    if (record.type === "overlong") return true;
    const name = withoutDot(record.bytes);
    take(name, name.toString("utf8"));
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
  /** A directory that matches, looked for as long as no file does. */
  folder: string | undefined;
  readonly lines: string[] = [];
  escaped = false;
  readonly #matches: PathMatcher;
  readonly #prefix: Buffer;
  readonly #limit: number;
  #bytes = 0;
  #full = false;
  #lookedAt = "";

  constructor({ place, matches }: FileList, limit: number) {
    this.#matches = matches;
    this.#prefix = Buffer.from(place.prefix);
    this.#limit = limit;
  }

  add(name: Buffer, text: string): void {
    if (!this.#matches(text)) return this.#lookAtFolder(text);
    this.total++;
    if (!this.#full) this.#show(Buffer.concat([this.#prefix, name]));
  }

  // The files of a directory come one after the other, so each is looked at once or so.
  #lookAtFolder(text: string): void {
    if (this.total > 0 || this.folder !== undefined) return;
    const folder = text.slice(0, Math.max(0, text.lastIndexOf("/")));
    if (folder === this.#lookedAt) return;
    this.#lookedAt = folder;
    this.folder = parentsOf(text).find(this.#matches);
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
