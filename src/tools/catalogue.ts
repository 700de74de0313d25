import * as z from "zod";
import type { JsonObject } from "../core/json.ts";
import { bash } from "./bash.ts";
import type { ToolContract } from "./contract.ts";
import { edit } from "./edit.ts";
import { find } from "./find.ts";
import { grep } from "./grep.ts";
import { ls } from "./ls.ts";
import { pty } from "./pty.ts";
import { read } from "./read.ts";
import { write } from "./write.ts";

/** All tools there are. The tool host must have a handler for each, or it does not compile. */
const TOOLS = { bash, edit, find, grep, ls, pty, read, write } as const;

export type ToolName = keyof typeof TOOLS;
/** The validated arguments of one tool. */
export type ToolArgs<Name extends ToolName> = z.infer<(typeof TOOLS)[Name]["parameters"]>;

/** What a session has only when a person switched it on. */
export const OPTIONAL_TOOLS = ["pty"] as const satisfies readonly ToolName[];
export type OptionalTool = (typeof OPTIONAL_TOOLS)[number];

export const TOOL_NAMES = Object.keys(TOOLS) as ToolName[];

export function isToolName(name: string): name is ToolName {
  return Object.hasOwn(TOOLS, name);
}

export function isOptionalTool(name: string): name is OptionalTool {
  return OPTIONAL_TOOLS.some((tool) => tool === name);
}

/** The tools of a session, by name: the seven every session has, and what was switched on. */
export function toolsWith(switchedOn: readonly OptionalTool[]): ToolName[] {
  return TOOL_NAMES.filter((name) => !isOptionalTool(name) || switchedOn.includes(name)).toSorted();
}

/** The contract of a tool with its types widened, for code that treats all tools alike. */
export function contractOf(name: ToolName): ToolContract {
  return TOOLS[name] as unknown as ToolContract;
}

/** How a tool is offered to a model: `parameters` is JSON Schema. */
export type ToolOffer = { name: string; description: string; parameters: JsonObject };

/** The tools of a session, sorted by name so that the bytes of a request's beginning never change. */
export function toolOffers(switchedOn: readonly OptionalTool[] = []): ToolOffer[] {
  return toolsWith(switchedOn).map((name) => {
    const schema = z.toJSONSchema(TOOLS[name].parameters, { io: "input", override: withoutSafeMaximum });
    const { $schema: _, ...parameters } = schema as JsonObject;
    return { name, description: TOOLS[name].description, parameters };
  });
}

/** What every whole number of JSON is limited to anyhow, at eight tokens each. */
function withoutSafeMaximum({ jsonSchema }: { jsonSchema: z.core.JSONSchema.BaseSchema }): void {
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}
