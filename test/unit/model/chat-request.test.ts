import { expect, test } from "vitest";
import type { AssistantPart, Message } from "../../../src/core/messages.ts";
import { chatMessages as convert } from "../../../src/model/chat-request.ts";
import { clientOf, hear, KEY } from "../../support/chat-client.ts";
import { ChatServer, calls, D, END, F, fragment, says, sse } from "../../support/chat-server.ts";

const chatMessages = (system: string, messages: Message[], sees: boolean) =>
  convert(system, messages, { sees, extras: new Map() });
const call = (id: string, args = "{}"): AssistantPart => ({ type: "tool_call", id, name: "read", arguments: args });
const result = (callId: string, text: string): Message => ({
  role: "tool",
  callId,
  toolName: "read",
  content: [{ type: "text", text }],
  isError: false,
});
const sentCall = (id: string, args = "{}") => ({ id, type: "function", function: { name: "read", arguments: args } });

test("a request has the conversation, the tools, and asks for usage", async () => {
  await using server = await ChatServer.start(says("ok"));
  const parameters = { type: "object", properties: {} };
  await hear(clientOf(server), {
    system: "be brief",
    messages: [
      { role: "user", content: "hello" },
      { role: "assistant", content: [{ type: "text", text: "Let me look" }, call("c1", '{"path":"a"}')] },
      result("c1", " \n"),
    ],
    tools: [{ name: "read", description: "Reads", parameters }],
    maxOutput: 100,
  });
  const [request] = server.requests;
  expect([request?.path, request?.headers.authorization, request?.body]).toEqual([
    "/v1/chat/completions",
    `Bearer ${KEY}`,
    {
      model: "m",
      messages: [
        { role: "system", content: "be brief" },
        { role: "user", content: "hello" },
        { role: "assistant", content: "Let me look", tool_calls: [sentCall("c1", '{"path":"a"}')] },
        { role: "tool", tool_call_id: "c1", content: "(no output)" },
      ],
      tools: [{ type: "function", function: { name: "read", description: "Reads", parameters } }],
      max_tokens: 100,
      stream: true,
      stream_options: { include_usage: true },
    },
  ]);
});

test("the client takes nothing from the environment", async () => {
  const names = ["OPENAI_ORG_ID", "OPENAI_PROJECT_ID", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_LOG"];
  const before = names.map((name) => process.env[name]);
  for (const name of names) process.env[name] = "http://from-the-environment.invalid/";
  try {
    await using server = await ChatServer.start(says("ok"));
    await hear(clientOf(server));
    const [request] = server.requests;
    expect([request?.headers.authorization, JSON.stringify(request?.headers).includes("from-the-env")]).toEqual([
      `Bearer ${KEY}`,
      false,
    ]);
  } finally {
    for (const [index, name] of names.entries()) {
      if (before[index] === undefined) delete process.env[name];
      else process.env[name] = before[index];
    }
  }
});

test("O-LLM-10 an id the server uses in every turn is unique in the conversation", async () => {
  const turns = Array.from({ length: 3 }, () => calls("bash", { command: "true" }, "same"));
  await using server = await ChatServer.start(...turns);
  const client = clientOf(server);
  const messages: Message[] = [{ role: "user", content: "go" }];
  for (const _ of turns) {
    const { message } = await hear(client, { system: "", messages: [...messages], tools: [] });
    messages.push({ role: "assistant", content: message.content });
    for (const part of message.content) if (part.type === "tool_call") messages.push(result(part.id, "done"));
  }
  const sent = chatMessages("", messages, true);
  expect(sent.flatMap((message) => ("tool_call_id" in message ? [message.tool_call_id] : []))).toEqual([
    "same",
    "same_1",
    "same_2",
  ]);
});

test("O-LLM-10 ids of a log that repeat or that no provider accepts are sent unique, each result with its call", () => {
  const messages: Message[] = [
    {
      role: "assistant",
      content: [call("dup"), call("dup"), call(""), call("functions.read:0"), call("x".repeat(99))],
    },
    result("dup", "1"),
    result("dup", "2"),
    result("", "3"),
    result("functions.read:0", "4"),
    result("x".repeat(99), "5"),
    { role: "assistant", content: [call("dup")] },
    result("dup", "6"),
    result("never called", "7"),
  ];
  const ids = ["dup", "dup_1", "call_2", "functions_read_0", "x".repeat(64)];
  expect(chatMessages("", messages, true)).toEqual([
    { role: "assistant", content: null, tool_calls: ids.map((id) => sentCall(id)) },
    ...ids.map((id, index) => ({ role: "tool", tool_call_id: id, content: String(index + 1) })),
    { role: "assistant", content: null, tool_calls: [sentCall("dup_5")] },
    { role: "tool", tool_call_id: "dup_5", content: "6" },
  ]);
});

test("the beginning of a request does not change when the conversation grows", () => {
  const messages: Message[] = [
    { role: "user", content: "go" },
    { role: "assistant", content: [call("a"), call("a")] },
    result("a", "1"),
    result("a", "2"),
    { role: "assistant", content: [call("a")] },
    result("a", "3"),
  ];
  const whole = chatMessages("s", messages, true);
  for (const length of [1, 4, 6]) {
    expect(chatMessages("s", messages.slice(0, length), true)).toEqual(whole.slice(0, length + 1));
  }
});

test.each(["", "[1]", '"a"', "null", '{"path":', '{"path":"a"} trailing'])(
  "O-LLM-07 stored arguments %j go back as an object",
  (args) => {
    expect(chatMessages("", [{ role: "assistant", content: [call("c1", args)] }], true)).toEqual([
      { role: "assistant", content: null, tool_calls: [sentCall("c1", "{}")] },
    ]);
  },
);

test("O-LLM-11 reasoning goes back in the field it came in, and in no other", () => {
  const content: AssistantPart[] = [
    { type: "reasoning", text: "let me ", field: "reasoning_content" },
    { type: "reasoning", text: "see", field: "reasoning_content" },
    { type: "reasoning", text: "evil", field: "content" },
    { type: "text", text: "hi" },
  ];
  expect(chatMessages("", [{ role: "assistant", content }], true)).toEqual([
    { role: "assistant", content: "hi", reasoning_content: "let me see" },
  ]);
});

test("an answer with nothing that can be sent is left out", () => {
  const content: AssistantPart[] = [{ type: "reasoning", text: "hm", field: "reasoning" }];
  expect(chatMessages("", [{ role: "assistant", content }], true)).toEqual([]);
});

test("O-OUT-01 half a pair in an escape of old arguments is healed, all else of them stays as it was written", () => {
  const sent = (text: string): unknown => {
    const [message] = chatMessages("", [{ role: "assistant", content: [call("c1", text)] }], true);
    return (message as { tool_calls: { function: { arguments: string } }[] }).tool_calls[0]?.function.arguments;
  };
  expect(sent('{"path":"a\\ud83d", "\\ude80": ["\\uDE80b"]}')).toBe('{"path":"a\ufffd","\ufffd":["\ufffdb"]}');
  const fine = '{ "path": "\\ud83d\\ude80", "n": 12345678901234567890, "text": "\\\\ud83d" }';
  expect(sent(fine)).toBe(fine);
});

test("lone surrogates never reach the wire", () => {
  const messages: Message[] = [
    { role: "user", content: "a\ud83d" },
    { role: "assistant", content: [{ type: "text", text: "\ude00" }, call("c1", '{"path":"\ud83d"}')] },
    result("c1", "\ud83d"),
  ];
  expect(JSON.stringify(chatMessages("\ud83d", messages, true))).not.toMatch(/\\ud[89a-f]/);
});

const image = { type: "image", mime: "image/png", data: "AAAA" } as const;
const twoImages: Message[] = [
  { role: "assistant", content: [call("c1"), call("c2")] },
  { role: "tool", callId: "c1", toolName: "read", content: [image], isError: false },
  { role: "tool", callId: "c2", toolName: "read", content: [{ type: "text", text: "x" }, image], isError: false },
];

test("images follow the results of their turn", () => {
  const picture = { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } };
  expect(chatMessages("", twoImages, true).slice(1)).toEqual([
    { role: "tool", tool_call_id: "c1", content: "(1 image(s) follow)" },
    { role: "tool", tool_call_id: "c2", content: "x\n(1 image(s) follow)" },
    {
      role: "user",
      content: [
        { type: "text", text: "Image from the result of call c1:" },
        picture,
        { type: "text", text: "Image from the result of call c2:" },
        picture,
      ],
    },
  ]);
});

test("a model that sees none is told of images", () => {
  expect(chatMessages("", twoImages, false).slice(1)).toEqual([
    { role: "tool", tool_call_id: "c1", content: "(1 image(s) left out: this model sees none)" },
    { role: "tool", tool_call_id: "c2", content: "x\n(1 image(s) left out: this model sees none)" },
  ]);
});

test("O-LLM-11 extra_content of a call goes back with it", async () => {
  const extra = { extra_content: { google: { thought_signature: "sig" } } };
  const signed = { ...fragment(0, "c1", "read", "{}"), ...extra };
  await using server = await ChatServer.start(sse([D({ tool_calls: [signed] }), F("tool_calls"), END]), says("ok"));
  const client = clientOf(server);
  const { message } = await hear(client);
  const messages: Message[] = [{ role: "assistant", content: message.content }, result("c1", "x")];
  await hear(client, { system: "", messages, tools: [] });
  expect(server.requests[1]?.body.messages[0].tool_calls).toEqual([{ ...sentCall("c1"), ...extra }]);
});
