// The outside of an end-to-end test, a process of its own in a network of its own: a name server, a site at a public
// address, a proxy. Bundled and started by `own-network.ts`, which sends commands and gets what was seen.

import { createServer } from "node:http";
import { connect, createServer as createTcpServer } from "node:net";
import type { Identity } from "./authority.ts";
import { type DnsAnswer, DnsServer } from "./dns-server.ts";
import { Listening } from "./listening.ts";
import {
  type AnswerTable,
  GATEWAY,
  type OutsideCommand,
  PRIVATE,
  PROXY_PORT,
  REGISTRY,
  type Seen,
} from "./outside-words.ts";
import { serveRegistry } from "./registry.ts";
import { Site } from "./web-server.ts";

class Outside {
  readonly site = new Site();
  readonly proxied: string[] = [];
  table: AnswerTable = {};
  #dns: DnsServer | undefined;
  #listening: Listening[] = [];

  async start({ address, identity }: { address: string; identity: Identity }): Promise<void> {
    const answers = ({ name }: { name: string }, time: number): DnsAnswer =>
      this.table[name]?.[Math.min(time, (this.table[name]?.length ?? 1) - 1)] ?? "nxdomain";
    await serveRegistry(this.site, `https://${REGISTRY}`);
    this.#dns = await DnsServer.start(answers, { address: GATEWAY, port: 53 });
    // A trap where nobody who checks addresses arrives.
    const trap = createTcpServer((socket) => socket.on("error", () => undefined).end());
    this.#listening = [
      await Listening.start(this.site.https(identity), { host: address, port: 443 }),
      await Listening.start(this.site.http(), { host: address, port: 80 }),
      await Listening.start(trap, { host: PRIVATE, port: 443 }),
      await Listening.start(this.#proxy(address), { host: GATEWAY, port: PROXY_PORT }),
    ];
  }

  /** Leads every CONNECT to the site, whatever its name. */
  #proxy(address: string) {
    const server = createServer((_request, response) => response.writeHead(405).end());
    server.on("connect", (request, socket, head) => {
      this.proxied.push(`${request.url} ${request.headers["proxy-authorization"] ?? ""}`.trim());
      if (request.url?.startsWith("refused.")) return void socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      const site = connect({ host: address, port: 443 }, () => {
        socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
        if (head.length > 0) site.write(head);
        site.pipe(socket).pipe(site);
      });
      for (const end of [site, socket]) end.on("error", () => socket.destroy());
    });
    return server;
  }

  take(): Seen {
    const [secure, plain, trap] = this.#listening.map((one) => {
      const { connections } = one;
      one.connections = 0;
      return connections;
    });
    return {
      questions: this.#dns?.questions.splice(0).map(({ name, type }) => `${type} ${name}`) ?? [],
      connections: (secure ?? 0) + (plain ?? 0) + (trap ?? 0),
      visits: this.site.visits.splice(0).map(({ host, path }) => `${host}${path}`),
      proxied: this.proxied.splice(0),
    };
  }
}

const outside = new Outside();
process.on("message", async ({ id, start, answers }: OutsideCommand) => {
  if (start) await outside.start(start);
  if (answers) outside.table = answers;
  process.send?.({ id, seen: outside.take() });
});
process.on("disconnect", () => process.exit());
