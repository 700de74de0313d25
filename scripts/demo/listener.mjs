import { once } from "node:events";
import { connect, createServer } from "node:net";
import { networkInterfaces } from "node:os";

const CONTROL = "the demo itself\n";

/** Listens on every address of this machine, and tells its own connections from those of anybody else. */
export class Listener {
  /** Connections of others, as `ADDRESS said TEXT`. */
  hits = [];
  controls = 0;
  #servers = [];

  static async open() {
    const listener = new Listener();
    await listener.#listen("0.0.0.0", 0);
    // No IPv6 on this machine is no reason to stop.
    await listener.#listen("::", listener.port).catch(() => undefined);
    return listener;
  }

  get port() {
    return this.#servers[0].address().port;
  }

  /** This machine's own addresses, those of container bridges among them. */
  get addresses() {
    const own = Object.values(networkInterfaces()).flatMap((list) => list.map(({ address }) => address));
    return [...new Set(own)].filter((address) => !address.startsWith("fe80:"));
  }

  /** Connects once to each address: a listener that cannot be reached would count nothing, too. */
  async prove() {
    const reached = await Promise.all(this.addresses.map((host) => knock(host, this.port)));
    return { tried: reached.length, counted: this.controls };
  }

  async close() {
    await Promise.all(this.#servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }

  async #listen(host, port) {
    const server = createServer((socket) => this.#accept(socket));
    server.listen({ host, port, ipv6Only: host === "::" });
    await once(server, "listening");
    this.#servers.push(server);
  }

  #accept(socket) {
    let text = "";
    socket.setEncoding("utf8").setTimeout(2_000, () => socket.destroy());
    socket.on("data", (chunk) => {
      text = (text + chunk).slice(0, 200);
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      if (text === CONTROL) this.controls++;
      else this.hits.push(`${socket.remoteAddress} said ${JSON.stringify(text)}`);
    });
    socket.on("end", () => socket.end());
  }
}

function knock(host, port) {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 2_000 }, () => socket.end(CONTROL));
    socket.on("timeout", () => socket.destroy()).on("error", () => undefined);
    socket.on("close", () => setTimeout(resolve, 20));
    socket.resume();
  });
}
