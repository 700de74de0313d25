import { createServer, type Server, type Socket } from "node:net";
import { systemCode } from "../../core/errors.ts";

/** Far below the open files a process may have, which connections need too. */
const MAX_LISTENERS = 4096;
const BACKLOG = 511;

export type Place = { address: string; port: number };
/** Why it could not be listened: somebody else does, or what the system says. */
export type Problem = { place: Place; isTaken: boolean; words: string };
type Listening = { place: Place; server: Server; opened: Promise<Problem | undefined> };

/** Sockets that listen for connections of programs. */
export class Listeners {
  readonly #all = new Map<string, Listening>();

  /** Where somebody listens or is about to. */
  get places(): Place[] {
    return [...this.#all.values()].map(({ place }) => place);
  }

  /** Listens at all of these places or at none of them; where it is done already it stays as it is. */
  async openAll(places: readonly Place[], take: (socket: Socket, port: number) => void): Promise<Problem[]> {
    const fresh = places.filter((place) => !this.#all.has(keyOf(place)));
    if (this.#all.size + fresh.length > MAX_LISTENERS)
      return fresh.slice(0, 1).map((place) => ({ place, isTaken: false, words: "too many ports are listened at" }));
    const outcomes = await Promise.all(places.map((place) => this.#open(place, take)));
    const problems = outcomes.flatMap((problem) => problem ?? []);
    if (problems.length > 0) for (const place of fresh) this.#close(place);
    return problems;
  }

  close(): void {
    for (const { place } of this.#all.values()) this.#close(place);
  }

  #open(place: Place, take: (socket: Socket, port: number) => void): Promise<Problem | undefined> {
    const known = this.#all.get(keyOf(place));
    if (known) return known.opened;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => take(socket, place.port));
    const opened = opening(server, place);
    this.#all.set(keyOf(place), { place, server, opened });
    return opened;
  }

  #close(place: Place): void {
    this.#all.get(keyOf(place))?.server.close();
    this.#all.delete(keyOf(place));
  }
}

function opening(server: Server, place: Place): Promise<Problem | undefined> {
  return new Promise((resolve) => {
    // It stays for what comes later: an error of one connection that could not be accepted.
    server.on("error", (error) =>
      resolve({ place, isTaken: systemCode(error) === "EADDRINUSE", words: error.message }),
    );
    server.listen({ host: place.address, port: place.port, backlog: BACKLOG }, () => resolve(undefined));
  });
}

function keyOf({ address, port }: Place): string {
  return `${address} ${port}`;
}
