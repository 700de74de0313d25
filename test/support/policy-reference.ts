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
| flag | \`--image\`, \`--max-turns\`, \`--max-seconds\`, \`--allow-host\` | replace the user's, for one run; hosts are added to theirs |
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

A key that is absent is no opinion. \`[]\` and, of a list, \`null\` are one: nothing. Everything that cannot be
meant is an error with the line, exit code 2, and nothing is started: an unknown key, a wrong type, a key twice, an alias, a
merge key, a second document, an empty file, a named file that is missing, a key that is **not enforced yet**.

`;

const NOTES = `Sizes are \`512MB\`, \`1.5GB\`: powers of 1024, with B, KB, MB, GB or TB. Times are in the unit of the key. Paths are
relative to the workspace, and one that is or lies behind a symbolic link is refused. \`readonly\` and \`hidden\` also take
patterns: \`*\` and \`?\` within one name, \`**\` for any folders; there is no negation, and no link is followed. Every
folder above a protected path is pinned, so that it cannot be moved away. \`writable\` takes existing files and folders,
and should name folders: a program that replaces a file by renaming another cannot replace a single writable one.

\`output\` is what the model is shown at once of a command or a background job: 50KB where nobody says more, up to 1MB, with
2,000 lines for each 50KB and never fewer. What was cut is told, and where all of it can be read. \`read\`, \`grep\`, \`find\`
and \`ls\` keep to 50KB, whatever \`output\` says: they go on where they stopped, and their arguments ask for less.

A hidden file is there and empty, and so is a hidden folder. Hiding covers the file, not its history: what git has of it
can be read unless \`git: hidden\`.

Read-only by default at the top of a workspace: ${PROTECTED.map((path) => `\`${path}\``).join(", ")}.
\`unprotect\` opens entries of this list, but not \`.git\` and \`.glovebox\`.

## Hosts

\`\`\`yaml
network:
  allow:
    - packages.example.com                                  # TLS on port 443
    - { host: "*.files.example.com", ports: [80, 443] }     # every name below, plain HTTP as well
    - { host: db.example.com, ports: [5432], protocol: tcp, private: true }
    - { host: api.example.com, inspect: true, methods: [GET, HEAD], paths: ["/public/**"] }
    - { registry: npm }                                     # what npm on this machine is configured for
  ask:  [git.example.com]                                   # a person may admit it while it runs
  deny: ["*.tracker.example"]                               # on every port
  forward: [{ listen: 5433, to: "127.0.0.1:5432" }]         # a service of this machine, at 127.0.0.1:5433 inside
  upload_limit: 50MB                                        # to each host, in a session
\`\`\`

**Names.** Exact, or \`*.name\` for any depth below it and not the name itself. One form is compared everywhere: lower
case, A-labels, no dot at the end. Addresses in any spelling, URLs, \`*\`, wildcards inside a name or of a public suffix
such as \`*.com\`, and \`localhost\`, which is the container itself inside, are refused; a wildcard below which everybody
can have a site is warned of.

**Ports.** 443 where \`ports\` says nothing. Plain HTTP needs \`ports: [80]\`. In \`deny\` no ports are all ports.

**Protocol.** The first bytes of a connection must be what the rule says. \`auto\`, the default: TLS for that very name, or
HTTP/1 requests for it; on a rule that names port 22 also SSH. \`ssh\` is SSH on any port. \`tcp\` lets any bytes pass
unseen, as for a database or another protocol in which the server speaks first.

**Private addresses.** A name that resolves to a private, loopback, link-local or otherwise special address is refused
unless its rule has \`private: true\`. \`private\` and \`forward\` are for users and organisations: a project does not get
them, also when it is trusted.

**Forwards.** \`to\` is any service this machine reaches, by name or by address, private ones included: it goes wherever you
say, and its bytes pass unseen. A project that lists forwards narrows the list to those of them you have; \`forward: []\`
leaves none.

**Requests.** \`methods\` (in capitals) and \`paths\` limit single requests: \`*\` stands for something within a segment,
\`**\` for any number of segments, and a query is not compared. A path has no \`//\`, \`.\`, \`..\`, \`?\`, \`#\`, \`%\`, \`;\` or
\`\\\`, which servers read in more than one way. In TLS requests can be seen only with \`inspect: true\`: the connection is
opened by a certificate of this session that programs inside are told to trust; one that pins another does not work. So
limits on port 443 without it are an error, and TLS to such a rule on any other port is refused. Without \`inspect\` what
passes inside TLS is not seen: whoever shares the server of an allowed name may be reached, and data can be sent to it, up
to \`upload_limit\`. Of several rules that admit a connection the loosest counts, and a limit that another rule lifts is
warned of.

**Package managers.** \`{ registry: npm }\`, also \`pip\`, \`cargo\`, \`go\` and \`apt\`, stands for the hosts that package manager
is configured for on this machine, mirrors and scopes included. It is asked itself, before anything starts: in \`/\`, with
PATH and HOME alone, never a program that lies in the workspace, ten seconds at most, and only where you, your
organisation or a project you trust names it. It is not asked where the workspace reaches its program, a folder it takes
code from or its configuration, by links as well: an agent could change what it says. Host and port alone of the answer
are used, and named at the start; plain HTTP becomes port 80. In a user's or an organisation's policy these hosts may have
private addresses, as mirrors do. cargo tells its index by trying, through a proxy that lets nothing out; where that keeps
its packages is known once cargo has fetched one on this machine. A rule of \`allow\` that finds no host has no effect and is
named at the start; one of \`deny\` or \`ask\` that does not find all its hosts is an error.

**Judgement.** Each layer says deny, else ask, else allow, and the strictest word of all layers holds; where nobody says
anything it is no. \`approval.net\` judges each connection too: with \`ask\` a person is asked also for a host that is
allowed, with \`deny\` nothing goes out. It is built in as \`allow\`, since the lists of hosts say enough. A denied host is
denied whole: rules of \`deny\` have \`host\` and \`ports\` only, and nothing lifts one, neither an allow of another layer nor
\`--allow-host\`.

**For one run.** \`--allow-host HOST[:PORT]\`, as often as needed, adds to the hosts a person allows, without a question
where their own file asks. It is never \`private\` or \`tcp\`. What the organisation, a \`deny\`, or a project does not grant is
dropped and shown: a project with \`network.allow: []\` stays without a host.

**Uploads.** \`upload_limit\` counts the bytes sent to one host over all connections of a session; the one that goes beyond
it ends. Nobody sets one unless a policy does, and the smallest of all layers holds.

\`policy explain host HOST[:PORT]\` says what is decided, how a connection is treated and what would admit it,
\`policy explain host 'GET HOST/PATH'\` what of one request, \`http://\` in front for port 80.

## Commands and rules

Rules of \`commands\` are compared with every command that a shell text may run; [approvals.md](approvals.md) says how.

Every rule has an id, \`user/workspace.readonly[0]\`, which denials, the log and \`policy explain\` name. \`policy show\`
prints the policy in force with the rule behind each value, \`policy check FILE\` looks at a file,
\`policy explain path|host|command|tool|effect VALUE\` says what is decided of one thing.
`;
