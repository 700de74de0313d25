import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { expect, it } from "vitest";
import { systemPrompt } from "../../src/agent/prompt.ts";
import { toolOffers } from "../../src/tools/catalogue.ts";

/** Tokens of o200k that a request may cost before the task is said. */
const MAX_TOKENS = 1100;

const NAMES = Array.from({ length: 12 }, (_, index) => `registry-${index}.packages.example.com`);

it.each([
  ["no network", { allowed: [], asked: [], forwards: [] }],
  ["more hosts than are named", { allowed: NAMES, asked: ["github.example"], forwards: ["127.0.0.1:5433"] }],
])("the system prompt and seven tools cost at most 1,100 tokens: %s", (_, network) => {
  const system = systemPrompt({
    root: "/home/somebody/projects/webshop",
    home: "/home/glovebox",
    image: "glovebox/base:0123456789ab",
    readonly: [".git", ".glovebox"],
    writable: ["."],
    network,
    date: "2026-01-31",
  });
  // As they stand in a Chat Completions request.
  const tools = toolOffers().map((offer) => ({ type: "function", function: offer }));
  expect(tools).toHaveLength(7);
  expect(countTokens(system) + countTokens(JSON.stringify(tools))).toBeLessThanOrEqual(MAX_TOKENS);
});
