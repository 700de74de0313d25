import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { ToolFailure } from "../outcomes.ts";
import { shownPath } from "./paths.ts";

export type FileKind = "file" | "dir" | "link" | "fifo" | "socket" | "device";

export function kindOf(stats: Stats): FileKind {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "dir";
  if (stats.isSymbolicLink()) return "link";
  if (stats.isFIFO()) return "fifo";
  return stats.isSocket() ? "socket" : "device";
}

const KIND_WORDS: Record<FileKind, string> = {
  file: "a file",
  dir: "a directory, not a regular file; use ls",
  link: "a symbolic link, not a regular file",
  fifo: "a FIFO, not a regular file",
  socket: "a socket, not a regular file",
  device: "a device, not a regular file",
};

/** Throws ToolFailure that names what is there, for anything but a regular file. */
export function refuseSpecial(stats: Stats, path: string): void {
  if (!stats.isFile()) throw new ToolFailure(`\`${shownPath(path)}\` is ${KIND_WORDS[kindOf(stats)]}`);
}

/**
 * Opens a regular file for reading; the caller closes. `shown` is the path as the model wrote it. The kind is looked at
 * before, because opening a FIFO is already an act (its writer wakes up and gets SIGPIPE), and again after, because the
 * name may be something else by then; without O_NONBLOCK that open could wait for ever.
 */
export async function openRegular(path: string, shown: string): Promise<{ handle: FileHandle; stats: Stats }> {
  refuseSpecial(await stat(path), shown);
  const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  try {
    const stats = await handle.stat();
    refuseSpecial(stats, shown);
    return { handle, stats };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** The bytes from where the handle stands, at most `maxBytes`; bounded by what is read, since /proc says size 0. */
export async function readUpTo(handle: FileHandle, maxBytes: number, sizeHint: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let left = maxBytes;
  let step = Math.min(sizeHint + 1, CHUNK_BYTES);
  while (left > 0) {
    const asked = Math.min(left, Math.max(step, 4096));
    const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(asked));
    if (bytesRead === 0) break;
    chunks.push(buffer.subarray(0, bytesRead));
    left -= bytesRead;
    // All that the file was said to have, and no more when more was asked for: its end, without asking again.
    if (bytesRead < asked && maxBytes - left === sizeHint) break;
    step = CHUNK_BYTES;
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks);
}

const CHUNK_BYTES = 256 * 1024;
