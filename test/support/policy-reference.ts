import * as z from "zod";
import { CHOICES } from "../../src/policy/layer.ts";
import { PROTECTED } from "../../src/policy/protected.ts";
import { policySchema } from "../../src/policy/schema.ts";
import { UNENFORCED_KEYS } from "../../src/policy/unenforced.ts";

/** The part of JSON Schema that a policy's schema has. */
type Node = {
  type?: string;
  const?: unknown;
  description?: string;
  enum?: unknown[];
  anyOf?: Node[];
  items?: Node;
  properties?: Record<string, Node>;
};

/** What editors complete and check policy files with. */
export function policyJsonSchema(): string {
  const schema = z.toJSONSchema(policySchema, { io: "input" });
  return `${JSON.stringify({ ...schema, title: "A glovebox policy" }, null, 2)}\n`;
}

/** `docs/policy.md`. */
export function policyReference(): string {
  const root = z.toJSONSchema(policySchema, { io: "input" }) as Node;
  const rows = Object.entries(root.properties ?? {}).flatMap(([name, node]) => rowsOf(name, node));
  return `${INTRODUCTION}\n${["| key | value | meaning |", "|---|---|---|", ...rows].join("\n")}\n\n${NOTES}`;
}

function rowsOf(key: string, node: Node): string[] {
  const properties = node.properties ?? node.anyOf?.find((option) => option.properties)?.properties;
  if (properties && node.description === undefined) {
    return Object.entries(properties).flatMap(([name, inner]) => rowsOf(`${key}.${name}`, inner));
  }
  return [`| \`${key}\` | ${valueWords(key, node)} | ${node.description ?? ""}${notYet(key)} |`];
}

function valueWords(key: string, node: Node): string {
  const words = Object.hasOwn(CHOICES, key) ? CHOICES[key as keyof typeof CHOICES] : undefined;
  if (words && node.type !== "boolean") return words.map((word) => `\`${word}\``).join(", ");
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  const list = node.type === "array" ? node : node.anyOf?.find(({ type }) => type === "array");
  if (list) return ITEMS[key] ?? "list of texts";
  if (SIZES.has(key)) return "size";
  return (
    { integer: "whole number", number: "number", boolean: "`true`, `false`", string: "text" }[node.type ?? ""] ?? "map"
  );
}

const SIZES = new Set(["network.upload_limit", "limits.memory", "limits.tmp", "limits.output"]);
const ITEMS: Record<string, string> = {
  "workspace.writable": "list of paths",
  "workspace.readonly": "list of paths",
  "workspace.unprotect": "list of paths",
  "workspace.hidden": "list of paths",
  "network.allow": "list of hosts",
  "network.ask": "list of hosts",
  "network.deny": "list of hosts",
  "network.forward": "list of `{ listen, to }`",
  commands: "list of `{ match, decision }`",
};

function notYet(key: string): string {
  const missing = UNENFORCED_KEYS.filter((name) => name === key || name.startsWith(`${key}: `));
  if (missing.length === 0) return "";
  const values = missing.flatMap((name) => name.slice(key.length + 2) || []);
  return values.length === 0 ? " (**not enforced yet**)" : ` (**not enforced yet**: ${values.join(", ")})`;
}

const INTRODUCTION = `# Policy

<!-- Made by \`node scripts/policy-reference.mjs\` from the schema; a test fails when it is stale. -->

A policy says what a session may do. It is a YAML file with \`version: 1\`; \`policies/\` has some to start from, and
\`glovebox policy init\` writes one. Editors complete and check it with \`policies/schema.json\`.

## Who has a say

| layer | file | may |
|---|---|---|
| organisation | \`/etc/glovebox/policy.yaml\` | set a ceiling that nothing exceeds |
| built-in | | say what holds where nobody else does |
| user | \`~/.glovebox/policy.yaml\`, or what \`--policy FILE\` or \`--policy PRESET\` names in its place | replace the built-in, value by value |
| flag | \`--image\`, \`--max-turns\`, \`--max-seconds\` | replace the user's, for one run |
| project | \`.glovebox/policy.yaml\` in the workspace | tighten, never open |

In force is \`organisation ⊓ (built-in ← user ← trusted project ← flags) ⊓ project\`. \`←\` replaces value by value, but
what protects (\`readonly\`, \`hidden\`, \`deny\`) adds up. \`⊓\` is the tighter of both in every decision: the smaller
number, the stricter word, what both permit, what either protects. What a file asks for beyond that is dropped, shown at
the start with both rules, and an error with \`--strict-policy\`.

\`glovebox policy trust\` shows the project's policy and, on a yes at the terminal, takes its words as yours, for that
folder and exactly those bytes: one changed byte ends it. The organisation's ceiling stays.

Each file is read once, before the container starts; a change during a session means nothing to it. A project's file is
read without following a link.

## What a file says

A key that is absent is no opinion. \`[]\` and \`null\` are one: nothing. Everything that cannot be meant is an error with
the line, exit code 2, and nothing is started: an unknown key, a wrong type, a key twice, an alias, a merge key, a second
document, an empty file, a named file that is missing, a key that is **not enforced yet**.

`;

const NOTES = `Sizes are \`512MB\`, \`1.5GB\`: powers of 1024, with B, KB, MB, GB or TB. Times are in the unit of the key. Paths are
relative to the workspace, and one that is or lies behind a symbolic link is refused. \`readonly\` and \`hidden\` also take
patterns: \`*\` and \`?\` within one name, \`**\` for any folders; there is no negation, and no link is followed. Every
folder above a protected path is pinned, so that it cannot be moved away. \`writable\` takes existing files and folders,
and should name folders: a program that replaces a file by renaming another cannot replace a single writable one.

A hidden file is there and empty, and so is a hidden folder. Hiding covers the file, not its history: what git has of it
can be read unless \`git: hidden\`.

Read-only by default at the top of a workspace: ${PROTECTED.map((path) => `\`${path}\``).join(", ")}.
\`unprotect\` opens entries of this list, but not \`.git\` and \`.glovebox\`.

Hosts are names, exact or \`*.name\` for all below it and not the name itself, on port 443 unless \`ports\` says more.
Addresses, URLs, \`*\`, and wildcards of a public suffix such as \`*.com\` are refused.

Rules of \`commands\` are compared with every command that a shell text may run; [approvals.md](approvals.md) says how.

Every rule has an id, \`user/workspace.readonly[0]\`, which denials, the log and \`policy explain\` name. \`policy show\`
prints the policy in force with the rule behind each value, \`policy check FILE\` looks at a file,
\`policy explain path|host|command|tool|effect VALUE\` says what is decided of one thing.
`;
