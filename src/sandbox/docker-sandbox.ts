import { GloveboxError, toGloveboxError } from "../core/errors.ts";
import type { Appeared } from "../core/quarantine.ts";
import { syntheticResult, type ToolResult } from "../core/tool-result.ts";
import type { MountsChanged, Outcome } from "../protocol/messages.ts";
import { Box, type BoxPlan } from "./box.ts";
import { type ContainerEnd, inspectEnd } from "./container.ts";
import { untilAnswers } from "./engine/await.ts";
import type { Engine } from "./engine/engine.ts";
import { isDisconnected } from "./engine/guard.ts";
import { lost } from "./lost.ts";
import { describeEnd, describeLeave, detachedTooOften, linkWords, remountWords } from "./lost-words.ts";
import type {
  CallOptions,
  HostSide,
  ProtectLinks,
  Sandbox,
  SandboxCall,
  SandboxEvent,
  SandboxFacts,
} from "./sandbox.ts";
import { sweep, unguarded } from "./sweep.ts";
import type { ToolHostConnection } from "./tool-host-connection.ts";

/** A command that keeps killing its tool host must not keep a run alive for ever. */
const MAX_RESTARTS = 5;
/** A daemon that is restarted stops its containers first, for ten seconds at most, and then looks for them. */
const ENGINE_BACK_MS = 30_000;

export type DockerSandboxOptions = {
  engine: Engine;
  plan: BoxPlan;
  /**
   * The plan for the mounts as they are now, with these workspace-relative paths read-only too. Called when no container
   * of ours has the workspace mounted. @throws GloveboxError when something stands at a protected path that cannot be.
   */
  replan: (linked: readonly string[]) => Promise<BoxPlan>;
  protectLinks: ProtectLinks;
  /** What is there now that must not be; called when no container of ours has the workspace mounted. */
  appeared: () => Promise<{ found: Appeared[]; problem: string | undefined }>;
  host: HostSide;
  facts: Omit<SandboxFacts, "containerId" | "controls">;
  /** Awaited before the sandbox goes on. */
  emit: (event: SandboxEvent) => Promise<void>;
};

/** Opens a sandbox on a container engine. @throws as {@link Box.start}, nothing left behind. */
export async function openDockerSandbox(options: DockerSandboxOptions): Promise<Sandbox> {
  const box = await Box.start(options.engine, options.plan, options.host);
  try {
    const sandbox = new DockerSandbox(options, box);
    await sandbox.announce();
    if (options.protectLinks === "at_start") await sandbox.protectLinksNow();
    return sandbox;
  } catch (error) {
    await box.remove().catch(() => undefined);
    throw error;
  }
}

class DockerSandbox implements Sandbox {
  readonly #options: DockerSandboxOptions;
  #box: Box;
  #restarts = 0;
  #remounts = 0;
  #replaced = false;
  /** Folders with files that have names outside, which are looked for once. */
  #linked: readonly string[] = [];
  #looking: Promise<void> | undefined;
  /** For the model, with the next result. */
  #notes: string[] = [];
  #closing: Promise<void> | undefined;
  readonly #leaving = new AbortController();
  #failure: GloveboxError | undefined;
  /** One recovery serves every call that was lost with the same connection. */
  #recovery: { of: ToolHostConnection; words: Promise<string> } | undefined;

  constructor(options: DockerSandboxOptions, box: Box) {
    this.#options = options;
    this.#box = box;
    this.#watch();
  }

  get facts(): SandboxFacts {
    const { controls, container } = this.#box;
    return { ...this.#options.facts, containerId: container.docker.id, controls };
  }

  get failure(): GloveboxError | undefined {
    return this.#failure;
  }

  async announce(): Promise<void> {
    const { degraded, notes } = this.#options.facts;
    await this.#emit("started", { degraded, notes });
    await this.#emit("selftest", this.#box.controls);
  }

  async call(call: SandboxCall, options: CallOptions): Promise<ToolResult> {
    await this.#recovery?.words;
    if (!this.#failure && !call.readsOnly && this.#options.protectLinks === "before_writing") {
      this.#looking ??= this.#protectLinks();
      await this.#looking;
    }
    if (this.#failure) return syntheticResult("lost", `Not run: ${this.#failure.message}.`);
    const { connection } = this.#box;
    try {
      const { outcome, refused } = await connection.call(call, options);
      const goesOn = outcome.details.job_id !== undefined;
      const { outlet } = this.#options.host;
      const lines = call.callId === undefined ? [] : await outlet.linesFor(call.callId, refused, goesOn);
      return this.#withNotes(withLines(resultOf(outcome), lines));
    } catch (error) {
      const words = await Promise.race([
        this.#recover(connection, toGloveboxError(error)),
        interruption(options.signal),
      ]);
      if (error === connection.unbegun && this.#closing === undefined && !options.signal.aborted)
        return this.call(call, options);
      return syntheticResult("lost", words);
    }
  }

  /** @throws GloveboxError when that could not be done; the sandbox is closed then. */
  async protectLinksNow(): Promise<void> {
    await this.#protectLinks();
    if (!this.#failure) return;
    await this.close().catch(() => undefined);
    throw this.#failure;
  }

  close(): Promise<void> {
    this.#leaving.abort();
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.#recovery?.words;
    await this.#looking;
    await this.#box.remove();
    const { engine, plan, host, appeared } = this.#options;
    const { found, problem } = await appeared();
    await sweep(engine, { plan: unguarded(plan), keep: host.keep }, found);
    if (problem) {
      const words = `Not all of the workspace could be looked at for what must not be there: ${problem}`;
      throw new GloveboxError("SANDBOX_LOST", words, { hint: "Look there yourself before your own tools do" });
    }
    await this.#emit("ended", null);
  }

  /** Mounts can change while no call waits. */
  #watch(): void {
    const { connection } = this.#box;
    void connection.closed.then((cause) => connection.changed && this.#recover(connection, cause));
  }

  /** Never rejects: what goes wrong is the sandbox's failure. */
  async #protectLinks(): Promise<void> {
    const { connection } = this.#box;
    try {
      const { folders, files, skipped, complete } = await connection.scanLinks();
      if (folders.length === 0 && complete) return;
      this.#linked = folders;
      // One that broke meanwhile is brought back with these folders protected.
      if (!connection.isOpen) return void (await this.#recover(connection, await connection.closed));
      if (folders.length > 0) await this.#startAgain();
      await this.#emit("links_protected", { folders, files, skipped, complete });
      if (folders.length > 0) this.#notes.push(linkWords(folders));
    } catch (error) {
      if (!connection.isOpen && this.#box.connection === connection)
        await this.#recover(connection, toGloveboxError(error));
      if (this.#failure || this.#closing !== undefined) return;
      // What came in the place of one that broke has not been looked through.
      if (this.#box.connection !== connection) return this.#protectLinks();
      this.#fail(lost("Files with names outside the workspace could not be protected", error));
    }
  }

  async #startAgain(): Promise<void> {
    await this.#whenBack(() => this.#box.remove());
    const { engine, replan, host } = this.#options;
    const plan = await replan(this.#linked);
    this.#box = await this.#whenBack(() => Box.start(engine, plan, host));
    this.#watch();
    await this.announce();
  }

  #recover(connection: ToolHostConnection, cause: GloveboxError): Promise<string> {
    if (this.#recovery?.of !== connection)
      this.#recovery = { of: connection, words: this.#recoverOnce(connection, cause) };
    return this.#recovery.words;
  }

  /** Says what was lost and makes the next call possible, or sets `failure`. Never rejects. */
  async #recoverOnce(connection: ToolHostConnection, cause: GloveboxError): Promise<string> {
    connection.destroy(cause);
    if (this.#closing !== undefined) return "The session is closing.";
    try {
      await this.#engineAnswers();
      if (connection.changed) return await this.#remount(connection.changed);
      const end = await this.#whenBack(() => inspectEnd(this.#box.container.docker));
      if (!end?.running) return await this.#replaceContainer(end, cause);
      return await this.#restartToolHost(cause).catch((error: unknown) => this.#replaceIfDead(cause, error));
    } catch (error) {
      return this.#fail(lost(`The sandbox was lost (${cause.message}) and could not be brought back`, error));
    }
  }

  async #remount({ paths, notes, running }: MountsChanged): Promise<string> {
    if (++this.#remounts > MAX_RESTARTS) return this.#fail(detachedTooOften(this.#remounts, paths));
    await this.#startAgain();
    await this.#emit("remounted", { paths, notes, remounts: this.#remounts });
    const words = remountWords(paths, running.length > 0);
    if (running.length === 0) this.#notes.push(words);
    return words;
  }

  async #restartToolHost(cause: GloveboxError): Promise<string> {
    if (++this.#restarts > MAX_RESTARTS) return this.#fail(lost(`The tool host was ended ${this.#restarts} times`));
    const exitCode = await this.#whenBack(() => this.#box.restart());
    await this.#emit("toolhost_restarted", { cause: cause.message, restarts: this.#restarts });
    return `${describeLeave(exitCode)}; it may have had effects. The tool host was started again in the same container: files are kept, and so is the shell's state from before this call, unless the next result says otherwise.`;
  }

  /** A container that is being killed still counts as running when its tool host is already gone. */
  async #replaceIfDead(cause: GloveboxError, error: unknown): Promise<string> {
    const end = await this.#whenBack(() => inspectEnd(this.#box.container.docker));
    if (end?.running) throw error;
    return this.#replaceContainer(end, cause);
  }

  async #replaceContainer(end: ContainerEnd | undefined, cause: GloveboxError): Promise<string> {
    const why = describeEnd(end);
    await this.#emit("lost", { cause: cause.message, container: why });
    if (this.#replaced) return this.#fail(lost(`The container ${why} for the second time`));
    this.#replaced = true;
    await this.#startAgain();
    return `The sandbox stopped while this ran (its container ${why}); it may have had effects. A new sandbox was started; installed packages, /tmp, HOME and background processes are gone, workspace files are kept.`;
  }

  #engineAnswers(): Promise<void> {
    return untilAnswers(this.#options.engine.docker, ENGINE_BACK_MS, this.#leaving.signal);
  }

  /** An engine that is being stopped answers a little longer, so any step may be the one that it is missed at. */
  async #whenBack<T>(step: () => Promise<T>): Promise<T> {
    try {
      return await step();
    } catch (error) {
      if (!isDisconnected(error)) throw error;
      await this.#engineAnswers();
      return step();
    }
  }

  #fail(error: GloveboxError): string {
    this.#failure = error;
    return `${error.message}. The call may have had effects; no more calls are possible.`;
  }

  #withNotes(result: ToolResult): ToolResult {
    const notes = this.#notes.splice(0).map((text) => ({ type: "text" as const, text: `[${text}]\n` }));
    return { ...result, content: [...notes, ...result.content] };
  }

  async #emit(event: SandboxEvent["event"], detail: SandboxEvent["detail"]): Promise<void> {
    await this.#options.emit({ event, containerId: this.#box.container.docker.id, detail });
  }
}

/** What a tool host said of a call, with the reasons the log knows; also for other ways to reach one. */
export function resultOf({ truncated, denial, ...outcome }: Outcome): ToolResult {
  const reason =
    outcome.status === "cancelled" ? "interrupted" : outcome.status === "timed_out" ? "timeout" : undefined;
  return { ...outcome, ...(truncated && { truncated }), ...(denial && { denial }), ...(reason && { reason }) };
}

/** Each in brackets at the end: what follows the output of a command is ours. */
function withLines(result: ToolResult, lines: readonly string[]): ToolResult {
  if (lines.length === 0) return result;
  const text = lines.map((line) => `[${line}]`).join("\n");
  return { ...result, content: [...result.content, { type: "text", text: `\n${text}` }] };
}

function interruption(signal: AbortSignal): Promise<string> {
  const words = "The sandbox was lost while this ran; it may have had effects.";
  return new Promise((resolve) => {
    if (signal.aborted) resolve(words);
    signal.addEventListener("abort", () => resolve(words), { once: true });
  });
}
