import type * as z from "zod";
import { isJsonObject } from "../core/json.ts";
import { nearest } from "../core/nearest.ts";
import { clip, headChars } from "../core/truncate.ts";
import { visible, visibleLine } from "../core/visible.ts";
import { contractOf, isOptionalTool, type ToolName } from "./catalogue.ts";
import { ourNameFor, ourToolFor } from "./other-names.ts";

const MAX_NAME_CHARS = 100;
const MAX_ISSUES = 10;

export type ParsedArguments = { ok: true; args: Record<string, unknown> } | { ok: false; problem: string };

/** The words for a call to a tool that the session, which has `available`, does not have. */
export function unknownTool(name: string, available: readonly string[]): string {
  const short = headChars(name, MAX_NAME_CHARS);
  const closest = ourToolFor(short, available) ?? nearest(short, available);
  const list = `Available: ${available.toSorted().join(", ")}.`;
  if (isOptionalTool(name)) {
    return `Not run: \`${name}\` is not switched on in this session; a person switches it on with \`--tool ${name}\`. ${list}`;
  }
  const hint = closest ? ` Closest: ${closest}.` : "";
  return `Not run: no tool named \`${shownName(name)}\`. ${list}${hint}`;
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
    const reason = visible(clip(error instanceof Error ? error.message : "not JSON", 200));
    return { ok: false, problem: `Not run: the arguments are not valid JSON (${reason}). Received: ${received(raw)}` };
  }
  if (!isJsonObject(value)) {
    return { ok: false, problem: `Not run: the arguments must be a JSON object. Received: ${received(raw)}` };
  }
  return validate(name, value, raw);
}

/** As {@link parseArguments}, for arguments that are already an object. The input is not changed. */
export function validateArguments(name: ToolName, value: Record<string, unknown>): ParsedArguments {
  return validate(name, value, undefined);
}

function validate(name: ToolName, value: Record<string, unknown>, raw: string | undefined): ParsedArguments {
  const contract = contractOf(name);
  const prepared = contract.prepare?.(value) ?? value;
  const parsed = contract.parameters.safeParse(coerceObject(contract.parameters, prepared));
  if (parsed.success) return { ok: true, args: parsed.data };
  const issues = withoutExplained(parsed.error.issues, contract.parameters);
  // What was gathered into a list for the model is not where it wrote it.
  const isMoved = ({ path }: z.core.$ZodIssue): boolean => path.length > 1 && path[0] === "edits" && !value["edits"];
  const lines = issues
    .slice(0, MAX_ISSUES)
    .map((issue) => describeIssue(issue, contract.parameters, isMoved(issue) ? issue.path.slice(2) : issue.path));
  const more = issues.length > MAX_ISSUES ? [`(${issues.length - MAX_ISSUES} more problems)`] : [];
  const problem = ["Not run: invalid arguments.", ...lines, ...more, `Received: ${received(raw ?? stringify(value))}`];
  return { ok: false, problem: problem.join("\n") };
}

function received(raw: string): string {
  return visible(clip(raw, 1000));
}

function stringify(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch {
    // Nested too deeply for the stack; JSON.parse has no such limit.
    return "(too deeply nested to show)";
  }
}

/** A parameter that is missing because it came by another name is told once, by that name. */
function withoutExplained(issues: readonly z.core.$ZodIssue[], schema: z.ZodObject): z.core.$ZodIssue[] {
  const meant = new Set(
    issues.flatMap((issue) => {
      if (issue.code !== "unrecognized_keys") return [];
      const allowed = namesAt(schema, issue.path);
      return issue.keys.slice(0, MAX_ISSUES).map((key) => [...issue.path, ourNameFor(key, allowed)].join("."));
    }),
  );
  return issues.filter(({ path, message }) => !message.endsWith("received undefined") || !meant.has(path.join(".")));
}

function describeIssue(issue: z.core.$ZodIssue, schema: z.ZodObject, shownAt: readonly PropertyKey[]): string {
  const path = visibleLine(clip(shownAt.join("."), MAX_NAME_CHARS)) || "arguments";
  if (issue.code !== "unrecognized_keys") return `${path}: ${clip(issue.message, 300)}`;
  const allowed = namesAt(schema, issue.path);
  const names = issue.keys.slice(0, MAX_ISSUES).map((key) => {
    const closest = ourNameFor(key, allowed) ?? nearest(headChars(key, MAX_NAME_CHARS), allowed);
    return closest ? `\`${shownName(key)}\` (did you mean \`${closest}\`?)` : `\`${shownName(key)}\``;
  });
  const more = issue.keys.length > MAX_ISSUES ? ` and ${issue.keys.length - MAX_ISSUES} more` : "";
  return `${path}: unknown parameter ${names.join(", ")}${more}; allowed: ${allowed.join(", ")}`;
}

function shownName(name: string): string {
  return visibleLine(clip(name, MAX_NAME_CHARS));
}

/** The parameters allowed where a path of an issue leads: those of an edit are not those of the call. */
function namesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at = unwrap(schema);
  for (const step of path) at = unwrap(memberOf(at, step) ?? at);
  return at.def.type === "object" ? Object.keys((at as z.ZodObject).shape) : [];
}

function memberOf(schema: z.ZodType, key: PropertyKey): z.ZodType | undefined {
  if (schema.def.type === "array") return (schema as z.ZodArray).element as z.ZodType;
  if (schema.def.type !== "object") return undefined;
  const { shape } = schema as z.ZodObject;
  // `constructor` and the like are in every object, but in no schema.
  return Object.hasOwn(shape, key) ? (shape[key as string] as z.ZodType) : undefined;
}

function unwrap(schema: z.ZodType): z.ZodType {
  return schema.def.type === "optional" ? unwrap((schema as z.ZodOptional).unwrap() as z.ZodType) : schema;
}

function coerceObject(schema: z.ZodType, value: Record<string, unknown>): Record<string, unknown> {
  const entries = Object.entries(value).flatMap(([key, item]): [string, unknown][] => {
    const wanted = memberOf(schema, key);
    if (wanted === undefined) return [[key, item]];
    if (item === null && wanted.def.type === "optional") return [];
    return [[key, coerce(unwrap(wanted), item)]];
  });
  // Defines each key; an assignment to `__proto__` would hide an unknown parameter.
  return Object.fromEntries(entries);
}

function coerce(schema: z.ZodType, value: unknown): unknown {
  switch (schema.def.type) {
    case "number":
      return typeof value === "string" ? coerceNumber(value) : value;
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
    case "array":
      return coerceList((schema as z.ZodArray).element as z.ZodType, parseJsonText(value));
    case "object": {
      const parsed = parseJsonText(value);
      return isJsonObject(parsed) ? coerceObject(schema, parsed) : parsed;
    }
    default:
      return value;
  }
}

/** Only a number that is written back as it came: `1e999` or forty digits would silently become another. */
function coerceNumber(text: string): number | string {
  if (!/^-?\d{1,15}(\.\d{1,15})?$/.test(text.trim())) return text;
  return Number(text);
}

function coerceList(element: z.ZodType, value: unknown): unknown {
  if (typeof value === "string" && element.def.type !== "string") return value;
  return (Array.isArray(value) ? value : [value]).map((item) => coerce(unwrap(element), item));
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
