import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { TextDecoder } from "node:util";
import { GloveboxError, messageOf, systemCode } from "../core/errors.ts";

/** One line of a file: `number` from 1, `offset` in bytes. `isTorn`: the file ends in it, without a newline. */
export type FileLine = { number: number; offset: number; text: string | undefined; isTorn: boolean };

/** No fact is longer: an answer of a model is at most 64 MiB, and escaping it again doubles it at worst. */
const MAX_LINE_BYTES = 160 * 1024 * 1024;
const NEWLINE = 0x0a;

/**
 * The lines of a regular file, split at newline bytes only, one in memory at a time. `text` is undefined for a line
 * that is not UTF-8. No link is followed. @throws GloveboxError `SESSION_CORRUPT`, `SESSION_NOT_FOUND`.
 */
export async function* readLines(path: string): AsyncGenerator<FileLine> {
  const file = await openRegular(path);
  try {
    yield* splitLines(file, path);
  } finally {
    await file.close();
  }
}

async function* splitLines(file: FileHandle, path: string): AsyncGenerator<FileLine> {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let number = 1;
  let offset = 0;
  const take = (last: Buffer, isTorn: boolean): FileLine => {
    const bytes = Buffer.concat([...pending, last]);
    const line = { number: number++, offset, text: decode(bytes), isTorn };
    offset += bytes.length + 1;
    pending = [];
    pendingBytes = 0;
    return line;
  };
  for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      yield take(chunk.subarray(from, at), false);
      from = at + 1;
    }
    pending.push(chunk.subarray(from));
    pendingBytes += chunk.length - from;
    if (pendingBytes > MAX_LINE_BYTES) throw corruptLine(path, { number, offset }, "is longer than any line of a log");
  }
  if (pendingBytes > 0) yield take(Buffer.alloc(0), true);
}

/** The error of a line that no session could have written. */
export function corruptLine(path: string, at: { number: number; offset: number }, why: string): GloveboxError {
  return new GloveboxError("SESSION_CORRUPT", `Session log \`${path}\`, line ${at.number} (byte ${at.offset}) ${why}`, {
    hint: "The file was changed or damaged after it was written; it has been left as it is",
  });
}

async function openRegular(path: string): Promise<FileHandle> {
  // Without O_NONBLOCK a pipe planted there would be waited for.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((error: unknown) => {
    const why = systemCode(error) === "ELOOP" ? "it is a symbolic link" : messageOf(error);
    throw new GloveboxError("SESSION_NOT_FOUND", `Session log \`${path}\` cannot be read: ${why}`, { cause: error });
  });
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new GloveboxError("SESSION_NOT_FOUND", `Session log \`${path}\` is not a regular file`);
}

function decode(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
