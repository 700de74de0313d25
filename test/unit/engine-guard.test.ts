import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Docker from "dockerode";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { untilAnswers } from "../../src/sandbox/engine/await.ts";
import { guard, isDisconnected } from "../../src/sandbox/engine/guard.ts";
import { orMissing } from "../../src/sandbox/engine/status.ts";
import { twice } from "../../src/sandbox/engine/twice.ts";

let folder: string;
let server: Server;
let answer: RequestListener;
let requests: number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "glovebox-guard-"));
  requests = 0;
  server = createServer((request, response) => {
    requests++;
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(join(folder, "sock"), resolve));
});

afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

function client(): Docker {
  return guard(new Docker({ socketPath: join(folder, "sock") }), { firstMs: 300, nextMs: 30 });
}

function refuse(status: number, message: string): RequestListener {
  return (_, response) => void response.writeHead(status).end(JSON.stringify({ message }));
}

const never: RequestListener = () => undefined;

describe("an engine's failures", () => {
  it("are errors of ours with its words and its status", async () => {
    answer = refuse(500, "disk\u001b[31m on fire");
    const failure = await client().getContainer("x").inspect().catch(String);
    expect(failure).toBe("GloveboxError: The engine refused a request: disk\\x1b[31m on fire");
    answer = refuse(404, "no such container");
    expect(await orMissing(client().getContainer("x").inspect())).toBeUndefined();
    answer = refuse(503, "");
    await expect(client().info()).rejects.toMatchObject({ code: "ENGINE_FAILED", statusCode: 503 });
  });

  it("tell a connection that breaks from an answer", async () => {
    answer = (request) => void request.socket.destroy();
    const failure: unknown = await client()
      .info()
      .catch((error: unknown) => error);
    expect([isDisconnected(failure), String(failure)]).toEqual([
      true,
      "GloveboxError: The connection to the engine broke: socket hang up",
    ]);
  });

  it("include silence, which is waited for once and then hardly", async () => {
    answer = never;
    const docker = client();
    const waits: number[] = [];
    for (const path of ["first", "second"]) {
      const before = performance.now();
      await expect(docker.getContainer(path).inspect()).rejects.toThrow("does not answer any more");
      waits.push(performance.now() - before);
    }
    expect([(waits[0] ?? 0) >= 290, (waits[1] ?? 0) < (waits[0] ?? 0)]).toEqual([true, true]);
    answer = (_, response) => void response.end("{}");
    await docker.info();
    answer = never;
    const before = performance.now();
    await expect(docker.info()).rejects.toThrow("does not answer any more");
    expect(performance.now() - before).toBeGreaterThan(290);
  });

  it("do not include a wait, which takes as long as the container runs", async () => {
    answer = (_, response) => void setTimeout(() => response.end('{"StatusCode":0}'), 600);
    expect(await client().getContainer("x").wait()).toEqual({ StatusCode: 0 });
  });
});

describe("an engine that went away", () => {
  it("is waited for until it answers", async () => {
    answer = (request, response) => void (requests < 3 ? request.socket.destroy() : response.end("[]"));
    await untilAnswers(client(), 10_000, new AbortController().signal);
    expect(requests).toBe(3);
  });

  it("is not waited for any longer than was said, nor after an abort", async () => {
    answer = refuse(500, "not yet");
    await expect(untilAnswers(client(), 0, new AbortController().signal)).rejects.toThrow("not yet");
    const aborted = AbortSignal.abort();
    await expect(untilAnswers(client(), 60_000, aborted)).rejects.toMatchObject({ code: "ENGINE_FAILED" });
  });
});

describe("a removal", () => {
  it("is tried twice, and what is gone already is fine", async () => {
    answer = (request, response) => void (requests < 2 ? refuse(500, "busy") : refuse(404, "gone"))(request, response);
    await twice(() => client().getContainer("x").remove(), [404]);
    expect(requests).toBe(2);
    answer = refuse(500, "busy");
    await expect(twice(() => client().getContainer("x").remove(), [404])).rejects.toThrow("busy");
    expect(requests).toBe(4);
  });
});
