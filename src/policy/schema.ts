import * as z from "zod";
import { isGlob } from "../core/path-rules.ts";
import { prefixProblem } from "./command-prefix.ts";
import { hostPattern } from "./host-pattern.ts";
import { normalPath, pathProblem } from "./paths.ts";
import { unprotectProblem } from "./protected.ts";
import { methodProblem, requestPathProblem } from "./request-rules.ts";
import { parseSize, sizeText } from "./size.ts";

// A schema made into code at its first use costs more than it saves where each is used a few times.
z.config({ jitless: true });

/** A text that `problem` has nothing to say against; what it says follows the value: "`x` is a URL; expected …". */
function text(problem: (value: string) => string | undefined) {
  return z.string().superRefine((value, context) => {
    const found = problem(value);
    if (found !== undefined) context.addIssue({ code: "custom", message: found });
  });
}

const GIB = 1024 ** 3;

function size(leastBytes: number, mostBytes = 1024 * GIB) {
  return text((value) => {
    const bytes = parseSize(value);
    if (bytes === undefined) return "is no size; expected a number with B, KB, MB, GB or TB, such as `512MB`";
    if (bytes > mostBytes) return `is more than \`${sizeText(mostBytes)}\``;
    return bytes < leastBytes ? `is less than a sandbox needs, which is \`${sizeText(leastBytes)}\`` : undefined;
  });
}

const list = <Item extends z.ZodType>(item: Item) => z.array(item).max(1000).nullable().optional();
const paths = list(text(pathProblem));
const exactPaths = list(
  text((value) => {
    const problem = pathProblem(value);
    if (problem !== undefined || !isGlob(value)) return problem;
    return "is a pattern; expected existing files or folders, `readonly` and `hidden` take patterns";
  }),
);
const entries = list(text((value) => pathProblem(value) ?? unprotectProblem(normalPath(value))));
const port = z.int().min(1).max(65_535);
const ports = z.array(port).min(1).max(100).optional();
const hostName = (rule: "admits" | "denies") =>
  text((value) => {
    const found = hostPattern(value, rule);
    return "problem" in found ? found.problem : undefined;
  });
const registry = z.strictObject({ registry: z.enum(["npm", "pip", "cargo", "go", "apt"]) });

const admittedHost = z
  .strictObject({
    host: hostName("admits"),
    ports,
    protocol: z.enum(["auto", "tcp", "ssh"]).optional(),
    private: z.boolean().optional(),
    inspect: z.boolean().optional(),
    methods: z.array(text(methodProblem)).min(1).max(50).optional(),
    paths: z.array(text(requestPathProblem)).min(1).max(100).optional(),
  })
  .superRefine((rule, context) => {
    const conflict = hostConflict(rule);
    if (conflict) context.addIssue({ code: "custom", message: conflict.problem, path: [conflict.key] });
  });

/** Keys of a rule that cannot hold together: what they say of requests would be seen by nobody. */
function hostConflict(rule: {
  ports?: number[] | undefined;
  protocol?: string | undefined;
  inspect?: boolean | undefined;
  methods?: string[] | undefined;
  paths?: string[] | undefined;
}): { key: string; problem: string } | undefined {
  const { protocol = "auto", inspect = false } = rule;
  const limit = (["methods", "paths"] as const).find((key) => rule[key] !== undefined);
  const key = inspect ? "inspect" : limit;
  if (protocol !== "auto" && key) {
    return { key, problem: `sees requests, and \`protocol: ${protocol}\` has none; take one of them out` };
  }
  if (limit && !inspect && (rule.ports ?? [443]).includes(443)) {
    const problem = "cannot be seen inside TLS on port 443; add `inspect: true`, or `ports: [80]` for plain HTTP alone";
    return { key: limit, problem };
  }
  return undefined;
}

const admittedHosts = list(z.union([hostName("admits"), admittedHost, registry]));
const deniedHosts = list(z.union([hostName("denies"), z.strictObject({ host: hostName("denies"), ports }), registry]));

const address = text((value) => {
  const number = Number(/^(?:[\w.-]+|\[[\da-f:]+\]):(\d{1,5})$/i.exec(value)?.[1]);
  return number >= 1 && number <= 65_535 ? undefined : "is no service; expected `host:port`, such as `127.0.0.1:5432`";
});

const forwards = list(z.strictObject({ listen: port, to: address })).superRefine((all, context) => {
  for (const [index, { listen }] of (all ?? []).entries()) {
    const isTwice = all?.findIndex((other) => other.listen === listen) !== index;
    const problem = listen === 53 ? "is the container's own name server" : isTwice ? "is there twice" : undefined;
    const message = `${problem}; expected a port of its own`;
    if (problem !== undefined) context.addIssue({ code: "custom", message, path: [index, "listen"] });
  }
});

const variable = text((value) =>
  /^[A-Za-z_]\w{0,255}$/.test(value) ? undefined : "is no name of a variable; expected letters, digits and `_`",
);
const variableValue = text((value) =>
  value.includes("\0") || value.length > 32_768 ? "is no value of a variable; expected at most 32 KiB" : undefined,
);
const toolName = text((value) => (/^[\w.-]{1,128}$/.test(value) ? undefined : "is no name of a tool"));
const imageRef = text((value) =>
  /^[\w][\w.:/@-]{0,511}$/.test(value) ? undefined : "is no reference of an image; expected such as `node:22`",
);
const setting = z.enum(["allow", "ask", "deny"]).optional();
const count = z.int().min(1).max(1_000_000_000).optional();

const workspace = z.strictObject({
  mode: z.enum(["bind", "copy"]).optional().describe("work on the folder itself or on a copy"),
  writable: exactPaths.describe("existing files or folders; everything else is read-only"),
  readonly: paths.describe("paths and patterns that cannot be changed inside; wins over `writable`"),
  unprotect: entries.describe("opens entries of the default protected list; `.git` and `.glovebox` stay"),
  hidden: paths.describe("paths and patterns that are covered: an empty, read-only file or folder inside"),
  git: z.enum(["private", "readonly", "hidden"]).optional().describe("what of `.git` can be seen and changed"),
  hardlinks: z.enum(["protect", "allow"]).optional().describe("files that are linked out of the workspace"),
  cache: z.boolean().optional().describe("keep the caches of package managers for this workspace"),
});

const network = z.strictObject({
  allow: admittedHosts.describe("hosts that can be reached, port 443 unless `ports` says which"),
  ask: admittedHosts.describe("hosts that a person may admit while it runs"),
  deny: deniedHosts.describe("hosts that are never reached, on any port unless `ports` says which"),
  forward: forwards.describe("services of this machine, by a port inside; for users and organisations only"),
  upload_limit: size(1).optional().describe("sent to one host in a session, at most; more ends the connection"),
});

const approval = z.strictObject({
  read: setting.describe("tools that read files"),
  write: setting.describe("tools that change files"),
  exec: setting.describe("commands"),
  net: setting.describe("connections out, each one; the stricter of this and `network`"),
});

const limits = z.strictObject({
  cpus: z.number().min(0.1).max(1024).optional().describe("processors"),
  memory: size(64 * 1024 ** 2)
    .optional()
    .describe("memory, what is in `/tmp` and HOME included"),
  pids: z.int().min(16).max(4_000_000).optional().describe("processes at once"),
  tmp: size(1024 ** 2)
    .optional()
    .describe("size of `/tmp`"),
  output: size(1024, 1024 ** 2)
    .optional()
    .describe("output of a command, or of a job, that the model is shown at once; at most `1MB`"),
  call_seconds: z.number().min(1).max(86_400).optional().describe("the longest a command may run"),
  turns: count.describe("responses of the model in a run"),
  tool_calls: count.describe("tool calls in a run"),
  tokens: count.describe("uncached input and output of a run"),
  usd: z.number().gt(0).max(1_000_000).optional().describe("cost of a run in US dollars"),
  minutes: z.number().gt(0).max(35_000).optional().describe("time of a run, waiting for a person not counted"),
  same_error: count.describe("the same error in a row"),
});

const tools = z.strictObject({ deny: list(toolName).describe("tools that are never run") });

const env = z.strictObject({
  set: z.record(variable, variableValue).nullable().optional().describe("variables of commands"),
  pass: list(variable).describe("variables that commands get from your environment, if they are set"),
});

const sandbox = z.strictObject({
  ptrace: z.boolean().optional().describe("debuggers; for users and organisations only"),
  runtime: z.string().min(1).max(100).optional().describe("container runtime; for users and organisations only"),
});

/** The keys of each section. */
export const SECTIONS: Record<string, Record<string, z.ZodType>> = {
  workspace: workspace.shape,
  network: network.shape,
  tools: tools.shape,
  approval: approval.shape,
  limits: limits.shape,
  env: env.shape,
  sandbox: sandbox.shape,
};

/** The whole of a policy file, as it is written. A key that is absent is no opinion. */
export const policySchema = z.strictObject({
  version: z.literal(1).describe("of this format"),
  image: imageRef.optional().describe("the image to work in; `glovebox/base` is the one this version builds"),
  images: list(imageRef).describe("images a project may choose from"),
  workspace: workspace.optional(),
  network: network.nullable().optional(),
  tools: tools.optional(),
  commands: list(
    z.strictObject({
      match: text(prefixProblem),
      decision: z.enum(["allow", "ask", "deny"]),
    }),
  ).describe("decisions by the first words of a command"),
  approval: approval.optional(),
  limits: limits.optional(),
  env: env.optional(),
  sandbox: sandbox.optional(),
});

export type PolicyFile = z.infer<typeof policySchema>;
