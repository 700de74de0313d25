import { isUtf8 } from "node:buffer";
import type { Stats } from "node:fs";
import { type FileHandle, realpath } from "node:fs/promises";
import { systemCode } from "../../core/errors.ts";
import { boundaryBefore } from "../../core/truncate.ts";
import { visibleLine } from "../../core/visible.ts";
import type { Outcome } from "../../protocol/messages.ts";
import type { ToolArgs } from "../../tools/catalogue.ts";
import { OUTPUT_LIMITS } from "../../tools/contract.ts";
import type { CallContext, Handler } from "../context.ts";
import { cancelled, plural, shownOutcome, shownSize, withNotices } from "../notices.ts";
import { outcome, ToolFailure } from "../outcomes.ts";
import { binaryKind, charsetOf, type ImageMime, imageMime, SNIFF_BYTES } from "./file-magic.ts";
import { resolvePath, shownPath } from "./paths.ts";
import { type ShownText, showText } from "./read-text.ts";
import { ReadWindow } from "./read-window.ts";
import { openRegular, readUpTo } from "./regular-file.ts";
import { MAX_EDIT_BYTES, remember } from "./seen.ts";
import { pictureFault } from "./whole-picture.ts";

/** Of a large file; the way to a far offset costs a call for each. */
const CHUNK_BYTES = 1024 * 1024;
const MAX_IMAGE_BYTES = 20 * 1024 * 1024;
/** Below the deadline of file tools, so that the model gets words and not a lost call. */
const READ_MS = 45_000;

type Target = {
  shown: string;
  path: string;
  real: string;
  handle: FileHandle;
  stats: Stats;
  /** The first bytes; the whole file when it has fewer than {@link SNIFF_BYTES}. */
  head: Buffer;
};

export const handleRead: Handler<"read"> = async (args, context) => {
  const path = resolvePath(args.path, context.host.hello);
  const { handle, stats } = await openRegular(path, args.path);
  try {
    const [head, real] = await Promise.all([readUpTo(handle, SNIFF_BYTES, stats.size), realpath(path)]);
    return await readTarget({ shown: args.path, path, real, handle, stats, head }, args, context);
  } catch (error) {
    if (systemCode(error) !== "EAGAIN") throw error;
    throw new ToolFailure(`\`${shownPath(args.path)}\` is not a regular file: it has nothing to read now and no end`);
  } finally {
    // Nothing was written, so nothing can fail that anybody waits for.
    handle.close().catch(() => undefined);
  }
};

async function readTarget(target: Target, args: ToolArgs<"read">, context: CallContext): Promise<Outcome> {
  const mime = imageMime(target.head);
  const kind = binaryKind(target.head);
  // Prose may begin with the six letters of a GIF.
  if (mime !== undefined && (kind !== undefined || !isText(target.head))) return readImage(target, mime);
  if (kind !== undefined) return describeBinary(target, kind);
  return readLines(target, args, context);
}

async function readImage({ shown, handle, head, stats }: Target, mime: ImageMime): Promise<Outcome> {
  const rest = await readUpTo(handle, MAX_IMAGE_BYTES + 1 - head.length, stats.size);
  const bytes = Buffer.concat([head, rest]);
  const name = `\`${shownPath(shown)}\`: ${mime}`;
  if (bytes.length > MAX_IMAGE_BYTES) {
    const size = shownSize(Math.max(stats.size, bytes.length));
    return outcome("ok", `${name}, ${size}; not shown, at most ${shownSize(MAX_IMAGE_BYTES)} are`, {
      bytes: stats.size,
    });
  }
  const fault = pictureFault(mime, bytes);
  if (fault !== undefined) {
    const words = `${name}, ${shownSize(bytes.length)}; not shown as a picture: ${fault}`;
    return outcome("ok", words, { bytes: bytes.length });
  }
  return {
    status: "ok",
    content: [
      { type: "text", text: `${name}, ${shownSize(bytes.length)}` },
      { type: "image", mime, data: bytes.toString("base64") },
    ],
    details: { bytes: bytes.length },
  };
}

/** Of a head that ends within a character all but that one. */
function isText(head: Buffer): boolean {
  return isUtf8(head.subarray(0, boundaryBefore(head, head.length - 1)));
}

function describeBinary({ shown, path, stats, head }: Target, kind: string): Outcome {
  // Files of /proc say 0, whatever they hold.
  const bytes = Math.max(stats.size, head.length);
  const size = stats.size === 0 && head.length >= SNIFF_BYTES ? `at least ${shownSize(bytes)}` : shownSize(bytes);
  const charset = charsetOf(kind);
  const hint = charset
    ? `convert it with bash: iconv -f ${charset} -t UTF-8 ${quoted(path)}`
    : `look into it with bash, for example od -A x -t x1z -N 256 ${quoted(path)}`;
  return outcome("ok", `\`${shownPath(shown)}\`: ${kind}, ${size}; not shown as text, ${hint}`, { bytes });
}

async function readLines(target: Target, args: ToolArgs<"read">, context: CallContext): Promise<Outcome> {
  const offset = args.offset ?? 1;
  const limits = { ...OUTPUT_LIMITS, maxLines: Math.min(args.limit ?? OUTPUT_LIMITS.maxLines, OUTPUT_LIMITS.maxLines) };
  const window = new ReadWindow(offset, limits);
  const atEnd = await fill(window, target, context.signal);
  if (context.signal.aborted) return cancelled("the file was not read");
  if (atEnd) remember(context.host, target.real, window.digest());
  const bytes = window.bytes;
  if (atEnd && bytes.length === 0) return nothingThere(target.shown, offset, window.lines);
  const shown = showText(bytes, limits, offset === 1);
  const from = window.start + shown.rawBytes;
  const end = offset + shown.lines - 1;
  const more = shown.lineCut || !atEnd || end < window.lines;
  const notices = [
    ...contentNotices(shown),
    ...(more ? [continuation({ target, shown, offset, end, from, total: atEnd ? window.lines : undefined })] : []),
  ];
  const cutByUs = more && (shown.lineCut || shown.lines < (args.limit ?? Number.POSITIVE_INFINITY));
  const details = { lines: shown.lines, bytes: shown.rawBytes };
  return shownOutcome("ok", withNotices(shown.text, notices), details, cutByUs);
}

/** True when the end of the file was reached. A file that can be edited is read to its end, for its hash and length. */
async function fill(window: ReadWindow, { handle, head, stats, shown }: Target, signal: AbortSignal): Promise<boolean> {
  const readWhole = stats.size <= MAX_EDIT_BYTES;
  const giveUpAt = Date.now() + READ_MS;
  const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, Math.max(stats.size + 1, SNIFF_BYTES)));
  window.add(head);
  if (head.length < SNIFF_BYTES) return true;
  while (!signal.aborted) {
    if (window.full && (!readWhole || window.size > MAX_EDIT_BYTES)) return false;
    const { bytesRead } = await handle.read(chunk);
    if (bytesRead === 0) return true;
    window.add(chunk.subarray(0, bytesRead));
    if (Date.now() > giveUpAt) throw tooFar(shown, window);
  }
  return false;
}

function tooFar(shown: string, window: ReadWindow): ToolFailure {
  const seen = `${shownSize(window.size)} and ${plural(window.lines, "line")}`;
  return new ToolFailure(
    `\`${shownPath(shown)}\`: the offset was not reached within ${READ_MS / 1000} s (${seen} read); use bash with tail -c or a search`,
  );
}

function nothingThere(shown: string, offset: number, lines: number): Outcome {
  if (offset === 1) return outcome("ok", "[The file is empty]", { lines: 0, bytes: 0 });
  throw new ToolFailure(
    `\`${shownPath(shown)}\`: offset ${offset} is past the end; the file has ${plural(lines, "line")}`,
  );
}

function contentNotices(shown: ShownText): string[] {
  return [
    ...(shown.bom ? ["The file begins with a UTF-8 byte order mark, not shown"] : []),
    ...(shown.lossy ? ["Bytes that are not valid UTF-8 are shown as U+FFFD; the file itself is unchanged"] : []),
    ...(shown.escaped ? ["Control characters are shown as escapes such as \\x1b; the file holds the characters"] : []),
  ];
}

/** For a shell, on one line; a name that cannot be shown is left for the model to write. */
function quoted(path: string): string {
  return visibleLine(path) === path ? `'${path.replaceAll("'", "'\\''")}'` : "FILE";
}

type Place = {
  target: Target;
  shown: ShownText;
  offset: number;
  end: number;
  /** The byte of the file, from 0, that is the first not shown. */
  from: number;
  total: number | undefined;
};

function continuation({ target, shown, offset, end, from, total }: Place): string {
  const of = total === undefined ? `a file of ${shownSize(target.stats.size)}` : `${total}`;
  if (!shown.lineCut) return `Lines ${offset}-${end} of ${of}; continue with offset ${end + 1}`;
  // By bytes, because tail goes there at once, and by the whole path, because the shell may be elsewhere.
  const command = `tail -c +${from + 1} ${quoted(target.path)} | head -n 1 | head -c ${OUTPUT_LIMITS.maxBytes}`;
  const next = total !== undefined && offset >= total ? "" : `; the next line is offset ${offset + 1}`;
  return `Line ${offset} of ${of}, its first ${shownSize(shown.rawBytes)}; the rest: bash ${command}${next}`;
}
