import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { fromDist } from "./place.mjs";

const LIMIT = 1100;

/** What every request begins with, in tokens of o200k; the tools as Chat Completions has them. */
export async function firstRequest({ image, workspace }) {
  const { systemPrompt } = await fromDist("agent/prompt.js");
  const { toolOffers } = await fromDist("tools/catalogue.js");
  const readonly = [".git", ".glovebox"];
  const system = systemPrompt({
    root: workspace,
    home: "/home/glovebox",
    image,
    readonly,
    writable: ["."],
    date: "2026-01-31",
  });
  const offers = toolOffers().map((offer) => ({ type: "function", function: offer }));
  const [prompt, tools] = [countTokens(system), countTokens(JSON.stringify(offers))];
  return [
    {
      name: `first request, system prompt and ${offers.length} tools`,
      ...{
        value: prompt + tools,
        unit: "tokens",
        ratio: null,
        limit: `≤ ${LIMIT} tokens`,
        holds: prompt + tools <= LIMIT,
      },
      raw: { system_prompt: prompt, tools, tokenizer: "o200k_base" },
    },
  ];
}
