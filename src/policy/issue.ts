import type * as z from "zod";
import { nearest } from "../core/nearest.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import type { Fault, Path, PlacedValue } from "./document.ts";
import { policySchema, SECTIONS } from "./schema.ts";

type Issue = z.core.$ZodIssue;

/** What a value is and what it should be, and where it stands. */
export function describeIssue(issue: Issue | undefined, placed: PlacedValue): Fault {
  if (!issue) return { line: undefined, problem: "it is no policy" };
  if (issue.code === "invalid_union") return describeIssue(branchOf(issue, placed), placed);
  const where = issue.path.length === 0 ? "the file" : `\`${pathText(issue.path)}\``;
  const line = placed.lineOf(issue.path);
  if (issue.code === "unrecognized_keys") {
    const key = issue.keys[0] ?? "";
    return {
      line: placed.lineOfKey(issue.path, key),
      problem: unknownKey(key, issue.path, valueAt(placed.value, issue.path)),
    };
  }
  const value = valueAt(placed.value, issue.path);
  if (value === undefined) return { line, problem: `${where} is missing; ${expected(issue)}` };
  if (issue.code === "invalid_key") return { line, problem: `${where} ${expected(issue)}` };
  if (issue.code === "custom") return { line, problem: `${where} is ${shown(value)}, which ${issue.message}` };
  return { line, problem: `${where} is ${shown(value)}${remedyFor(issue, value) ?? `; ${expected(issue)}`}` };
}

/** Of the shapes a value may have, the problem with the one it was meant to have. */
function branchOf(issue: Extract<Issue, { code: "invalid_union" }>, placed: PlacedValue): Issue | undefined {
  const value = valueAt(placed.value, issue.path);
  const isMap = typeof value === "object" && value !== null;
  const meant = issue.errors.filter(([first]) => first?.code !== "invalid_type" || first.path.length > 0);
  const registry = isMap && "registry" in value ? meant.at(-1) : meant[0];
  const [inner] = registry ?? issue.errors[0] ?? [];
  return inner && ({ ...inner, path: [...issue.path, ...inner.path] } as Issue);
}

function expected(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return `expected ${TYPE_WORDS[issue.expected] ?? issue.expected}`;
    case "invalid_value":
      return `expected ${issue.values.map((value) => `\`${String(value)}\``).join(" or ")}`;
    case "too_small":
      return `expected ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    case "too_big":
      return `expected at most ${issue.maximum}`;
    case "invalid_key":
      return issue.issues[0]?.message ?? "expected another name";
    default:
      return issue.message;
  }
}

/** What to write in place of a value that is nearly right; undefined where the type alone says it. */
function remedyFor({ code, path }: Issue, value: unknown): string | undefined {
  if (code !== "invalid_type") return undefined;
  if (isSize(path)) {
    if (value === null) return "; expected a size, such as `50MB`, or no such key at all";
    const fitting = typeof value === "number" && value > 0 ? `${value}MB` : "50MB";
    return `; expected a size with its unit, such as \`${fitting}\``;
  }
  const isNumberKey = path.at(-2) === "ports" || path.at(-1) === "listen" || path[0] === "limits";
  if (typeof value !== "string" || !isNumberKey || !/^\d{1,9}$/.test(value)) return undefined;
  return `, a text; write ${value} without quotes`;
}

function isSize([section, key]: Path): boolean {
  const sizes: Record<string, readonly string[]> = { network: ["upload_limit"], limits: ["memory", "tmp", "output"] };
  return sizes[String(section)]?.includes(String(key)) ?? false;
}

const TYPE_WORDS: Record<string, string> = {
  object: "a map of keys",
  record: "a map of keys",
  array: "a list",
  string: "a text; quote it if it is one",
  number: "a number",
  boolean: "`true` or `false`",
  int: "a whole number",
};

function unknownKey(key: string, path: Path, value: unknown): string {
  if (path[0] === "network" && typeof value === "object" && value !== null && "registry" in value) {
    return `\`${visibleLine(clip(key, 60))}\` stands beside \`registry\` in \`${pathText(path)}\`, and such a rule has no other key`;
  }
  const allowed = keysAt(path);
  const close = nearest(key, allowed) ?? (path.length === 0 ? elsewhere(key) : undefined);
  const inside = path.length === 0 ? "of a policy" : `of \`${pathText(path)}\``;
  if (path[0] === "network" && path[1] === "deny" && HOST_KEYS.includes(key)) {
    return `\`${key}\` is no key ${inside}: a denied host is denied whole; expected \`host\`, \`ports\``;
  }
  const hint = close ? `; did you mean \`${close}\`?` : `; expected ${allowed.map((name) => `\`${name}\``).join(", ")}`;
  return `\`${visibleLine(clip(key, 60))}\` is no key ${inside}${hint}`;
}

/** A key of a section that stands beside the sections. */
function elsewhere(key: string): string | undefined {
  const known = Object.entries(SECTIONS).flatMap(([section, keys]) =>
    Object.keys(keys).map((name) => ({ section, name })),
  );
  const close = nearest(
    key,
    known.map(({ name }) => name),
  );
  const found = known.find(({ name }) => name === close);
  return found && `${found.section}.${found.name}`;
}

const HOST_KEYS = ["host", "ports", "protocol", "private", "inspect", "methods", "paths"];

/** The keys that mean something in the map at `path`. */
function keysAt([section, leaf]: Path): string[] {
  if (section === undefined) return Object.keys(policySchema.shape);
  if (section === "network" && leaf === "forward") return ["listen", "to"];
  if (section === "network" && leaf === "deny") return ["host", "ports", "registry"];
  if (section === "network" && leaf !== undefined) return [...HOST_KEYS, "registry"];
  if (section === "commands") return ["match", "decision"];
  return Object.keys(SECTIONS[String(section)] ?? {});
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, key) =>
      typeof inner === "object" && inner !== null ? (inner as Record<PropertyKey, unknown>)[key] : undefined,
    value,
  );
}

function pathText(path: Path): string {
  return visibleLine(
    clip(
      path.reduce<string>(
        (text, key) =>
          typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`,
        "",
      ),
      200,
    ),
  );
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a map";
  return `\`${visibleLine(clip(String(value), 60))}\``;
}
