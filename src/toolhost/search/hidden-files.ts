import type { CallContext } from "../context.ts";
import { shownName } from "../files/names.ts";
import type { PathMatcher } from "./glob.ts";
import { runRg } from "./rg.ts";
import { type SearchPlace, withoutDot } from "./search-place.ts";

const EXAMPLES = 5;
/** An empty answer is there already; this only explains it. */
const LOOK_MS = 5000;

type HiddenSearch = {
  place: SearchPlace;
  context: CallContext;
  accepts: PathMatcher;
  /** A search that found nothing, as one that lists files. */
  rg: { args: readonly string[]; input?: string };
};

/** Files that only ignore rules kept out of an empty answer: up to five, and one more when there are more. */
export async function hiddenFiles({ place, context, accepts, rg }: HiddenSearch): Promise<string[]> {
  const found: string[] = [];
  const run = {
    program: context.host.hello.programs.rg,
    ...rg,
    args: ["-0", "--no-ignore", ...rg.args],
    cwd: place.cwd,
    isRoot: place.isRoot,
    delimiter: 0,
    maxRecordBytes: 64 * 1024,
    timeoutMs: LOOK_MS,
    signal: context.signal,
  };
  await runRg(run, (record) => {
    if (record.type === "overlong") return true;
    const name = withoutDot(record.bytes);
    if (accepts(name.toString("utf8"))) found.push(shownName(Buffer.concat([Buffer.from(place.prefix), name])));
    return found.length <= EXAMPLES;
  });
  return found;
}

/** How an empty answer goes on when {@link hiddenFiles} found some. */
export function hiddenWords(hidden: readonly string[]): string {
  const list = hidden.slice(0, EXAMPLES).join("\n") + (hidden.length > EXAMPLES ? "\n…" : "");
  return `outside of ignored files (.gitignore and the like). These ignored ones do; read opens them, bash (find, grep -r) searches all:\n${list}`;
}
