import { chmod, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { ToolResult, ToolStatus } from "../../../src/core/tool-result.ts";
import { type Opened, type OpenOptions, openSandbox, Place } from "../engine.ts";
import { call, words } from "../sandbox-contract.ts";
import { anonymous, type ImageName, type Variant } from "./row.ts";

export type SeenResult = { status: ToolStatus; code: number | null; text: unknown; limits: string[] };

const KEPT = "it's\n kept";
const KILL = /end it with bash (\{[^}\]]*\})\]/;

const NOTICES = /^\[(?!exit code)[^\n]*\]\n/gm;

/** One sandbox for many rows, and the probe that must see the same after each of them. */
export class TableShell implements AsyncDisposable {
  readonly root: string;
  readonly #place: Place;
  readonly #opened: Opened;
  #quiet = 0;
  #jobs: string[] = [];

  private constructor(place: Place, opened: Opened) {
    this.#place = place;
    this.root = place.root;
    this.#opened = opened;
  }

  static async open(image: ImageName, ref: string | undefined, options: OpenOptions = {}): Promise<TableShell> {
    const place = await Place.create();
    await mkdir(join(place.root, "kept"));
    await chmod(join(place.root, "kept"), 0o777);
    const opened = await openSandbox(place.root, { ...options, ...(ref !== undefined && { image: ref }) });
    const shell = new TableShell(place, opened);
    const first = words(await shell.call("echo first"));
    expect(first).toBe(image === "base" ? "first\n" : `first\n${NO_BASH}`);
    shell.#quiet = await shell.#processes();
    return shell;
  }

  call(command: string, extra: JsonObject = {}, signal?: AbortSignal): Promise<ToolResult> {
    return call(this.#opened.sandbox, "bash", { command, ...extra }, signal);
  }

  /** Runs a row in the directory and with the variable that the probe looks for. */
  async run(variant: Variant): Promise<SeenResult> {
    await this.#begin();
    const result = await this.call(variant.command, variant.with);
    return this.#seen(result);
  }

  /** Runs a row and cancels it when it has begun; one that has no output yet at once. */
  async cancel({ command, status, with: extra = {} }: Variant): Promise<{ status: ToolStatus; text: string }> {
    await this.#begin();
    const controller = new AbortController();
    const pending = this.#opened.sandbox.call(
      {
        tool: "bash",
        args: { ...extra, ...(status === "timed_out" && { timeout: 30 }), command: `echo begun\n${command}` },
        deadlineMs: 60_000,
      },
      { signal: controller.signal, onOutput: () => controller.abort() },
    );
    if (extra["background"]) controller.abort();
    const result = await pending;
    this.#note(result);
    await this.#endJobs();
    return { status: result.status, text: words(result) };
  }

  expected({ status, code = 0, text, limits = [] }: Variant): SeenResult {
    const byCode = code === 0 ? "ok" : "failed";
    return {
      status: status ?? (code === null ? "ok" : byCode),
      code,
      text: typeof text === "string" ? text : expect.stringMatching(text),
      limits,
    };
  }

  /** What the next call sees, when it is right: nothing of the row, the state, its own exit code, and no process left. */
  async probe({ goesOn, isInTheWay, tidy }: Partial<Variant>): Promise<string> {
    if (!goesOn) expect(this.#jobs).toEqual([]);
    const probed = await this.call('echo "$PWD|$KEPT"; exit 7');
    const told = words(probed);
    const seen = `${isInTheWay ? told.replace(NOTICES, "") : told}|${probed.details.exit_code}`;
    await this.#endJobs();
    await expect.poll(() => this.#processes(), { timeout: 20_000 }).toBe(this.#quiet);
    if (tidy !== undefined) expect(words(await this.call(tidy))).not.toContain("[exit code");
    return seen;
  }

  alive({ leavesIn, said = "" }: Partial<Variant>): string {
    return `${leavesIn ?? join(this.root, "kept")}|${KEPT}\n${said}[exit code 7]|7`;
  }

  async #begin(): Promise<void> {
    const begun = await this.call(`cd '${this.root}/kept'; export KEPT="${KEPT}"`);
    expect([begun.status, words(begun)]).toEqual(["ok", "(no output)"]);
  }

  #seen(result: ToolResult): SeenResult {
    this.#note(result);
    const { status, details } = result;
    return {
      status,
      code: details.exit_code ?? null,
      text: anonymous(words(result)),
      limits: details.limits_reached ?? [],
    };
  }

  /** Remembers how a job of a result is ended, in the words of the result. */
  #note(result: ToolResult): void {
    const kill = KILL.exec(words(result))?.[1];
    if (kill !== undefined) this.#jobs.push(kill);
  }

  async #endJobs(): Promise<void> {
    for (const kill of this.#jobs.splice(0)) {
      const { status } = await call(this.#opened.sandbox, "bash", JSON.parse(kill));
      expect(status).toBe("ok");
    }
  }

  /** Builtins only, and no process of its own. */
  async #processes(): Promise<number> {
    return Number.parseInt(words(await this.call('set -- /proc/[0-9]*; echo "$#"')), 10);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#opened[Symbol.asyncDispose]();
    await this.#place[Symbol.asyncDispose]();
  }
}

const NO_BASH =
  "[this image has no bash: sh runs the commands, and only the directory and exported variables are carried between them]";
