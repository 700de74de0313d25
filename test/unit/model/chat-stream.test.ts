import { expect, test } from "vitest";
import type { AssistantPart, StopReason } from "../../../src/core/messages.ts";
import { clientOf, essence, fail, hear } from "../../support/chat-client.ts";
import { ChatServer, D, END, F, fragment, frame, json, type Reply, sse, tc } from "../../support/chat-server.ts";

const usageFrame = frame({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 } });
const call = (id: string, name: string, args: string): AssistantPart => ({
  type: "tool_call",
  id,
  name,
  arguments: args,
});
const text = (value: string): AssistantPart => ({ type: "text", text: value });

type Case = { title: string; reply: Reply; content: AssistantPart[]; stop: StopReason };

const READ_A = '{"path":"a"}';
const READ_B = '{"path":"b"}';
const twoReads = [call("c1", "read", READ_A), call("c2", "read", READ_B)];

const ANSWERS: Case[] = [
  {
    title: "O-LLM-01 fragments without index belong to the call being streamed",
    reply: sse([
      D(tc(undefined, "c1", "read", '{"path":')),
      D(tc(undefined, undefined, undefined, '"a"}')),
      D(tc(undefined, "c2", "read", READ_B)),
      F("tool_calls"),
      END,
    ]),
    content: twoReads,
    stop: "tool_use",
  },
  {
    title: "O-LLM-01 two calls without index in one chunk are two calls",
    reply: sse([
      D({ tool_calls: [fragment(undefined, "c1", "read", READ_A), fragment(undefined, "c2", "read", READ_B)] }),
      F("tool_calls"),
      END,
    ]),
    content: twoReads,
    stop: "tool_use",
  },
  {
    title: "O-LLM-01 two calls with neither index nor id are told apart by their names",
    reply: sse([
      D(tc(undefined, undefined, "read", READ_A)),
      D(tc(undefined, undefined, "read", READ_B)),
      F("tool_calls"),
      END,
    ]),
    content: [call("call_0", "read", READ_A), call("call_1", "read", READ_B)],
    stop: "tool_use",
  },
  {
    title: "O-LLM-02 two ids on one index are two calls",
    reply: sse([D(tc(0, "c1", "read", READ_A)), D(tc(0, "c2", "read", READ_B)), F("tool_calls"), END]),
    content: twoReads,
    stop: "tool_use",
  },
  {
    title: "O-LLM-02 the same id again on one index is a continuation",
    reply: sse([D(tc(0, "c1", "read", '{"path":')), D(tc(0, "c1", "read", '"a"}')), F("tool_calls"), END]),
    content: [call("c1", "read", READ_A)],
    stop: "tool_use",
  },
  {
    title: "interleaved fragments go to the call of their index",
    reply: sse([
      D(tc(0, "c1", "read", "")),
      D(tc(1, "c2", "read", '{"path":')),
      D(tc(0, undefined, undefined, READ_A)),
      D(tc(1, undefined, undefined, '"b"}')),
      F("tool_calls"),
      END,
    ]),
    content: twoReads,
    stop: "tool_use",
  },
  {
    title: "a new id on each fragment of one call does not split it",
    reply: sse([D(tc(0, "x1", "read", '{"path":')), D(tc(0, "x2", undefined, '"a"}')), F("tool_calls"), END]),
    content: [call("x1", "read", READ_A)],
    stop: "tool_use",
  },
  {
    title: "O-LLM-03 chunks without choices or delta are not the answer",
    reply: sse([
      frame({ choices: [], created: 0, id: "", model: "", object: "" }),
      D(null),
      D({ content: "hi" }),
      frame({ choices: [{ index: 0, finish_reason: "stop" }] }),
      usageFrame,
      END,
    ]),
    content: [text("hi")],
    stop: "stop",
  },
  {
    title: "O-LLM-04 an answer without finish_reason that ends in [DONE] is whole",
    reply: sse([D({ content: "hi" }), END]),
    content: [text("hi")],
    stop: "stop",
  },
  {
    title: "an answer with finish_reason and no [DONE] is whole, also when the socket breaks",
    reply: sse([D({ content: "hi" }), F("stop")], { end: "cut" }),
    content: [text("hi")],
    stop: "stop",
  },
  {
    title: "O-LLM-06 a cut tool call keeps its raw arguments and the stop reason says so",
    reply: sse([D(tc(0, "c1", "write", '{"path":"README.md","content":"# T\\nfirst')), F("length"), END]),
    content: [call("c1", "write", '{"path":"README.md","content":"# T\\nfirst')],
    stop: "length",
  },
  {
    title: "O-LLM-07 arguments that are null or an object are the text they stand for",
    reply: sse([
      D({ tool_calls: [{ index: 0, id: "c1", function: { name: "ls", arguments: null } }] }),
      D({ tool_calls: [{ index: 1, id: "c2", function: { name: "read", arguments: { path: "a" } } }] }),
      F("stop"),
      END,
    ]),
    content: [call("c1", "ls", ""), call("c2", "read", READ_A)],
    stop: "tool_use",
  },
  {
    title: "O-LLM-10 one id for two calls becomes two ids",
    reply: sse([D(tc(0, "dup", "read", READ_A)), D(tc(1, "dup", "read", READ_B)), F("tool_calls"), END]),
    content: [call("dup", "read", READ_A), call("dup_1", "read", READ_B)],
    stop: "tool_use",
  },
  {
    title: "O-LLM-10 an empty and a missing id are replaced",
    reply: sse([D(tc(0, "", "read", READ_A)), D(tc(1, undefined, "read", READ_B)), F("tool_calls"), END]),
    content: [call("call_0", "read", READ_A), call("call_1", "read", READ_B)],
    stop: "tool_use",
  },
  {
    title: "reasoning comes before the text of the same chunk, under the name of its field",
    reply: sse([
      D({ reasoning_content: "let me " }),
      D({ content: "hi", reasoning_content: "see" }),
      D({ content: " you" }),
      F("stop"),
      END,
    ]),
    content: [{ type: "reasoning", text: "let me see", field: "reasoning_content" }, text("hi you")],
    stop: "stop",
  },
  {
    title: "content in parts is read as text",
    reply: sse([D({ content: [{ type: "text", text: "hi" }, { type: "image_url" }] }), F("stop"), END]),
    content: [text("hi")],
    stop: "stop",
  },
  {
    title: "a surrogate pair cut in two is whole, a lone one is replaced",
    reply: sse([D({ content: "\ud83d" }), D({ content: "\ude00 \ud83d" }), F("stop"), END]),
    content: [text("\u{1f600} \ufffd")],
    stop: "stop",
  },
  {
    title: "a refusal is not a success",
    reply: sse([D({ refusal: "I will not" }), F("stop"), END]),
    content: [text("I will not")],
    stop: "refusal",
  },
  {
    title: "other choices than the first are not mixed in",
    reply: sse([
      frame({
        choices: [
          { index: 1, delta: { content: "no" } },
          { index: 0, delta: { content: "yes" } },
        ],
      }),
      F("stop"),
      END,
    ]),
    content: [text("yes")],
    stop: "stop",
  },
  {
    title: "a server that does not stream is understood",
    reply: json(200, { id: "c", choices: [{ message: { content: "hi" }, finish_reason: "stop" }] }),
    content: [text("hi")],
    stop: "stop",
  },
];

test.each(ANSWERS)("$title", async ({ reply, content, stop }) => {
  await using server = await ChatServer.start(reply);
  const { message } = await hear(clientOf(server));
  expect({ content: message.content, stop: message.stopReason }).toEqual({ content, stop });
});

const FINISH: [string, StopReason][] = [
  ["end", "stop"],
  ["eos", "stop"],
  ["STOP", "stop"],
  ["stop_sequence", "stop"],
  ["tool_calls", "stop"],
  ["function_call", "stop"],
  ["model_context_window_exceeded", "length"],
  ["response.incomplete", "length"],
  ["content_filter", "refusal"],
];

test.each(FINISH)("finish_reason %s of an answer without calls is %s", async (reason, stop) => {
  await using server = await ChatServer.start(sse([D({ content: "x" }), F(reason), END]));
  expect((await hear(clientOf(server))).message.stopReason).toBe(stop);
});

const BROKEN: { title: string; reply: Reply; code: string; message: string; retry: string }[] = [
  {
    title: "O-LLM-04 a text whose end never came is not an answer",
    reply: sse([D({ content: "The answer is" })]),
    code: "MODEL_UNREACHABLE",
    message: "The answer of `test` broke off after 13 characters (no end of the answer came)",
    retry: "back_off",
  },
  {
    title: "O-LLM-04 a complete call whose end never came is not run",
    reply: sse([D(tc(0, "c1", "read", READ_A))]),
    code: "MODEL_UNREACHABLE",
    message: "The answer of `test` broke off after 12 characters (no end of the answer came)",
    retry: "back_off",
  },
  {
    title: "O-LLM-04 a socket reset within a chunk is not an answer",
    reply: sse([D({ content: "The" }), 'data: {"choices":[{"del'], { end: "cut" }),
    code: "MODEL_UNREACHABLE",
    message: "The answer of `test` broke off after 3 characters (ECONNRESET)",
    retry: "back_off",
  },
  {
    title: "O-LLM-04 an event cut by the end of the stream is not read",
    reply: sse([D({ content: "The" }), 'data: {"choices":[{"del']),
    code: "MODEL_UNREACHABLE",
    message: "The answer of `test` broke off after 3 characters (no end of the answer came)",
    retry: "back_off",
  },
  {
    title: "O-LLM-05 an error event with a code is that error",
    reply: sse(['data: {"error":{"code":502,"message":"upstream limit"},"choices":[]}\n\n']),
    code: "MODEL_UNREACHABLE",
    message: "`test` answered with an error (502): upstream limit",
    retry: "back_off",
  },
  {
    title: "O-LLM-05 a JSON body with an error is that error",
    reply: json(200, { error: { message: "no credit" } }),
    code: "MODEL_RATE_LIMITED",
    message: "`test` answered with an error: no credit",
    retry: "never",
  },
  {
    title: "O-LLM-05 an HTML page is not an answer",
    reply: { status: 200, headers: { "content-type": "text/event-stream" }, body: ["\n<html><body>gateway"] },
    code: "MODEL_PROTOCOL",
    message: "`URL` answered HTML, not an OpenAI-style API",
    retry: "never",
  },
  {
    title: "O-LLM-05 an error that is not JSON is shown",
    reply: sse([D({ content: "x" }), "data: error: engine died\n\n"]),
    code: "MODEL_UNREACHABLE",
    message: "`test` answered with an error: error: engine died",
    retry: "back_off",
  },
  {
    title: "O-LLM-05 an event of the type error is that error",
    reply: sse(['event: error\ndata: {"type":"overloaded_error","message":"busy"}\n\n']),
    code: "MODEL_UNREACHABLE",
    message: "`test` answered with an error (529): busy",
    retry: "back_off",
  },
  {
    title: "O-LLM-05 an error inside a choice is that error",
    reply: sse([frame({ choices: [{ delta: {}, finish_reason: "error", error: { code: 429, message: "slow" } }] })]),
    code: "MODEL_RATE_LIMITED",
    message: "`test` answered with an error (429): slow",
    retry: "back_off",
  },
  {
    title: "an empty stream is not an answer",
    reply: sse([END]),
    code: "MODEL_UNREACHABLE",
    message: "The answer of `test` broke off before it said anything (an empty answer)",
    retry: "back_off",
  },
  {
    title: "an unknown finish_reason is not a stop",
    reply: sse([D({ content: "x" }), F("bored"), END]),
    code: "MODEL_PROTOCOL",
    message: "`test` ended with the unknown finish_reason `bored`",
    retry: "never",
  },
  {
    title: "O-LLM-01 fragments that could belong to either call are refused",
    reply: sse([
      D({ tool_calls: [fragment(undefined, "c1", "read", ""), fragment(undefined, "c2", "read", "")] }),
      D({
        tool_calls: [fragment(undefined, undefined, undefined, "{"), fragment(undefined, undefined, undefined, "{")],
      }),
      F("tool_calls"),
      END,
    ]),
    code: "MODEL_PROTOCOL",
    message: "`test` sent what cannot be read: a chunk has several parts of tool calls with neither index, id nor name",
    retry: "never",
  },
  {
    title: "an event above 16 MiB is refused",
    reply: sse([
      "data: ",
      ..."x"
        .repeat(17)
        .split("")
        .map((char) => char.repeat(1024 * 1024)),
    ]),
    code: "MODEL_PROTOCOL",
    message: "`test` sent what cannot be read: an event of the stream is larger than 16 MiB",
    retry: "never",
  },
  {
    title: "JSON of another API is not an answer",
    reply: json(200, { hello: 1 }),
    code: "MODEL_PROTOCOL",
    message: "`test` answered JSON without `choices`, not an OpenAI-style API",
    retry: "never",
  },
];

test.each(BROKEN)("$title", async ({ reply, code, message, retry }) => {
  await using server = await ChatServer.start(reply);
  const failure = essence(await fail(clientOf(server)));
  expect(failure).toEqual({ code, message: message.replace("URL", server.url), retry });
});

test("O-LLM-12 a failed attempt tells how much of it is void and what it cost", async () => {
  await using server = await ChatServer.start(sse([D({ content: "Hel" }), D(tc(0, "c1", "bash", '{"c')), usageFrame]));
  const { partial } = await fail(clientOf(server));
  expect(partial).toEqual({
    chars: 6,
    usage: { input: 3, output: 1, reasoning: 0, cache_read: 0, cache_write: 0 },
  });
});

test("usage, cost, id and model of an answer are kept, each class once", async () => {
  const usage = {
    prompt_tokens: 100,
    completion_tokens: 20,
    prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 10 },
    completion_tokens_details: { reasoning_tokens: 5 },
    cost: "0.25",
  };
  const first = frame({ id: "gen-1", model: "m-2026", choices: [{ index: 0, delta: { content: "x" } }] });
  await using server = await ChatServer.start(
    sse([first, frame({ choices: [{ delta: {}, finish_reason: "stop", usage }] }), frame({ choices: [], usage }), END]),
  );
  const { message, deltas } = await hear(clientOf(server));
  expect({ message, deltas }).toEqual({
    message: {
      content: [text("x")],
      stopReason: "stop",
      usage: { input: 30, output: 20, reasoning: 5, cache_read: 60, cache_write: 10 },
      reportedUsd: 0.25,
      responseId: "gen-1",
      model: "m-2026",
    },
    deltas: [{ type: "text", text: "x" }],
  });
});
