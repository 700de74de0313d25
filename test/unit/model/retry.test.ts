import { expect, test } from "vitest";
import { ModelFailure } from "../../../src/model/failure.ts";
import type { ModelClient } from "../../../src/model/model-client.ts";
import { type RetryEvent, type RetryOptions, withRetries } from "../../../src/model/retry.ts";
import { requestedWaitMs } from "../../../src/model/retry-after.ts";
import { clientOf, HELLO, hear } from "../../support/chat-client.ts";
import { ChatServer, D, json, type Reply, says, sse, tc } from "../../support/chat-server.ts";

/** A client that does not wait, and what it reported. */
function patient(client: ModelClient, options: Partial<RetryOptions> = {}) {
  const events: RetryEvent[] = [];
  const onRetry = (event: RetryEvent) => void events.push(event);
  const retrying = withRetries(client, { sleep: async () => {}, random: () => 0.5, onRetry, ...options });
  return { retrying, delays: () => events.map(({ delayMs }) => delayMs), events };
}

test("O-LLM-12 an attempt that broke off leaves nothing in the answer", async () => {
  await using server = await ChatServer.start(
    sse([D({ content: "Hel" }), D(tc(0, "c1", "bash", '{"comm'))], { end: "cut" }),
    json(500, { error: { message: "oh no" } }),
    says("Hello"),
  );
  const { retrying, events } = patient(clientOf(server));
  const { message } = await hear(retrying);
  expect([
    message.content,
    events.map(({ retry, delayMs, failure }) => [retry, delayMs, failure.partial.chars]),
  ]).toEqual([
    [{ type: "text", text: "Hello" }],
    [
      [1, 2000, 9],
      [2, 4000, 0],
    ],
  ]);
  expect(server.requests.map(({ text }) => text)).toEqual(Array(3).fill(server.requests[0]?.text));
});

test("back-off doubles with jitter and gives up after the last retry", async () => {
  await using server = await ChatServer.start(...Array.from({ length: 9 }, () => json(503, {})));
  const { retrying, delays } = patient(clientOf(server), { attempts: 7, random: () => 1 });
  await expect(hear(retrying)).rejects.toThrow("`test` answered 503");
  expect(delays()).toEqual([2400, 4800, 9600, 19200, 38400, 60000, 60000]);
});

test("four retries are the default, counted anew after an answer", async () => {
  const down = Array.from({ length: 4 }, () => json(500, {}));
  await using server = await ChatServer.start(...down, says("one"), ...down, says("two"));
  const { retrying } = patient(clientOf(server));
  await hear(retrying);
  expect((await hear(retrying)).message.content).toEqual([{ type: "text", text: "two" }]);
});

test.each([400, 401, 403, 404, 422, 501])("status %i is not tried again", async (status) => {
  await using server = await ChatServer.start(json(status, { error: { message: "no" } }), says("never"));
  await expect(hear(patient(clientOf(server)).retrying)).rejects.toBeInstanceOf(ModelFailure);
  expect(server.requests.filter(({ method }) => method === "POST").length).toBe(1);
});

test.each([408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529])("status %i is tried again", async (status) => {
  await using server = await ChatServer.start(json(status, { error: { message: "no" } }), says("ok"));
  await hear(patient(clientOf(server)).retrying);
  expect(server.requests.length).toBe(2);
});

const rateLimit = (wait: string): Reply => json(429, { error: { message: "slow down" } }, { "retry-after": wait });

test("O-LLM-12 a wait the provider asks for is waited", async () => {
  await using server = await ChatServer.start(rateLimit("7"), says("ok"));
  const { retrying, delays } = patient(clientOf(server));
  await hear(retrying);
  expect(delays()).toEqual([7000]);
});

test("O-LLM-12 a wait of a day is told, not waited", async () => {
  await using server = await ChatServer.start(rateLimit("86400"), says("never"));
  const { retrying, delays } = patient(clientOf(server));
  await expect(hear(retrying)).rejects.toMatchObject({
    code: "MODEL_RATE_LIMITED",
    message: "`test` answered 429: slow down; it asks to wait 24 h",
  });
  expect(delays()).toEqual([]);
});

test("an abort ends the wait at once", async () => {
  await using server = await ChatServer.start(rateLimit("60"));
  const person = new AbortController();
  const retrying = withRetries(clientOf(server), { onRetry: () => setImmediate(() => person.abort()) });
  const started = performance.now();
  const message = await retrying.respond(HELLO, { signal: person.signal, onDelta: () => {} });
  expect([message.stopReason, performance.now() - started < 5_000]).toEqual(["aborted", true]);
});

const NOW = Date.UTC(2026, 0, 1);
const WAITS: [Record<string, string>, number | undefined][] = [
  [{}, undefined],
  [{ "retry-after": "2" }, 2_000],
  [{ "retry-after": "0.5" }, 500],
  [{ "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }, 30_000],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after-ms": "1500", "retry-after": "9" }, 1_500],
  [{ "x-ratelimit-reset-after": "3" }, 3_000],
  [{ "x-ratelimit-reset": String(NOW / 1000 + 5) }, 5_000],
  [{ "x-ratelimit-reset": String(NOW + 5_000) }, 5_000],
];

test.each(WAITS)("headers %j ask for %s ms", (headers, ms) => {
  expect(requestedWaitMs(new Headers(headers), NOW)).toBe(ms);
});
