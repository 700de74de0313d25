import { expect, test } from "vitest";
import type { Message } from "../../../src/core/messages.ts";
import type { ModelRequest } from "../../../src/model/model-client.ts";
import { clientOf, essence, fail, hear } from "../../support/chat-client.ts";
import { ChatServer, json, says } from "../../support/chat-server.ts";

const MESSAGES: Message[] = [
  { role: "assistant", content: [{ type: "tool_call", id: "c1", name: "read", arguments: '{"path":"a.png"}' }] },
  {
    role: "tool",
    callId: "c1",
    toolName: "read",
    content: [
      { type: "text", text: "`a.png`: image/png" },
      { type: "image", mime: "image/png", data: "AAAA" },
    ],
    isError: false,
  },
];
const WITH_IMAGE: ModelRequest = { system: "", messages: MESSAGES, tools: [] };

test.each([
  [400, "Invalid content type. image_url is only supported by certain models."],
  [422, "unknown variant `image_url`, expected `text`"],
  [404, "No endpoints found that support image input"],
])("a request refused with %i for its images goes on without them, now and later", async (status, message) => {
  await using server = await ChatServer.start(json(status, { error: { message } }), says("first"), says("second"));
  const client = clientOf(server);
  const { message: answer } = await hear(client, WITH_IMAGE);
  await hear(client, WITH_IMAGE);
  expect(answer.content).toEqual([{ type: "text", text: "first" }]);
  const sent = server.requests.filter(({ method }) => method === "POST").map(({ text }) => text);
  expect(sent.map((text) => text.includes("data:image/png"))).toEqual([true, false, false]);
  expect(sent[1]).toContain("image(s) left out");
});

test("a request refused for another reason is refused with that reason, and images are sent again", async () => {
  const wrong = json(400, { error: { message: "messages: wrong" } });
  await using server = await ChatServer.start(wrong, json(400, { error: { message: "still wrong" } }), says("ok"));
  const client = clientOf(server);
  expect(essence(await fail(client, WITH_IMAGE)).message).toBe("`test` answered 400: messages: wrong");
  await hear(client, WITH_IMAGE);
  expect(server.requests.map(({ text }) => text.includes("data:image/png"))).toEqual([true, false, true]);
});

test("a request without images is refused at once", async () => {
  await using server = await ChatServer.start(json(400, { error: { message: "no image here" } }));
  await fail(clientOf(server));
  expect(server.requests.length).toBe(1);
});
