import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { Secrets } from "../../../src/core/secrets.ts";
import { clientOf, essence, fail, hear, KEY } from "../../support/chat-client.ts";
import { ChatServer, D, F, html, json, type Reply, says, sse } from "../../support/chat-server.ts";

const WEB_404: Reply = { status: 404, headers: { "content-type": "text/plain" }, body: ["404 page not found"] };

const ANSWERS: { title: string; reply: Reply; code: string; message: string; retry: string }[] = [
  {
    title: "a rejected key",
    reply: json(401, { error: { message: "Incorrect API key provided" } }),
    code: "CREDENTIALS_REJECTED",
    message: "`test` rejected the credentials (401): Incorrect API key provided",
    retry: "never",
  },
  {
    title: "a forbidden model",
    reply: json(403, { error: "not for you" }),
    code: "CREDENTIALS_REJECTED",
    message: "`test` rejected the credentials (403): not for you",
    retry: "never",
  },
  {
    title: "a path that is not there",
    reply: WEB_404,
    code: "MODEL_PROTOCOL",
    message: "`test` answered 404: 404 page not found",
    retry: "never",
  },
  {
    title: "a page instead of an API",
    reply: html(404),
    code: "MODEL_PROTOCOL",
    message: "`URL` answered HTML, not an OpenAI-style API",
    retry: "never",
  },
  {
    title: "a redirect",
    reply: { status: 307, headers: { location: "https://elsewhere.example/v1" }, body: [] },
    code: "MODEL_PROTOCOL",
    message: "`URL` answered with a redirect (307) to https://elsewhere.example/v1",
    retry: "never",
  },
  {
    title: "O-LLM-12 a conversation that is too long",
    reply: json(400, { error: { code: "context_length_exceeded", message: "This model's maximum context is 8" } }),
    code: "MODEL_REJECTED",
    message: "`test` answered 400: This model's maximum context is 8",
    retry: "never",
  },
  {
    title: "a server in trouble",
    reply: json(500, { error: { message: "oh no" } }),
    code: "MODEL_UNREACHABLE",
    message: "`test` answered 500: oh no",
    retry: "back_off",
  },
  {
    title: "a gateway's page about a passing trouble",
    reply: html(502),
    code: "MODEL_UNREACHABLE",
    message: "`test` answered 502: an HTML page",
    retry: "back_off",
  },
  {
    title: "O-LLM-12 a rate limit",
    reply: json(429, { error: { message: "slow down, 20000 tokens per minute" } }, { "retry-after": "2" }),
    code: "MODEL_RATE_LIMITED",
    message: "`test` answered 429: slow down, 20000 tokens per minute",
    retry: "wait",
  },
  {
    title: "a quota that is used up",
    reply: json(429, { error: { code: "insufficient_quota", message: "no more" } }, { "retry-after": "2" }),
    code: "MODEL_RATE_LIMITED",
    message: "`test` answered 429: no more",
    retry: "never",
  },
  {
    title: "a request id that contains 503",
    reply: json(400, { error: { message: "bad request req_503" } }),
    code: "MODEL_REJECTED",
    message: "`test` answered 400: bad request req_503",
    retry: "never",
  },
  {
    title: "O-SEC-03 an error with escape sequences",
    reply: json(400, { error: { message: "a\u001b[2Jb" } }),
    code: "MODEL_REJECTED",
    message: "`test` answered 400: a\\x1b[2Jb",
    retry: "never",
  },
  {
    title: "a list of errors, as Gemini sends it",
    reply: json(400, [{ error: { code: 400, message: "Bad thing" } }]),
    code: "MODEL_REJECTED",
    message: "`test` answered 400: Bad thing",
    retry: "never",
  },
];

test.each(ANSWERS)("$title is $code", async ({ reply, code, message, retry }) => {
  await using server = await ChatServer.start(reply);
  expect(essence(await fail(clientOf(server)))).toEqual({ code, message: message.replace("URL", server.url), retry });
});

test("only an overflow counts as one", async () => {
  await using server = await ChatServer.start(
    json(400, { error: { message: "prompt is too long: 9 tokens > 8" } }),
    json(413, {}),
    json(429, { error: { message: "Request too large: tokens per minute" } }),
  );
  const client = clientOf(server);
  expect([(await fail(client)).overflow, (await fail(client)).overflow, (await fail(client)).overflow]).toEqual([
    true,
    true,
    false,
  ]);
});

test("a model that is not found is told with the nearest names", async () => {
  await using server = await ChatServer.start(json(404, { error: { message: "The model `gpt-55` does not exist" } }));
  server.models = ["whisper-large", "gpt-5", "gpt-5.5", "omni-moderation"];
  const failure = await fail(clientOf(server, { model: "gpt-55" }));
  expect([failure.code, failure.message, failure.hint]).toEqual([
    "MODEL_NOT_FOUND",
    "`test` answered 404: The model `gpt-55` does not exist",
    "The server has 4 models, such as `gpt-5`, `gpt-5.5`",
  ]);
});

test("a key in an error text is masked", async () => {
  const secrets = new Secrets({ OTHER_TOKEN: "ghp-CANARY-0123" });
  await using server = await ChatServer.start(json(401, { error: { message: `wrong: ${KEY} and ghp-CANARY-0123` } }));
  const failure = await fail(clientOf(server, { mask: (text) => secrets.mask(text) }));
  expect(failure.message).toBe("`test` rejected the credentials (401): wrong: *** and ***");
});

test("an endless error body is cut", async () => {
  const body = Array.from({ length: 100 }, () => "x".repeat(10_000));
  await using server = await ChatServer.start({ status: 400, body, end: "hang" });
  expect((await fail(clientOf(server))).message).toMatch(/^`test` answered 400: x{500}… \(\d+ more characters\)$/);
});

test("a closed port is told as nobody listening, and not tried again", async () => {
  const server = await ChatServer.start();
  const client = clientOf(server);
  const { url } = server;
  await server[Symbol.asyncDispose]();
  const failure = await fail(client);
  expect(essence(failure)).toEqual({
    code: "MODEL_UNREACHABLE",
    message: `Nothing listens at \`${url}\``,
    retry: "never",
  });
});

test("a name that does not resolve is told", async () => {
  await using server = await ChatServer.start();
  const failure = await fail(clientOf(server, { baseUrl: "http://no-such-host.invalid/v1" }));
  expect([failure.code, failure.message]).toEqual([
    "MODEL_UNREACHABLE",
    "The name of `http://no-such-host.invalid/v1` cannot be resolved",
  ]);
});

test("TLS spoken to a plain server is told", async () => {
  await using server = await ChatServer.start();
  const failure = await fail(clientOf(server, { baseUrl: server.url.replace("http:", "https:") }));
  expect([failure.code, failure.message.replace(/\(.*\)/, "(…)"), failure.retry.type]).toEqual([
    "MODEL_UNREACHABLE",
    `The TLS certificate or handshake of \`${server.url.replace("http:", "https:")}\` was not accepted (…)`,
    "never",
  ]);
});

test("a server that does not speak HTTP is told", async () => {
  const plain = createServer((socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")).listen(0, "127.0.0.1");
  await once(plain, "listening");
  const baseUrl = `http://127.0.0.1:${(plain.address() as AddressInfo).port}/v1`;
  await using server = await ChatServer.start();
  const failure = await fail(clientOf(server, { baseUrl }));
  plain.close();
  expect([failure.code, failure.message.replace(/\(.*\)/, "(…)")]).toEqual([
    "MODEL_PROTOCOL",
    `\`${baseUrl}\` does not speak HTTP (…)`,
  ]);
});

const SILENCES: [string, Reply][] = [
  ["never answers", { silent: true, body: [] }],
  ["sends headers only", sse([], { end: "hang" })],
  ["stops after a delta", sse([D({ content: "x" })], { end: "hang" })],
  ["never ends its error", { status: 500, body: ["x"], end: "hang" }],
];

test.each(SILENCES)("O-LLM-08 a server that %s ends as silent, and its socket is closed", async (_, reply) => {
  await using server = await ChatServer.start(reply);
  const failure = await fail(clientOf(server, { idleMs: 100 }));
  expect(essence(failure)).toEqual({
    code: "MODEL_UNREACHABLE",
    message: "`test` sent nothing for 0.1 s",
    retry: "back_off",
  });
  await server.idle();
});

test("a server that never closes after the model's last word does not hold the answer", async () => {
  await using server = await ChatServer.start(sse([D({ content: "x" }), F("stop")], { end: "hang" }));
  const { message } = await hear(clientOf(server, { idleMs: 100 }));
  expect([message.stopReason, message.content]).toEqual(["stop", [{ type: "text", text: "x" }]]);
});

test("O-LLM-08 an abort before the first byte resolves at once as aborted", async () => {
  await using server = await ChatServer.start({ silent: true, body: [] });
  const { message } = await hear(clientOf(server), undefined, AbortSignal.timeout(50));
  expect([message.stopReason, message.content]).toEqual(["aborted", []]);
  await server.idle();
});

test("an abort keeps the text and drops the call that was not complete", async () => {
  const whole = { index: 0, id: "c1", function: { name: "read", arguments: '{"path":"a"}' } };
  const half = { index: 1, id: "c2", function: { name: "read", arguments: '{"path":' } };
  await using server = await ChatServer.start(
    sse([D({ content: "Let me" }), D({ tool_calls: [whole, half] }), D({ content: "!" })], { end: "hang" }),
  );
  const person = new AbortController();
  const message = await clientOf(server).respond(
    { system: "", messages: [{ role: "user", content: "go" }], tools: [] },
    { signal: person.signal, onDelta: ({ text }) => text === "!" && person.abort() },
  );
  expect([message.stopReason, message.content]).toEqual([
    "aborted",
    [
      { type: "text", text: "Let me" },
      { type: "tool_call", id: "c1", name: "read", arguments: '{"path":"a"}' },
      { type: "text", text: "!" },
    ],
  ]);
});

test("after a first answer, a server that has gone is a network that will come back", async () => {
  const server = await ChatServer.start(says("hi"));
  const client = clientOf(server);
  await hear(client);
  await server[Symbol.asyncDispose]();
  expect((await fail(client)).retry).toEqual({ type: "back_off" });
});
