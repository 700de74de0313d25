import type { QuarantineItem } from "../../core/quarantine.ts";
import type { ToController } from "../../protocol/messages.ts";
import type { MuxStream } from "../../protocol/mux-stream.ts";

/** Where archives go: a stream to the controller each. */
export type Wire = { open: () => MuxStream; send: (message: ToController) => void };

/** Hands things over to the controller, who stores them. */
export class Keeper {
  readonly #wire: Wire;
  readonly #waiting = new Map<number, (problem: string | undefined) => void>();
  #nextId = 1;

  constructor(wire: Wire) {
    this.#wire = wire;
  }

  /** Resolves when the archive is stored for good. @throws with why it is not; what was to be kept must stay then. */
  async keep(item: QuarantineItem, archive: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
    const id = this.#nextId++;
    const answer = new Promise<string | undefined>((resolve) => this.#waiting.set(id, resolve));
    const stream = this.#wire.open();
    this.#wire.send({ type: "quarantine", id, stream: stream.id, item });
    stream.resume();
    try {
      // A controller that cannot store it takes no more bytes, and says why.
      for await (const chunk of archive) if (!(await isTaken(stream, chunk))) break;
      stream.end();
      const problem = await answer;
      if (problem !== undefined) throw new Error(problem);
    } finally {
      stream.destroy();
      this.#waiting.delete(id);
    }
  }

  /** The controller's answer. */
  kept(id: number, problem: string | undefined): void {
    this.#waiting.get(id)?.(problem);
  }
}

function isTaken(stream: MuxStream, chunk: Uint8Array): Promise<boolean> {
  return new Promise((resolve) => {
    stream.write(chunk, (error) => resolve(!error));
  });
}
