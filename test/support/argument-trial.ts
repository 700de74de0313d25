import { execFileSync } from "node:child_process";
import { mkdir, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isJsonObject, type JsonObject } from "../../src/core/json.ts";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { byteLength, isWellFormed } from "../../src/core/truncate.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";
import { parseArguments } from "../../src/tools/arguments.ts";
import { isToolName } from "../../src/tools/catalogue.ts";
import { OUTPUT_LIMITS } from "../../src/tools/contract.ts";
import { call, words } from "./sandbox-contract.ts";

/** Notices and the like stand behind what the limit is for. */
const SLACK_BYTES = 16 * 1024;
const STATUSES = ["ok", "failed", "invalid", "denied", "timed_out", "cancelled"];

/** A folder with a workspace and, beside it, files that no call may change. */
export class ArgumentTrial {
  readonly #folder: string;
  readonly #sandbox: Sandbox;
  readonly #outside: string;

  private constructor(folder: string, sandbox: Sandbox, outside: string) {
    [this.#folder, this.#sandbox, this.#outside] = [folder, sandbox, outside];
  }

  /** `folder` has the workspace `repo` in it. */
  static async open(folder: string, open: (root: string) => Promise<Sandbox>): Promise<ArgumentTrial> {
    await mkdir(join(folder, "OUT"));
    await writeFile(join(folder, "OUT/kept.txt"), "old\n");
    await refill(join(folder, "repo"));
    return new ArgumentTrial(folder, await open(join(folder, "repo")), await contentOf(folder));
  }

  /** Throws where a call has no single, well-made result, or something outside changes. */
  async check({ tool, raw }: { tool: string; raw: string }): Promise<void> {
    if (!isToolName(tool)) throw new Error(tool);
    const parsed = parseArguments(tool, raw);
    if (!parsed.ok) {
      must(isWellFormed(parsed.problem) && byteLength(parsed.problem) < SLACK_BYTES, "the problem is told", parsed);
      const object = objectOf(raw);
      if (!object) return;
      const refused = await call(this.#sandbox, tool, object);
      must(refused.status === "invalid", "the tool host refuses it too", refused);
      return this.#checkAfter(refused);
    }
    return this.#checkAfter(await call(this.#sandbox, tool, parsed.args as JsonObject));
  }

  async #checkAfter(result: ToolResult): Promise<void> {
    must(STATUSES.includes(result.status), "the status is one of a tool host's", result);
    const text = words(result);
    must(
      text.trim() !== "" || result.content.some(({ type }) => type !== "text"),
      "there is something to read",
      result,
    );
    must(isWellFormed(text), "the text is well formed", text);
    must(byteLength(text) <= OUTPUT_LIMITS.maxBytes + SLACK_BYTES, "the text is within the limits", byteLength(text));
    const next = await call(this.#sandbox, "read", { path: "sentinel.txt" });
    must(next.status === "ok" && words(next).includes("sentinel"), "the next call works", next);
    const outside = await contentOf(this.#folder);
    must(outside === this.#outside, "nothing outside is touched", outside);
    await refill(join(this.#folder, "repo"));
  }

  close(): Promise<void> {
    return this.#sandbox.close();
  }
}

/** The arguments as an object, where the channel could carry them. */
function objectOf(raw: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(raw);
    // The channel leaves this one name out.
    return isJsonObject(value) && !Object.hasOwn(value, "__proto__") ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** All that stands beside the workspace, as one text. */
async function contentOf(folder: string): Promise<string> {
  const beside = (await readdir(folder)).filter((name) => name !== "repo" && name !== "OUT");
  const names = await readdir(join(folder, "OUT"));
  const texts = await Promise.all(names.map((name) => readFile(join(folder, "OUT", name), "utf8")));
  return JSON.stringify([beside, names, texts]);
}

async function refill(root: string): Promise<void> {
  for (const name of (await readdir(root)).filter((name) => !FILES.includes(name)))
    await rm(join(root, name), { recursive: true, force: true });
  await writeFile(join(root, "sentinel.txt"), "sentinel\n");
  await writeFile(join(root, "a.txt"), "old\nx\n");
  await mkdir(join(root, "dir"), { recursive: true });
  await writeFile(join(root, "dir/b.txt"), "a\r\nb\r\n");
  await symlink("../OUT", join(root, "link"));
  await symlink("link", join(root, "chain"));
  execFileSync("mkfifo", [join(root, "fifo")]);
}

const FILES = ["sentinel.txt", "a.txt", "dir"];

function must(holds: boolean, what: string, met: unknown): void {
  if (!holds) throw new Error(`Not so: ${what}. Met: ${JSON.stringify(met).slice(0, 2000)}`);
}
