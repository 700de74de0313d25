import { byteLength, clip } from "../../core/truncate.ts";
import type { Outcome } from "../../protocol/messages.ts";
import type { ToolArgs } from "../../tools/catalogue.ts";
import { OUTPUT_LIMITS } from "../../tools/contract.ts";
import type { CallContext, Handler } from "../context.ts";
import { ESCAPED_NAMES, shownName } from "../files/names.ts";
import { shownPath } from "../files/paths.ts";
import { cancelled, plural, shownOutcome, withNotices } from "../notices.ts";
import { outcome, ToolFailure } from "../outcomes.ts";
import { globMatcher, type PathMatcher } from "./glob.ts";
import { hiddenFiles, hiddenWords } from "./hidden-files.ts";
import { listFiles } from "./list-files.ts";
import { KILLED_WORDS, RG_MS, type RgEnd, STATUS_OF_END } from "./rg.ts";
import { relativePattern, type SearchPlace, searchPlace } from "./search-place.ts";

const DEFAULT_LIMIT = 1000;

export const handleFind: Handler<"find"> = async (args, context) => {
  const place = await searchPlace(args.path, context.host.hello);
  if (place.target !== undefined) {
    throw new ToolFailure(`\`${shownPath(args.path ?? "")}\` is a file; \`path\` is the directory to search`);
  }
  const search = { place, context, matches: globMatcher(relativePattern(args.pattern, args.path, context.host.hello)) };
  const listing = new Listing(search, args.limit ?? DEFAULT_LIMIT);
  const end = await listFiles(place, context, (name) => {
    listing.add(name, name.toString("utf8"));
    return true;
  });
  if (end.type === "cancelled") return cancelled("the search was stopped");
  if (listing.total === 0 && end.type === "killed") throw new ToolFailure(`Nothing found so far. ${KILLED_WORDS}`);
  if (listing.total === 0 && end.type === "done") return nothingFound(args, search, listing.folder, end.errors);
  return report(listing, end);
};

type FileList = { place: SearchPlace; context: CallContext; matches: PathMatcher };

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
    ...(end.type === "killed" ? [KILLED_WORDS] : []),
    ...(end.type === "done" && end.errors !== "" ? [`Not all could be listed: ${clip(end.errors, 500)}`] : []),
  ];
  const status = STATUS_OF_END[end.type];
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
