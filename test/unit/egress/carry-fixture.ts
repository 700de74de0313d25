import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Carriage } from "../../../src/egress/carriage.ts";
import { createCarry } from "../../../src/egress/carry/carry.ts";
import type { CarryOptions } from "../../../src/egress/carry/options.ts";
import { EgressRefusal } from "../../../src/egress/refusal.ts";
import { MuxStream, type MuxWire } from "../../../src/protocol/mux-stream.ts";

/** What became of one carried connection. `undefined` while it goes on or when it ended by itself. */
export type Carried = { done: Promise<EgressRefusal | undefined>; dials: number; up: number; down: number };

export type Gate = {
  /** Where a program of the container connects to. */
  port: number;
  carried: Carried[];
  close: () => Promise<void>;
};

export type GateOptions = Partial<Omit<Carriage, "inside" | "treatment">> & {
  protocol?: Carriage["treatment"]["protocol"];
  tls?: Carriage["treatment"]["tls"];
  options?: Partial<CarryOptions>;
  /** The real server's port. */
  to?: number;
};

/** A listener on loopback, whose connections are carried to another port of loopback. */
export async function openGate(given: GateOptions): Promise<Gate> {
  const { protocol = "auto", tls = "sealed", options = {}, to = 1, ...rest } = given;
  const carry = createCarry({ lingerMs: 200, ...options });
  const carried: Carried[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const inside = channelOf(socket);
    const one: Carried = { done: Promise.resolve(undefined), dials: 0, up: 0, down: 0 };
    const carriage: Carriage = {
      inside,
      name: "allowed.test",
      port: 443,
      treatment: { protocol, tls },
      judge: () => ({ type: "allow", rule: "user/network.allow[0]" }),
      dial: () => {
        one.dials += 1;
        return dial(to);
      },
      count: (direction, bytes) => {
        one[direction] += bytes;
      },
      certify: () => Promise.reject(new Error("no authority")),
      signal: new AbortController().signal,
      ...rest,
    };
    one.done = carry(carriage).then(
      () => undefined,
      (error: unknown) => {
        if (error instanceof EgressRefusal && error.cause === undefined) return error;
        throw error;
      },
    );
    carried.push(one);
  });
  const close = await listenOn(server);
  return { port: portOf(server), carried, close };
}

/** A connection of the container, as it reaches the controller: over a channel with credit, half-close and resets. */
function channelOf(socket: Socket): MuxStream {
  const wireTo = (other: () => MuxStream): MuxWire => ({
    data: (_id, body, sent) => {
      setImmediate(() => other().receive(body));
      setImmediate(sent);
    },
    end: (_id, sent) => {
      setImmediate(() => other().receiveEnd());
      setImmediate(sent);
    },
    credit: (_id, body) => setImmediate(() => other().receiveCredit(body.readUInt32BE())),
    reset: (_id, reason) => setImmediate(() => other().receiveReset(reason)),
    closed: () => undefined,
  });
  const inside: MuxStream = new MuxStream(
    1,
    wireTo(() => outside),
  );
  const outside: MuxStream = new MuxStream(
    1,
    wireTo(() => inside),
  );
  socket.pipe(outside).pipe(socket);
  socket.on("error", (error) => outside.destroy(error));
  outside.on("error", () => socket.resetAndDestroy());
  return inside;
}

/** The outcome of the only connection. */
export async function outcomeOf(gate: Gate): Promise<EgressRefusal | undefined> {
  const [one, ...more] = gate.carried;
  if (!one || more.length > 0) throw new Error(`${gate.carried.length} connections instead of one`);
  return await one.done;
}

export async function dial(port: number): Promise<Socket> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.on("error", () => undefined);
  try {
    await once(socket, "connect");
  } catch {
    throw new EgressRefusal("nobody listens there");
  }
  return socket;
}

/** A server on loopback that counts its connections. */
export async function openServer(onConnection: (socket: Socket) => void) {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    opened.connections += 1;
    socket.on("error", () => undefined);
    onConnection(socket);
  });
  const close = await listenOn(server);
  const opened = { port: portOf(server), connections: 0, close };
  return opened;
}

export function portOf(server: { address: () => unknown }): number {
  return (server.address() as AddressInfo).port;
}

/** Listens on loopback; what it returns closes the server and its connections. */
export async function listenOn(server: Server): Promise<() => Promise<void>> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket) => {
    socket.on("error", () => undefined);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
    await once(server, "close");
  };
}

/** Everything a stream says until it ends, which is answered by the same; what cut it comes instead of the rest, as `!ECONNRESET`. */
export function readAll(stream: Duplex): Promise<string> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    const text = () => Buffer.concat(parts).toString("latin1");
    stream.on("data", (part: Buffer) => parts.push(part));
    stream.on("end", () => stream.end(() => resolve(text())));
    stream.on("error", (error: NodeJS.ErrnoException) => resolve(`${text()}!${error.code}`));
    stream.on("close", () => resolve(`${text()}!closed`));
  });
}
