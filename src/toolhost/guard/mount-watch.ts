import { openSync, readSync } from "node:fs";
import { join } from "node:path";
import { parseMounts } from "../../core/mount-points.ts";
import { isWithin } from "../../core/path-rules.ts";
import type { Hello, MountsChanged } from "../../protocol/messages.ts";
import type { ProcessScope } from "../shell/process-scope.ts";
import type { Guard } from "./guard.ts";
import type { Keeper } from "./keeper.ts";
import { KEPT, type Listing, type ListingLimits, listItem } from "./listing.ts";
import { packListing } from "./pack.ts";

/** A file saved on the host is writable inside for this long at most. */
const EVERY_MS = 200;
/** What is remembered of protected paths, each and in all. */
const REMEMBERED: ListingLimits = { bytes: 4 * 1024 * 1024, fileBytes: 1024 * 1024, entries: 64 };

type Start = { listing: Listing; archive: Buffer };
type Protected = Hello["readonly"][number];

export type MountWatchParts = {
  hello: Hello;
  scope: Pick<ProcessScope, "stopAll">;
  keeper: Keeper;
  guard: Guard;
  /** Nothing of the session's runs: nothing could write then, and the next call looks anew. */
  isQuiet: () => boolean;
  /** Everything stands still and is kept; nothing must begin any more. */
  onChange: (change: Pick<MountsChanged, "paths" | "notes">) => void;
};

/**
 * Watches the mounts of the workspace. When a file is renamed over the source of one on the host, or its folder removed,
 * the kernel detaches it in every other namespace: what lies there then is the host's new file, and can be written.
 */
export class MountWatch {
  readonly #parts: MountWatchParts;
  readonly #read = tableReader();
  readonly #table: Buffer;
  readonly #before: Map<string, string | undefined>;
  readonly #isWhole: boolean;
  readonly #start = new Map<string, Start>();
  #budget = REMEMBERED.bytes;
  #timer: NodeJS.Timeout | undefined;
  #remembered: Promise<void> | undefined;
  #hasChanged = false;

  constructor(parts: MountWatchParts) {
    this.#parts = parts;
    this.#table = Buffer.from(this.#read());
    const now = identitiesIn(this.#table);
    this.#before = new Map(parts.hello.mounts.map((path) => [path, now.get(path)]));
    this.#isWhole = [...this.#before.values()].every((id) => id !== undefined);
  }

  /** Looks every 200 ms from now on, until nothing runs any more. */
  resume(): void {
    if (this.#hasChanged) return;
    this.#timer ??= setInterval(() => (this.#parts.isQuiet() ? this.stop() : this.hasChanged()), EVERY_MS);
    this.#timer.unref();
  }

  /** Looks now. The first time something is different, every process is stopped at once and `onChange` follows. */
  hasChanged(): boolean {
    if (this.#hasChanged) return true;
    const table = this.#read();
    if (this.#isWhole && table.equals(this.#table)) return false;
    const now = identitiesIn(table);
    const paths = [...this.#before].flatMap(([path, id]) => (id !== undefined && now.get(path) === id ? [] : [path]));
    if (paths.length === 0) return false;
    this.#hasChanged = true;
    this.#parts.scope.stopAll?.();
    this.stop();
    void this.#report(paths);
    return true;
  }

  /** Remembers what protected paths hold, before the first command that could change them. */
  remember(): Promise<void> {
    this.#remembered ??= this.#rememberAll();
    return this.#remembered;
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #rememberAll(): Promise<void> {
    const { root, readonly } = this.#parts.hello;
    for (const { path } of readonly.filter((entry) => entry.path !== ".")) {
      const listing = listItem(root, path, { ...REMEMBERED, bytes: this.#budget }, false);
      const chunks: Buffer[] = [];
      for await (const chunk of packListing(root, listing)) chunks.push(chunk);
      const archive = Buffer.concat(chunks);
      this.#budget = Math.max(0, this.#budget - sizeOf(listing));
      this.#start.set(path, { listing, archive });
    }
  }

  async #report(paths: readonly string[]): Promise<void> {
    const { hello, guard, onChange } = this.#parts;
    const notes: string[] = [];
    const gone = hello.readonly.filter(({ path }) => paths.some((mount) => isWithin(join(hello.root, path), mount)));
    for (const one of gone) notes.push(...(await this.#keepBoth(one)));
    for (const { item, problem } of await guard.sweep()) {
      if (problem !== undefined) notes.push(`${item.path} could not be moved out of the workspace: ${problem}`);
    }
    const relative = paths.map((path) => (path === hello.root ? "." : path.slice(hello.root.length + 1)));
    onChange({ paths: relative, notes });
  }

  /** Resolves with what is not kept, in words. */
  async #keepBoth({ path, rule }: Protected): Promise<string[]> {
    const { root } = this.#parts.hello;
    const notes: string[] = [];
    const start = this.#start.get(path);
    if (start) notes.push(...(await this.#keep({ path, rule }, "before", start.listing, [start.archive])));
    const found = listItem(root, path, KEPT, false);
    if (found.entries.length === 0) notes.push(`${path} is not there any more`);
    else notes.push(...(await this.#keep({ path, rule }, "after", found, packListing(root, found))));
    return notes;
  }

  async #keep(
    { path, rule }: Protected,
    kind: "before" | "after",
    { entries, cut }: Listing,
    archive: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  ): Promise<string[]> {
    const which = kind === "before" ? "as it was at the start" : "as it was found";
    const left = cut.map((words) => `not kept of ${path} ${which}: ${words}`);
    if (entries.length === 0) return left;
    try {
      await this.#parts.keeper.keep({ path, rule, kind, entries: entries.length, cut }, archive);
      return left;
    } catch (error) {
      return [...left, `${path} ${which} could not be kept: ${error instanceof Error ? error.message : String(error)}`];
    }
  }
}

function sizeOf({ entries }: Listing): number {
  return entries.reduce((sum, entry) => sum + (entry.type === "file" ? entry.size : 0), 0);
}

/** The mount at each path, the topmost where several are stacked, with its options. */
function identitiesIn(table: Buffer): Map<string, string> {
  return new Map(parseMounts(table.toString("utf8")).map(({ path, id, options }) => [path, `${id} ${options}`]));
}

/** Reads our mount table anew each time, by a descriptor that is kept: a limit on open files does not blind it. */
function tableReader(): () => Buffer {
  const fd = openSync("/proc/self/mountinfo", "r");
  let buffer = Buffer.alloc(64 * 1024);
  return () => {
    for (let at = 0; ; ) {
      const count = readSync(fd, buffer, at, buffer.length - at, at);
      if (count === 0) return buffer.subarray(0, at);
      at += count;
      if (at === buffer.length) buffer = Buffer.concat([buffer, Buffer.alloc(buffer.length)]);
    }
  };
}
