import type { ToController, ToToolHost } from "../protocol/messages.ts";
import type { MuxStream } from "../protocol/mux-stream.ts";
import type { Peer } from "../protocol/peer.ts";

/** Shows a call's output on a stream opened by the first byte; drops what nobody keeps up with. */
export class LiveOutput {
  readonly #id: number;
  readonly #peer: Peer<ToToolHost, ToController>;
  #stream: MuxStream | undefined;

  constructor(id: number, peer: Peer<ToToolHost, ToController>) {
    this.#id = id;
    this.#peer = peer;
  }

  show(bytes: Uint8Array): void {
    if (this.#peer.isClosed) return;
    this.#stream ??= this.#open();
    if (!this.#stream.writableNeedDrain) this.#stream.write(bytes);
  }

  end(): void {
    this.#stream?.end();
  }

  #open(): MuxStream {
    const stream = this.#peer.open();
    this.#peer.send({ type: "output", id: this.#id, stream: stream.id });
    return stream.resume();
  }
}
