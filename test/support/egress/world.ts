import { mkdtemp, rm } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Authority } from "./authority.ts";
import { type Names, type Route, TestDialler } from "./dialler.ts";
import { createRepository, gitHandler } from "./git-server.ts";
import { GrpcServer } from "./grpc-server.ts";
import { Honeypot } from "./honeypot.ts";
import { Listening } from "./listening.ts";
import { deafServer, echoServer, greetingServer, sinkServer, sourceServer } from "./raw-servers.ts";
import { Site } from "./web-server.ts";

const NAMES = ["web.test", "other.test", "*.pkg.test", "grpc.test", "git.test", "front.test"];

/**
 * Everything that is outside: sites, raw servers, git, gRPC and a honeypot, on this machine's loopback, under names with
 * public addresses that only the world's dialler knows.
 */
export class World implements AsyncDisposable {
  readonly authority: Authority;
  readonly honeypot: Honeypot;
  readonly dialler = new TestDialler();
  /** The site that policies allow. */
  readonly web = new Site();
  /** A site that is there, and that no policy allows. */
  readonly other = new Site();
  /** A folder of the world's own; holds `git/repo.git`. */
  readonly folder: string;
  readonly #things: AsyncDisposable[] = [];
  #nextAddress = 34;

  private constructor(authority: Authority, honeypot: Honeypot, folder: string) {
    this.authority = authority;
    this.honeypot = honeypot;
    this.folder = folder;
    this.#things.push(honeypot);
  }

  static async start(): Promise<World> {
    const folder = await mkdtemp(join(tmpdir(), "glovebox-world-"));
    const world = new World(await Authority.create(), await Honeypot.start(), folder);
    await createRepository(join(folder, "git"));
    await world.#open();
    return world;
  }

  async #open(): Promise<void> {
    const identity = await this.authority.certify(NAMES);
    const git = gitHandler(join(this.folder, "git"), "/git");
    this.web.extra.set("/git", (request, response) => git(request as IncomingMessage, response as ServerResponse));
    const [secure, plain] = [await this.listen(this.web.https(identity)), await this.listen(this.web.http())];
    const [otherSecure, otherPlain] = [
      await this.listen(this.other.https(identity)),
      await this.listen(this.other.http()),
    ];
    const raw = [echoServer(), sourceServer(), sinkServer(), deafServer(), greetingServer("220 ready\n")];
    const [echo, source, sink, deaf, greeting] = await Promise.all(raw.map((server) => this.listen(server)));
    const grpc = await GrpcServer.start(identity);
    this.#things.push(grpc);
    const expired = await this.listen(new Site().https(await this.authority.certify(["expired.test"], -1000)));
    for (const name of ["web.test", "a.pkg.test", "a.b.pkg.test", "git.test"])
      this.site(name, { 443: secure, 80: plain, 8080: plain });
    for (const name of ["other.test", "pkg.test", "notweb.test", "web.test.other.test", "evilpkg.test"])
      this.site(name, { 443: otherSecure, 80: otherPlain });
    this.site("tcp.test", { 7000: echo, 7001: source, 7002: sink, 7003: deaf, 7004: greeting, 443: echo });
    this.site("grpc.test", { 443: grpc });
    this.site("expired.test", { 443: expired });
  }

  /** Ends with the world. */
  async listen(server: Server): Promise<Listening> {
    const listening = await Listening.start(server);
    this.#things.push(listening);
    return listening;
  }

  /** Gives a name one public address of its own, and its ports somebody who answers there. */
  site(name: string, ports: Record<number, (Pick<Route, "port"> & Partial<Route>) | undefined>): string {
    const address = `93.184.216.${this.#nextAddress++}`;
    this.dialler.names.set(name, () => [address]);
    for (const [port, target] of Object.entries(ports))
      if (target)
        this.dialler.routes.set(`${address}:${port}`, { host: target.host ?? "127.0.0.1", port: target.port });
    return address;
  }

  /** A name that resolves as the test says; every one of `trapped` leads to the honeypot, at each of `ports`. */
  trap(name: string, names: Names, trapped: readonly string[], ports: readonly number[] = [443, 80]): void {
    this.dialler.names.set(name, names);
    for (const address of trapped)
      for (const port of ports)
        this.dialler.routes.set(`${address}:${port}`, { host: "127.0.0.1", port: this.honeypot.port });
  }

  /** Registers what ends with the world. */
  use<T extends AsyncDisposable>(thing: T): T {
    this.#things.push(thing);
    return thing;
  }

  /** How often anything outside was touched that must not be: all zero when nothing was. */
  touched(): { connections: number; packets: number; visits: number; resolved: string[]; dialled: string[] } {
    const { connections, packets } = this.honeypot;
    return { connections, packets, visits: this.other.visits.length, ...this.dialler.take() };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const thing of this.#things.splice(0).reverse()) await thing[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** What {@link World.touched} gives when nothing has left. */
export const UNTOUCHED = { connections: 0, packets: 0, visits: 0, resolved: [], dialled: [] };
