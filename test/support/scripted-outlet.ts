import { createServer } from "node:http";
import type { Duplex } from "node:stream";
import type { AdmittedName, Destination, Origin, Outlet, RefusedInside } from "../../src/core/outlet.ts";

export type OutletScript = {
  /** Admitted names, each with its ports; everything else is refused. */
  names?: Record<string, readonly number[]>;
  forwards?: readonly number[];
  certificates?: string;
  /** What is at the other end of a connection; an HTTP server where none is given. */
  serve?: (stream: Duplex, to: Destination) => void;
};

/** An outlet that admits what it was told to, leads nowhere but to `serve`, and remembers all it was asked. */
export class ScriptedOutlet implements Outlet {
  readonly forwards: readonly number[];
  readonly certificates: string | undefined;
  readonly names: Map<string, AdmittedName>;
  readonly lookups: { name: string; by: Origin }[] = [];
  readonly connections: { to: Destination; by: Origin }[] = [];
  /** What was refused inside, by the call it was told with. */
  readonly refused = new Map<string, RefusedInside>();
  readonly #serve: (stream: Duplex, to: Destination) => void;

  constructor({ names = {}, forwards = [], certificates, serve = serveHttp() }: OutletScript) {
    this.forwards = forwards;
    this.certificates = certificates;
    this.#serve = serve;
    this.names = new Map(
      Object.entries(names).map(([name, ports], index) => [name, { address: `127.77.0.${index + 1}`, ports }]),
    );
  }

  lookup(name: string, by: Origin): Promise<AdmittedName | undefined> {
    this.lookups.push({ name, by });
    return Promise.resolve(this.names.get(name));
  }

  connect(to: Destination, by: Origin, stream: Duplex): void {
    this.connections.push({ to, by });
    this.#serve(stream, to);
  }

  linesFor(callId: string, inside: RefusedInside): Promise<string[]> {
    this.refused.set(callId, inside);
    return Promise.resolve([]);
  }
}

/** Answers each request with its method, host and path, and what was sent. */
export function serveHttp(): (stream: Duplex) => void {
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const { method, headers, url } = request;
      response.end(`${method} ${headers.host}${url} ${Buffer.concat(parts).toString("utf8")}\n`);
    });
  });
  return (stream) => void server.emit("connection", stream);
}
