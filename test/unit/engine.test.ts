import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { GloveboxError } from "../../src/core/errors.ts";
import { connectEngine } from "../../src/sandbox/engine/engine.ts";

/** The two answers of an engine that a connection needs, on a unix socket. */
class FakeEngine {
  readonly #server: Server;

  constructor(apiVersion: string, info: Record<string, unknown>) {
    this.#server = createServer((request, response) => {
      response.setHeader("Api-Version", apiVersion);
      const body = request.url === "/_ping" ? "OK" : JSON.stringify(info);
      response.setHeader("Content-Type", request.url === "/_ping" ? "text/plain" : "application/json");
      response.end(body);
    });
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve) => this.#server.listen(path, resolve));
  }

  /** On a free port, which it returns. */
  async listenTcp(host: string): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, host, resolve));
    const address = this.#server.address();
    return typeof address === "object" && address ? address.port : 0;
  }

  close(): Promise<void> {
    this.#server.closeAllConnections();
    return new Promise((resolve) => this.#server.close(() => resolve()));
  }
}

const INFO = { ID: "id-1", ServerVersion: "28.0.1", OSType: "linux", Architecture: "aarch64", CgroupVersion: "2" };

describe("connectEngine", () => {
  let home: string;
  let engine: FakeEngine | undefined;

  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), "glovebox-engine-"));
  });
  afterEach(async () => {
    await engine?.close();
    engine = undefined;
    await rm(home, { recursive: true, force: true });
  });

  async function connect(apiVersion: string, info: Record<string, unknown>) {
    const path = join(home, "engine.sock");
    engine = new FakeEngine(apiVersion, info);
    await engine.listen(path);
    return await connectEngine({ env: { DOCKER_HOST: `unix://${path}` }, home, uid: 1000 });
  }

  async function failureOf(work: Promise<unknown>): Promise<Pick<GloveboxError, "code" | "message">> {
    const error = await work.then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof GloveboxError)) throw new Error("expected a GloveboxError");
    return { code: error.code, message: error.message };
  }

  it("uses the engine that DOCKER_HOST names", async () => {
    const { docker: _, ...facts } = await connect("1.48", INFO);
    expect(facts).toEqual({
      endpoint: join(home, "engine.sock"),
      isLocal: true,
      id: "id-1",
      version: "28.0.1",
      apiVersion: "1.48",
      architecture: "arm64",
      operatingSystem: "",
      kernelVersion: "",
      isRootless: false,
      isRemapped: false,
      isPodman: false,
      isDesktop: false,
      hasSelinux: false,
      cgroupVersion: 2,
      runtimes: [],
      cpus: 0,
      memoryBytes: 0,
    });
  });

  it.each(["127.0.0.1", "::1"])("reaches an engine by TCP at %s", async (host) => {
    engine = new FakeEngine("1.48", INFO);
    const port = await engine.listenTcp(host);
    const DOCKER_HOST = `tcp://${host.includes(":") ? `[${host}]` : host}:${port}`;
    const { id, endpoint, isLocal } = await connectEngine({ env: { DOCKER_HOST }, home, uid: 1000 });
    expect({ id, endpoint, isLocal }).toEqual({ id: "id-1", endpoint: DOCKER_HOST, isLocal: false });
  });

  it("names DOCKER_HOST when nothing answers there, and tries no other engine", async () => {
    const env = { DOCKER_HOST: `unix://${home}/absent.sock` };
    expect(await failureOf(connectEngine({ env, home, uid: 0 }))).toEqual({
      code: "ENGINE_UNREACHABLE",
      message: `DOCKER_HOST (\`${home}/absent.sock\`) does not answer: there is no such socket`,
    });
  });

  it("names a docker context that is not in the store", async () => {
    expect(await failureOf(connectEngine({ env: { DOCKER_CONTEXT: "work" }, home, uid: 0 }))).toEqual({
      code: "ENGINE_UNREACHABLE",
      message: `Docker context \`work\` has no engine in \`${home}/.docker\``,
    });
  });

  it("refuses an engine that runs Windows containers", async () => {
    expect(await failureOf(connect("1.48", { ...INFO, OSType: "windows" }))).toEqual({
      code: "ENGINE_UNSUPPORTED",
      message: `The engine at \`${home}/engine.sock\` runs windows containers, not Linux ones`,
    });
  });

  it("refuses an engine older than API 1.40", async () => {
    expect(await failureOf(connect("1.39", { ...INFO, ServerVersion: "18.09" }))).toEqual({
      code: "ENGINE_UNSUPPORTED",
      message: `The engine at \`${home}/engine.sock\` is version 18.09 (API 1.39), but API 1.40 is needed`,
    });
  });
});
