import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Pack } from "tar-stream";
import type { ListedEntry, Listing } from "./listing.ts";

const CHUNK_BYTES = 64 * 1024;

/** The tar archive of a listing, chunk by chunk. A file that has become shorter is filled up with zeros. */
export async function* packListing(root: string, { entries }: Listing): AsyncGenerator<Buffer> {
  // Evaluated at the first use: it would cost every start 4 ms.
  const { default: tar } = await import("tar-stream");
  const pack = tar.pack();
  const filled = fill(pack, root, entries);
  // Whoever reads the archive gets the error too.
  filled.catch((error: unknown) => pack.destroy(error instanceof Error ? error : new Error(String(error))));
  for await (const chunk of pack) yield chunk as Buffer;
  await filled;
}

async function fill(pack: Pack, root: string, entries: readonly ListedEntry[]): Promise<void> {
  for (const entry of entries) {
    const header = { name: entry.path, mode: entry.mode, mtime: entry.mtime };
    if (entry.type === "directory") await added(pack, { ...header, type: "directory" });
    else if (entry.type === "symlink") await added(pack, { ...header, type: "symlink", linkname: entry.target });
    else await addFile(pack, `${root}/${entry.path}`, { ...header, size: entry.size });
  }
  pack.finalize();
}

type Header = { name: string; mode: number; mtime: Date; type?: "directory" | "symlink"; linkname?: string };

function added(pack: Pack, header: Header): Promise<void> {
  return new Promise((resolve, reject) => {
    pack.entry(header, (error) => (error ? reject(error) : resolve()));
  });
}

async function addFile(pack: Pack, file: string, header: Header & { size: number }): Promise<void> {
  const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    await new Promise<void>((resolve, reject) => {
      const sink = pack.entry(header, (error) => (error ? reject(error) : resolve()));
      writeBytes(handle, sink, header.size).catch(reject);
    });
  } finally {
    await handle.close();
  }
}

async function writeBytes(handle: FileHandle, sink: NodeJS.WritableStream, size: number): Promise<void> {
  for (let at = 0; at < size; ) {
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, size - at));
    await handle.read(chunk, 0, chunk.length, at);
    at += chunk.length;
    if (!sink.write(chunk)) await new Promise((resolve) => sink.once("drain", resolve));
  }
  sink.end();
}
