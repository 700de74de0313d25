import { createHash } from "node:crypto";
import { createServer, type Server, type Socket } from "node:net";
import { Readable } from "node:stream";

/** Sends back what it gets. */
export function echoServer(): Server {
  return createServer({ allowHalfOpen: true }, (socket) => void quiet(socket).pipe(socket));
}

/** Reads a line with a number, sends as many bytes, and ends. */
export function sourceServer(): Server {
  return createServer({ allowHalfOpen: true }, (socket) => {
    quiet(socket).once("data", (line: Buffer) => bytes(Number(line.toString())).pipe(socket));
  });
}

/** Reads to the end and answers how many bytes there were, and their SHA-256. */
export function sinkServer(): Server {
  return createServer({ allowHalfOpen: true }, (socket) => {
    const hash = createHash("sha256");
    let count = 0;
    quiet(socket)
      .on("data", (chunk: Buffer) => {
        count += chunk.length;
        hash.update(chunk);
      })
      .on("end", () => socket.end(`${count} ${hash.digest("hex")}\n`));
  });
}

/** Speaks first, as databases and ssh do. */
export function greetingServer(words: string): Server {
  return createServer((socket) => void quiet(socket).write(words));
}

/** Accepts, and never reads. */
export function deafServer(): Server {
  return createServer({ pauseOnConnect: true }, (socket) => void quiet(socket));
}

function quiet(socket: Socket): Socket {
  return socket.on("error", () => undefined);
}

const BLOCK = createHash("sha512").update("block").digest();
/** 64 KiB that do not compress to nothing by accident, the same every time. */
const PIECE = Buffer.concat(
  Array.from({ length: 1024 }, (_, index) => createHash("sha512").update(BLOCK).update(String(index)).digest()),
);

/** The stream of `count` bytes that every test sends. */
export function bytes(count: number): Readable {
  let left = count;
  return new Readable({
    highWaterMark: PIECE.length * 4,
    read() {
      const piece = left >= PIECE.length ? PIECE : PIECE.subarray(0, left);
      left -= piece.length;
      this.push(piece.length > 0 ? piece : null);
    },
  });
}

/** The SHA-256 of {@link bytes}. */
export function hashOfBytes(count: number): string {
  const hash = createHash("sha256");
  for (let left = count; left > 0; left -= PIECE.length) hash.update(PIECE.subarray(0, Math.min(left, PIECE.length)));
  return hash.digest("hex");
}
