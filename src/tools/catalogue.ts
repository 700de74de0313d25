import * as z from "zod";
import type { JsonObject } from "../core/json.ts";
import { bash } from "./bash.ts";
import type { ToolContract } from "./contract.ts";
import { edit } from "./edit.ts";
import { find } from "./find.ts";
import { grep } from "./grep.ts";
import { ls } from "./ls.ts";
import { read } from "./read.ts";
import { write } from "./write.ts";

/** The seven tools every session has. The tool host must have a handler for each, or it does not compile. */
export const TOOLS = { bash, edit, find, grep, ls, read, write } as const;

export type ToolName = keyof typeof TOOLS;
/** The validated arguments of one tool. */
export type ToolArgs<Name extends ToolName> = z.infer<(typeof TOOLS)[Name]["parameters"]>;

export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}

/** The contract of a tool with its types widened, for code that treats all tools alike. */
export function contractOf(name: ToolName): ToolContract {
  return TOOLS[name] as unknown as ToolContract;
}

/** How a tool is offered to a model: `parameters` is JSON Schema. */
export type ToolOffer = { name: string; description: string; parameters: JsonObject };

/** All tools, sorted by name so that the bytes of a request's beginning never change. */
export function toolOffers(): ToolOffer[] {
  return TOOL_NAMES.toSorted().map((name) => {
    const { $schema: _, ...parameters } = z.toJSONSchema(TOOLS[name].parameters, { io: "input" }) as JsonObject;
    return { name, description: TOOLS[name].description, parameters };
  });
}
