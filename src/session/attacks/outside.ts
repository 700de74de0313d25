import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { clip } from "../../core/truncate.ts";
import type { Dialler } from "../../egress/dialler.ts";
import type { HostOpinion } from "../../policy/bounds.ts";
import type { HostRule } from "../../policy/hosts.ts";
import type { Ruled, RuledList } from "../../policy/layer.ts";
import type { Policy } from "../../policy/policy.ts";

/** Below a name that nobody can have (RFC 6761). */
export const CONTROL = "control.glovebox.test";
export const BELOW = "wild.glovebox.test";
export const DENIED = `denied.${BELOW}`;
/** Resolve to the host itself, and to a public and a private address. */
export const PRIVATE = "private.glovebox.test";
export const MIXED = "mixed.glovebox.test";

/** At this port any bytes pass; at 80 and 443 they must be what they should. */
export const RAW_PORT = 7777;
/** Public, and dialled by no one: the suite's own server answers in its place. */
export const PUBLIC_ADDRESS = "93.184.216.34";
/** Stands in whatever must not come out. */
export const EVIL = "evil.test";

const ADDRESSES: Record<string, string[]> = {
  [PRIVATE]: ["127.0.0.1"],
  [MIXED]: [PUBLIC_ADDRESS, "10.0.0.1"],
};

const RULES: Pick<HostRule, "host" | "ports" | "protocol">[] = [
  { host: CONTROL, ports: [80, 443], protocol: "auto" },
  ...[CONTROL, `*.${BELOW}`, PRIVATE, MIXED].map((host) => ({ host, ports: [RAW_PORT], protocol: "tcp" as const })),
];

/** The same policy, which also admits the names of the suite; what it says of other hosts stays. */
export function admitting({ network, approval, ...policy }: Policy): Policy {
  const hosts = network.hosts.length > 0 ? network.hosts : [{}];
  return {
    ...policy,
    approval: { ...approval, net: "allow" },
    network: { ...network, hosts: hosts.map(withRules), uploadBytes: undefined },
  };
}

function withRules({ allow, ask, deny }: HostOpinion): HostOpinion {
  return {
    allow: extended(allow, "allow", RULES),
    ...(ask && { ask: extended(ask, "ask", []) }),
    deny: extended(deny, "deny", [{ host: DENIED, ports: "all", protocol: "tcp" }]),
  };
}

function extended(
  list: RuledList<HostRule> | undefined,
  name: "allow" | "ask" | "deny",
  rules: readonly Pick<HostRule, "host" | "ports" | "protocol">[],
): RuledList<HostRule> {
  // What a policy says of names that nobody can have stands aside.
  const kept = (list?.items ?? []).filter(({ value }) => !/(^|\.)test$/.test(value.host));
  const added = rules.map((rule, index): Ruled<HostRule> => {
    const value: HostRule = { ...rule, private: false, inspect: false, methods: "all", paths: "all" };
    return { value, rule: `attack/network.${name}[${index}]` };
  });
  return { rule: list?.rule ?? `attack/network.${name}`, items: [...kept, ...added] };
}

/** What connections of the attacked sandbox lead to: one server that may be reached, and a count of all else. */
export class Outside {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #harm: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => this.#serve(socket));
  }

  static async open(): Promise<Outside> {
    const server = createServer({ allowHalfOpen: true }).listen(0, "127.0.0.1");
    await once(server, "listening");
    return new Outside(server);
  }

  get dialler(): Dialler {
    return {
      resolve: async (name) => {
        const isKnown = name === CONTROL || name in ADDRESSES || (name.endsWith(`.${BELOW}`) && name !== DENIED);
        if (!isKnown) this.#harm.push(`the host looked up ${name}`);
        return ADDRESSES[name] ?? [PUBLIC_ADDRESS];
      },
      connect: async ({ address }) => {
        if (address !== PUBLIC_ADDRESS) this.#harm.push(`the host dialled ${address}`);
        const socket = connect({ port: (this.#server.address() as AddressInfo).port, host: "127.0.0.1" });
        await once(socket, "connect");
        return socket;
      },
    };
  }

  /** What came out that must not, since the last look. */
  takeHarm(): string[] {
    return this.#harm.splice(0);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Answers every piece, to a request as a web server would. */
  #serve(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("end", () => socket.end());
    socket.on("data", (bytes: Buffer) => {
      const text = bytes.toString("latin1");
      if (text.includes(EVIL)) this.#harm.push(`a server of the world got ${JSON.stringify(clip(text, 60))}`);
      socket.write(text.startsWith("GET ") ? "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" : "ok");
    });
  }
}
