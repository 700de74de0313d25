import type * as z from "zod";
import { isJsonObject } from "../core/json.ts";
import { nearest } from "../core/nearest.ts";
import { clip, wellFormed } from "../core/truncate.ts";
import { contractOf, TOOL_NAMES, type ToolName } from "./catalogue.ts";

export type ParsedArguments = { ok: true; args: Record<string, unknown> } | { ok: false; problem: string };

/** The words for a call to a tool that does not exist. */
export function unknownTool(name: string): string {
  const closest = nearest(name, TOOL_NAMES);
  const hint = closest ? ` Closest: ${closest}.` : "";
  return `Not run: no tool named \`${clip(name, 100)}\`. Available: ${TOOL_NAMES.toSorted().join(", ")}.${hint}`;
}

/**
 * The raw argument string of a call as validated arguments, or the words that tell the model what is wrong. Never
 * repairs cut JSON. Coerces only what loses nothing: `"42"` to 42, `"true"` to true, one value to a list of one, null
 * to absent, a JSON string to the list or object wanted.
 */
export function parseArguments(name: ToolName, raw: string): ParsedArguments {
  let value: unknown;
  try {
    value = raw.trim() === "" ? {} : JSON.parse(raw);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "not JSON";
    return {
      ok: false,
      problem: `Not run: the arguments are not valid JSON (${clip(reason, 200)}). Received: ${clip(raw, 2000)}`,
    };
  }
  if (!isJsonObject(value)) {
    return { ok: false, problem: `Not run: the arguments must be a JSON object. Received: ${clip(raw, 2000)}` };
  }
  return validateArguments(name, value);
}

/** As {@link parseArguments}, for arguments that are already an object. The input is not changed. */
export function validateArguments(name: ToolName, value: Record<string, unknown>): ParsedArguments {
  const contract = contractOf(name);
  const prepared = contract.prepare?.(value) ?? value;
  const coerced = coerceShape(contract.parameters, prepared);
  const parsed = contract.parameters.safeParse(coerced);
  if (parsed.success) return { ok: true, args: parsed.data };
  const allowed = Object.keys(contract.parameters.shape);
  const lines = parsed.error.issues.map((issue) => describeIssue(issue, allowed));
  const received = clip(wellFormed(JSON.stringify(value)), 1000);
  return { ok: false, problem: `Not run: invalid arguments.\n${lines.join("\n")}\nReceived: ${received}` };
}

function describeIssue(issue: z.core.$ZodIssue, allowed: string[]): string {
  const path = issue.path.join(".") || "arguments";
  if (issue.code !== "unrecognized_keys") return `${path}: ${issue.message}`;
  const names = issue.keys.map((key) => {
    const closest = nearest(key, allowed);
    return closest ? `\`${clip(key, 60)}\` (did you mean \`${closest}\`?)` : `\`${clip(key, 60)}\``;
  });
  return `${path}: unknown parameter ${names.join(", ")}; allowed: ${allowed.join(", ")}`;
}

function coerceShape(schema: z.ZodObject, value: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, item] of Object.entries(value)) {
    const wanted = schema.shape[key];
    if (wanted === undefined) {
      result[key] = item;
      continue;
    }
    const optional = (wanted as z.ZodType).def.type === "optional";
    if (optional && item === null) continue;
    result[key] = coerce(unwrap(wanted as z.ZodType), item);
  }
  return result;
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema.def.type === "optional" ? unwrap((schema as z.ZodOptional).unwrap() as z.ZodType) : schema;
}

function coerce(schema: z.ZodType, value: unknown): unknown {
  switch (schema.def.type) {
    case "number":
      return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
    case "array":
      return coerceList(parseJsonText(value));
    case "object":
      return parseJsonText(value);
    default:
      return value;
  }
}

function coerceList(value: unknown): unknown {
  return Array.isArray(value) || typeof value === "string" ? value : [value];
}

function parseJsonText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null ? parsed : value;
  } catch {
    return value;
  }
}
