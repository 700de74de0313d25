// The far end of connections that are measured, in a process of its own: echo, source and sink; tells its parent the ports.
import { createServer } from "node:net";

const PIECE = Buffer.alloc(65_536, "x");

/** Reads a line with a number and sends as many bytes. */
function send(socket) {
  socket.once("data", (line) => {
    let left = Number(line.toString());
    const go = () => {
      while (left > 0) {
        const size = Math.min(left, PIECE.length);
        left -= size;
        if (!socket.write(PIECE.subarray(0, size))) return socket.once("drain", go);
      }
      socket.end();
    };
    go();
  });
}

/** Answers how many bytes there were when they end. */
function count(socket) {
  let bytes = 0;
  socket.on("data", (chunk) => {
    bytes += chunk.length;
  });
  socket.on("end", () => socket.end(`${bytes}\n`));
}

const SERVERS = { echo: (socket) => socket.pipe(socket), source: send, sink: count };
const ports = {};
for (const [name, serve] of Object.entries(SERVERS)) {
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on("error", () => undefined);
    serve(socket);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  ports[name] = server.address().port;
}
process.send(ports);
process.on("disconnect", () => process.exit());
