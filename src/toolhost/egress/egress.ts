import type { Socket } from "node:net";
import { networkInterfaces } from "node:os";
import { textOf } from "../../core/messages.ts";
import type { AdmittedName } from "../../core/outlet.ts";
import { visibleLine } from "../../core/visible.ts";
import type { Hello, Outcome, ToController, ToToolHost } from "../../protocol/messages.ts";
import type { MuxStream } from "../../protocol/mux-stream.ts";
import type { Whose } from "../shell/whose.ts";
import { Attribution } from "./attribution.ts";
import { Connections } from "./connections.ts";
import { DnsServer } from "./dns-server.ts";
import { heldPorts } from "./held-ports.ts";
import { Listeners, type Place, type Problem } from "./listeners.ts";
import { Names } from "./names.ts";
import { PLACES, type Places } from "./places.ts";
import { processAt } from "./process-at.ts";
import { Refusals } from "./refusals.ts";
import { Resolver } from "./resolver.ts";

/** What programs try of a name at which no rule may name them. */
const USUAL_PORTS = [22, 80, 443];

export type EgressParts = {
  settings: NonNullable<Hello["egress"]>;
  peer: {
    open(): MuxStream;
    send(message: Extract<ToController, { type: "name" | "connect" }>): void;
    ping(): Promise<void>;
  };
  whose: Whose;
  /** Nothing is bound before: a tool host that was here until now may still hold the ports. */
  after?: Promise<unknown>;
  places?: Places;
  refusals?: Refusals;
};

/** What a call that may connect gave, and what was refused meanwhile. */
type Told = Pick<Extract<ToController, { type: "result" }>, "outcome" | "refused">;

/** The inside of egress: names get addresses here, and connections to them go to the controller, which judges both. */
export class Egress {
  readonly #refusals: Refusals;
  readonly #connections: Connections;
  readonly #listeners = new Listeners();
  readonly #names: Names;
  readonly #servers: DnsServer[];
  /** Forwarded ports that could not be listened at yet. */
  #unbound: Place[];
  #binding: Promise<void>;

  constructor(parts: EgressParts) {
    const { peer, settings, after = Promise.resolve(), places = PLACES, refusals = new Refusals() } = parts;
    const attribution = new Attribution(parts.whose);
    const byOf = attribution.of.bind(attribution);
    this.#refusals = refusals;
    this.#connections = new Connections({
      open: () => peer.open(),
      send: (message) => peer.send(message),
      ping: () => peer.ping(),
      byOf,
    });
    this.#names = new Names({
      send: (message) => peer.send(message),
      listen: (name, admitted) => this.#listen(name, admitted),
    });
    const resolver = new Resolver({
      names: this.#names,
      byOf,
      hasIpv6: hasIpv6(),
      onOther: (name) => refusals.addOtherQuestion(name),
    });
    this.#servers = places.dns.map((place) => new DnsServer(place, (packet, client) => resolver.reply(packet, client)));
    this.#unbound = places.forwards.flatMap((address) => settings.forwards.map((port) => ({ address, port })));
    const bind = (): Promise<void> => this.#bind();
    this.#binding = after.then(bind, bind);
  }

  /** Resolves when names are answered and forwarded ports listened at, as far as that is possible. */
  get settled(): Promise<void> {
    return this.#binding;
  }

  /** Where the first resolver answers. */
  get dnsPort(): number {
    return this.#servers[0]?.held[0]?.port ?? 0;
  }

  /** Carries out a call whose processes may connect. */
  async around(command: string, act: () => Promise<Outcome>): Promise<Told> {
    await this.#bindAgain();
    const begun = this.#refusals.count();
    const outcome = await act();
    const held = heldPorts(this.#held(), command, textOf(outcome.content));
    const isAdmitted = (name: string): boolean => this.#names.isAdmitted(name);
    const refused = this.#refusals.tell({ begun, heldPorts: held, isAdmitted });
    return { outcome, ...(refused && { refused }) };
  }

  named(answer: Extract<ToToolHost, { type: "named" }>): void {
    this.#names.settle(answer);
  }

  /** Ends what listens; connections end with the channel. */
  close(): void {
    this.#listeners.close();
    for (const server of this.#servers) server.close();
  }

  #held(): Place[] {
    return [...this.#listeners.places, ...this.#servers.flatMap((server) => server.held)];
  }

  /** What a process kept from us before may be free by now. */
  #bindAgain(): Promise<void> {
    this.#binding = this.#binding.then(() => this.#bind());
    return this.#binding;
  }

  async #bind(): Promise<void> {
    const resolvers = await Promise.all(this.#servers.map((server) => server.open()));
    const forwards = await Promise.all(
      this.#unbound.map((place) =>
        this.#listeners.openAll([place], (socket, listen) => this.#connect(socket, { type: "forward", listen })),
      ),
    );
    this.#unbound = forwards.flatMap((problems) => problems.map(({ place }) => place));
    for (const problem of [...resolvers, ...forwards].flat()) this.#report("localhost", problem);
  }

  async #listen(name: string, { address, ports }: AdmittedName): Promise<boolean> {
    const places = ports.map((port) => ({ address, port }));
    const take = (socket: Socket, port: number): void => this.#connect(socket, { type: "name", name, port });
    const problems = await this.#listeners.openAll(places, take);
    for (const problem of problems) this.#report(name, problem);
    if (problems.length > 0) return false;
    // Whoever connects there is told why not; where another listens, that is its own affair.
    const others = USUAL_PORTS.filter((port) => !ports.includes(port)).map((port) => ({ address, port }));
    await Promise.all(others.map((place) => this.#listeners.openAll([place], take)));
    return true;
  }

  #connect(socket: Socket, to: Extract<ToController, { type: "connect" }>["to"]): void {
    this.#connections.take(socket, to);
  }

  /** A machine without IPv6 has no `::1`, and misses nothing by that. */
  #report(name: string, { place, isTaken, words }: Problem): void {
    if (place.address === "::1" && !isTaken) return;
    const process = isTaken ? processAt(place) : words;
    this.#refusals.addTaken({ name, port: place.port, process: visibleLine(process) });
  }
}

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((list) => list?.some(({ address }) => address === "::1"));
}
