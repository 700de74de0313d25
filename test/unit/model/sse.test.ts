import { expect, test } from "vitest";
import { SseDecoder } from "../../../src/model/sse.ts";
import { clientOf, hear } from "../../support/chat-client.ts";
import { ChatServer, D, END, F, sse } from "../../support/chat-server.ts";

const STREAMS: [string, string][] = [
  ["a comment", `: OPENROUTER PROCESSING\n\n${D({ content: "é" })}${F("stop")}${END}`],
  ["an event without data", `event: ping\n\n${D({ content: "é" })}${F("stop")}${END}`],
  [
    "CRLF and no blank after the colon",
    `${D({ content: "é" })}${F("stop")}`.replaceAll("\n", "\r\n").replaceAll("data: ", "data:"),
  ],
  ["lone CR", `${D({ content: "é" })}${F("stop")}${END}`.replaceAll("\n", "\r")],
  ["a byte order mark", `\ufeff${D({ content: "é" })}${F("stop")}${END}`],
  [
    "data over several lines",
    `data: {"choices":[{"delta":\ndata: {"content":"é"},\ndata: "finish_reason":"stop"}]}\n\n`,
  ],
  ["a last event without its blank line", `${D({ content: "é" })}${F("stop").trimEnd()}`],
];

for (const bytewise of [false, true]) {
  test.each(STREAMS)(
    `O-LLM-09 a stream with %s is read ${bytewise ? "byte by byte" : "in one write"}`,
    async (_, body) => {
      await using server = await ChatServer.start(sse([body], { bytewise }));
      const { message } = await hear(clientOf(server));
      expect([message.content, message.stopReason]).toEqual([[{ type: "text", text: "é" }], "stop"]);
    },
  );
}

test("the split of the text into pieces changes nothing", () => {
  const stream = "data: a\r\ndata: b\r\n\r\n:c\rdata:d\r\revent: e\ndata: f\n\nid: 1\n\n";
  for (let size = 1; size <= stream.length; size++) {
    const decoder = new SseDecoder();
    const pieces = Array.from({ length: Math.ceil(stream.length / size) }, (_, n) =>
      stream.slice(n * size, (n + 1) * size),
    );
    expect(pieces.flatMap((piece) => decoder.push(piece))).toEqual([
      { event: "", data: "a\nb" },
      { event: "", data: "d" },
      { event: "e", data: "f" },
    ]);
  }
});
