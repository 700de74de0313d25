import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { takeSecrets } from "../../../src/core/secrets.ts";
import { chooseModel } from "../../../src/model/choose.ts";
import { hear } from "../../support/chat-client.ts";
import { ChatServer, says } from "../../support/chat-server.ts";

async function choose(environment: Record<string, string>, model?: string, cwd = "/") {
  const env = { ...environment };
  const secrets = takeSecrets(env);
  return chooseModel({ model, env, secrets, cwd });
}

const CHOSEN: [string, Record<string, string>, string | undefined, [string, string]][] = [
  ["OpenAI's key and model", { OPENAI_API_KEY: "k1", OPENAI_MODEL: "gpt" }, undefined, ["openai", "gpt"]],
  ["the flag above the variable", { OPENAI_API_KEY: "k1", OPENAI_MODEL: "gpt" }, "other", ["openai", "other"]],
  ["OpenRouter's key", { OPENROUTER_API_KEY: "k2" }, "a/b", ["openrouter", "a/b"]],
  ["Gemini's key", { GEMINI_API_KEY: "k3" }, "gemini-x", ["gemini", "gemini-x"]],
  ["the named one of several keys", { OPENAI_API_KEY: "k1", GEMINI_API_KEY: "k3" }, "gemini:g", ["gemini", "g"]],
  ["a local server without key", { OPENAI_BASE_URL: "http://127.0.0.1:1/v1" }, "qwen3:8b", ["openai", "qwen3:8b"]],
];

test.each(CHOSEN)("%s make a model", async (_, env, model, chosen) => {
  const client = await choose(env, model);
  expect([client.provider, client.id]).toEqual(chosen);
});

const REFUSED: [string, Record<string, string>, string | undefined, string, string][] = [
  ["no key at all", {}, "gpt", "CREDENTIALS_MISSING", "No model can be reached: no API key is set"],
  ["an empty key", { OPENAI_API_KEY: " " }, "gpt", "CREDENTIALS_MISSING", "No model can be reached: no API key is set"],
  [
    "Anthropic's key alone",
    { ANTHROPIC_API_KEY: "k" },
    "claude",
    "CREDENTIALS_MISSING",
    "`ANTHROPIC_API_KEY` is set, but the Messages API of Anthropic is not supported yet",
  ],
  [
    "a provider named without its key",
    { OPENAI_API_KEY: "k" },
    "openrouter:x",
    "CREDENTIALS_MISSING",
    "The model of `openrouter` needs a key: `OPENROUTER_API_KEY` is not set",
  ],
  ["no model", { OPENAI_API_KEY: "k" }, undefined, "USAGE", "No model of `openai` is named"],
  [
    "a base URL that is none",
    { OPENAI_BASE_URL: "localhost:80" },
    "m",
    "CONFIG_INVALID",
    "`OPENAI_BASE_URL` is not a web address",
  ],
  [
    "a base URL with a password",
    { OPENAI_BASE_URL: "http://me:secret@host/v1" },
    "m",
    "CONFIG_INVALID",
    "`OPENAI_BASE_URL` holds a user name or a password, which is not supported",
  ],
  [
    "a key no header can hold",
    { OPENAI_API_KEY: "sk-CANARY\nx" },
    "m",
    "CREDENTIALS_REJECTED",
    "The value of `OPENAI_API_KEY` is not a key: it has a space, a line end or another character no key has",
  ],
  ["a script without a file", {}, "scripted:", "USAGE", "`--model scripted:` names no file"],
  ["a script that is missing", {}, "scripted:no.yaml", "SCRIPT_INVALID", "Script `no.yaml`: there is no such file"],
];

test.each(REFUSED)("%s is told", async (_, env, model, code, message) => {
  await expect(choose(env, model)).rejects.toMatchObject({ code, message });
});

test("a script is found relative to the given directory", async () => {
  const folder = await mkdtemp(join(tmpdir(), "glovebox-choose-"));
  await writeFile(join(folder, "demo.yaml"), "- text: hi");
  const client = await choose({}, "scripted:demo.yaml", folder);
  const { message } = await hear(client);
  await rm(folder, { recursive: true });
  expect([client.api, client.id, message.content]).toEqual(["scripted", "demo.yaml", [{ type: "text", text: "hi" }]]);
});

test("the base URL of the environment is asked, with its key", async () => {
  await using server = await ChatServer.start(says("hi"));
  const client = await choose({ OPENAI_BASE_URL: `${server.url}/`, OPENAI_API_KEY: " sk-0123456789 \n" }, "m");
  await hear(client);
  const [request] = server.requests;
  expect([request?.path, request?.headers.authorization]).toEqual(["/v1/chat/completions", "Bearer sk-0123456789"]);
});
