// What is measured of connections, run inside and on the host alike: `node egress-client.mjs WHAT HOST PORT NUMBER` prints
// JSON. No dependencies: containers have none.
import { lookup } from "node:dns/promises";
import { once } from "node:events";
import { connect } from "node:net";

const [what, host, port, number] = process.argv.slice(2);
const opened = [];
const PIECE = Buffer.alloc(65_536, "x");

async function open() {
  const socket = connect({ host, port: Number(port), noDelay: true });
  opened.push(socket);
  await once(socket, "connect");
  return socket;
}

async function times(count, action) {
  const all = [];
  for (let index = 0; index < count; index++) {
    const startedAt = performance.now();
    await action();
    all.push(performance.now() - startedAt);
  }
  return all;
}

const PARTS = {
  /** Until a name that nobody allows is answered. */
  refused: () =>
    times(Number(number), () =>
      lookup(host).then(
        () => Promise.reject(new Error("was answered")),
        () => undefined,
      ),
    ),
  /** From the start of a connection to its first byte. */
  first: () =>
    times(Number(number), async () => {
      const socket = await open();
      socket.write("x");
      await once(socket, "data");
      socket.destroy();
    }),
  /** Megabytes a second from a source. */
  async down() {
    const socket = await open();
    const startedAt = performance.now();
    socket.write(`${number}\n`);
    let bytes = 0;
    socket.on("data", (chunk) => {
      bytes += chunk.length;
    });
    await once(socket, "end");
    return rate(bytes, startedAt);
  },
  /** Megabytes a second into a sink. */
  async up() {
    const socket = await open();
    const startedAt = performance.now();
    for (let left = Number(number); left > 0; left -= PIECE.length)
      if (!socket.write(PIECE.subarray(0, Math.min(left, PIECE.length)))) await once(socket, "drain");
    socket.end();
    const [reply] = await once(socket, "data");
    if (Number(reply.toString()) !== Number(number)) throw new Error(`${reply} bytes arrived`);
    return rate(Number(number), startedAt);
  },
  /** So many connections at once, each echoing a mebibyte, and open for a second more. */
  async many() {
    const sockets = await Promise.all(Array.from({ length: Number(number) }, open));
    const startedAt = performance.now();
    await Promise.all(sockets.map(echo));
    const megabytes = rate(sockets.length * 16 * PIECE.length, startedAt);
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return megabytes;
  },
};

async function echo(socket) {
  let left = 16 * PIECE.length;
  const done = new Promise((resolve, reject) => {
    socket.on("data", (chunk) => {
      left -= chunk.length;
      if (left === 0) resolve();
    });
    socket.on("error", reject).on("close", () => reject(new Error("was closed")));
  });
  for (let piece = 0; piece < 16; piece++) if (!socket.write(PIECE)) await once(socket, "drain");
  await done;
}

function rate(bytes, startedAt) {
  return bytes / 1e6 / ((performance.now() - startedAt) / 1000);
}

console.log(JSON.stringify(await PARTS[what]()));
// Not by `process.exit()`, at which Node 24 can wait for a thread of V8's for ever after so many buffers.
for (const socket of opened) socket.destroy();
