import { open } from "node:fs/promises";
import { clip } from "../../core/truncate.ts";
import type { Outcome } from "../../protocol/messages.ts";
import type { ToolArgs } from "../../tools/catalogue.ts";
import type { CallContext, Handler } from "../context.ts";
import { binaryKind, SNIFF_BYTES } from "../files/file-magic.ts";
import { shownPath } from "../files/paths.ts";
import { readUpTo } from "../files/regular-file.ts";
import { cancelled, shownOutcome, withNotices } from "../notices.ts";
import { outcome, ToolFailure } from "../outcomes.ts";
import { globMatcher, type PathMatcher } from "./glob.ts";
import { grepEvent } from "./grep-events.ts";
import { GrepOutput, limitNotice } from "./grep-output.ts";
import { nameFilter, rgPattern } from "./grep-pattern.ts";
import { hiddenFiles, hiddenWords } from "./hidden-files.ts";
import { listFiles } from "./list-files.ts";
import { KILLED_WORDS, RG_MS, type RgEnd, runRg, STATUS_OF_END } from "./rg.ts";
import { relativePattern, type SearchPlace, searchPlace } from "./search-place.ts";

const DEFAULT_LIMIT = 100;
/** A message of rg holds a whole line; of longer ones only the place is told. */
const MAX_MESSAGE_BYTES = 8 * 1024 * 1024;

export const handleGrep: Handler<"grep"> = async (asked, context) => {
  const { hello } = context.host;
  const place = await searchPlace(asked.path, hello);
  const args = asked.glob === undefined ? asked : { ...asked, glob: relativePattern(asked.glob, asked.path, hello) };
  const accepts = fileFilter(args.glob);
  const limit = args.limit ?? DEFAULT_LIMIT;
  const output = new GrepOutput(place.prefix, accepts, { matches: limit, context: args.context ?? 0 });
  const end = await search(args, place, context, output);
  if (end.type === "cancelled") return cancelled("the search was stopped");
  if (end.type === "done" && !output.finished) throw searchFailure(end);
  if (output.openFile !== undefined) output.endFile(await looksBinary(place, output.openFile));
  if (output.lines.length === 0 && end.type === "killed") throw new ToolFailure(`No match so far. ${KILLED_WORDS}`);
  if (output.lines.length === 0 && end.type === "done") return nothingFound(args, place, accepts, context, end.errors);
  return report(output, end, limit);
};

/** `!` in front leaves files out, as it does for rg. */
function fileFilter(glob: string | undefined): PathMatcher {
  if (glob === undefined) return () => true;
  if (!glob.startsWith("!")) return globMatcher(glob);
  const excluded = globMatcher(glob.slice(1));
  return (path) => !excluded(path);
}

function search(args: ToolArgs<"grep">, place: SearchPlace, context: CallContext, output: GrepOutput): Promise<RgEnd> {
  const pattern = rgPattern(args);
  const limit = args.limit ?? DEFAULT_LIMIT;
  const options = ["--json", "--binary", "-m", String(limit + 1), "-C", String(args.context ?? 0)];
  const run = {
    program: context.host.hello.programs.rg,
    args: [...options, ...pattern.args, ...nameFilter(args.glob)],
    input: pattern.input,
    delimiter: 0x0a,
    maxRecordBytes: MAX_MESSAGE_BYTES,
    timeoutMs: RG_MS,
    signal: context.signal,
    ...place,
  };
  return runRg(run, (record) => {
    const event = grepEvent(record);
    return event === undefined || output.take(event);
  });
}

function searchFailure(end: Extract<RgEnd, { type: "done" }>): ToolFailure {
  if (end.exitCode === 2) {
    // The last paragraph of some errors advises options that no one here can set.
    const reason = end.errors.replace(/^rg: /, "").replace(/\n\nConsider [\s\S]*$/, "");
    return new ToolFailure(`Bad pattern, nothing was searched: ${clip(reason, 1000)}`);
  }
  return new ToolFailure(
    `The search ended before its time (exit ${end.exitCode}); narrow the path. ${clip(end.errors, 1000)}`.trim(),
  );
}

/** For a file whose search was stopped before its end told. */
async function looksBinary({ cwd }: SearchPlace, name: Buffer): Promise<boolean> {
  const handle = await open(Buffer.concat([Buffer.from(`${cwd}/`), name]), "r").catch(() => undefined);
  if (handle === undefined) return false;
  try {
    const kind = binaryKind(await readUpTo(handle, SNIFF_BYTES, SNIFF_BYTES));
    return kind !== undefined && !kind.includes("text");
  } finally {
    await handle.close();
  }
}

function report(output: GrepOutput, end: RgEnd, limit: number): Outcome {
  const cut = limitNotice(output, limit);
  const notices = [
    ...(cut === undefined ? [] : [cut]),
    ...(end.type === "timed_out"
      ? [`Stopped after ${RG_MS / 1000} s, there may be more; narrow the path or glob`]
      : []),
    ...(end.type === "killed" ? [KILLED_WORDS] : []),
    ...(end.type === "done" && end.errors !== "" ? [`Not all could be searched: ${clip(end.errors, 500)}`] : []),
  ];
  const status = STATUS_OF_END[end.type];
  const text = withNotices(output.lines.join("\n"), notices);
  return shownOutcome(status, text, { matches: output.matches }, cut !== undefined);
}

async function nothingFound(
  args: ToolArgs<"grep">,
  place: SearchPlace,
  accepts: PathMatcher,
  context: CallContext,
  errors: string,
): Promise<Outcome> {
  const pattern = rgPattern(args);
  const rg = { args: ["-l", "--binary", ...pattern.args, ...nameFilter(args.glob)], input: pattern.input };
  const hidden = place.target === undefined ? await hiddenFiles({ place, context, accepts, rg }) : [];
  if (context.signal.aborted) return cancelled("the search was stopped");
  const words = hidden.length > 0 ? ` ${hiddenWords(hidden)}` : await globWords(args.glob, place, accepts, context);
  const unread = errors === "" ? [] : [`Not all could be searched: ${clip(errors, 500)}`];
  return outcome("ok", withNotices(`No matches for \`${shownPath(args.pattern)}\`${words}`, unread), { matches: 0 });
}

/** Where no file matches the glob, nothing was searched, which is another thing than no match. */
async function globWords(
  glob: string | undefined,
  place: SearchPlace,
  accepts: PathMatcher,
  context: CallContext,
): Promise<string> {
  if (glob === undefined || place.target !== undefined) return "";
  let isAny = false;
  const end = await listFiles(place, context, (name) => {
    isAny = accepts(name.toString("utf8"));
    return !isAny;
  });
  // Of a listing that did not come to its end nothing is known.
  if (isAny || end.type !== "done") return "";
  return `: no file matches the glob \`${shownPath(glob)}\`, so nothing was searched; it is about names at any depth, or with a \`/\` about the path below \`path\`; several are \`*.{ts,js}\``;
}
