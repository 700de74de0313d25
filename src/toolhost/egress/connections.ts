import type { Socket } from "node:net";
import type { ToController } from "../../protocol/messages.ts";
import type { MuxStream } from "../../protocol/mux-stream.ts";
import type { By, Client } from "./attribution.ts";
import { relay } from "./relay.ts";

/** Connections open at once; the host takes about twice as many streams. */
const MAX_OPEN = 512;

type Connect = Extract<ToController, { type: "connect" }>;

export type ConnectionsParts = {
  open: () => MuxStream;
  send: (message: Connect) => void;
  /** Resolves when the controller has read all that was sent before. */
  ping: () => Promise<void>;
  byOf: (client: Client) => By;
};

/** Connections of programs, each on a stream to the controller. */
export class Connections {
  readonly #parts: ConnectionsParts;
  #open = 0;
  /** Over, but the controller may not have heard of it yet. */
  #leaving = 0;
  #isAsking = false;

  constructor(parts: ConnectionsParts) {
    this.#parts = parts;
  }

  /** Takes over `socket`; beyond the limit it is reset at once. */
  take(socket: Socket, to: Connect["to"]): void {
    if (this.#open >= MAX_OPEN) {
      socket.on("error", () => undefined);
      return void socket.resetAndDestroy();
    }
    this.#open++;
    const by = this.#parts.byOf({
      protocol: "tcp",
      address: (socket.remoteAddress ?? "").replace(/^::ffff:/, ""),
      port: socket.remotePort ?? 0,
      ourPort: socket.localPort ?? 0,
    });
    const stream = this.#parts.open();
    this.#parts.send({ type: "connect", stream: stream.id, to, ...by });
    relay(socket, stream, () => this.#leave());
  }

  /**
   * A place is free again when the controller has read that the connection is over. So a flood of connections that last
   * no time waits here, and not in the channel.
   */
  #leave(): void {
    this.#leaving++;
    if (!this.#isAsking) this.#ask();
  }

  #ask(): void {
    this.#isAsking = true;
    const left = this.#leaving;
    void this.#parts.ping().then(() => {
      this.#open -= left;
      this.#leaving -= left;
      this.#isAsking = false;
      if (this.#leaving > 0) this.#ask();
    });
  }
}
