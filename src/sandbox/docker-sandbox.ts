import { type GloveboxError, toGloveboxError } from "../core/errors.ts";
import { syntheticResult, type ToolResult } from "../core/tool-result.ts";
import type { Outcome } from "../protocol/messages.ts";
import { Box, type BoxPlan } from "./box.ts";
import { type ContainerEnd, inspectEnd } from "./container.ts";
import { untilAnswers } from "./engine/await.ts";
import type { Engine } from "./engine/engine.ts";
import { isDisconnected } from "./engine/guard.ts";
import type { CallOptions, Sandbox, SandboxCall, SandboxEvent, SandboxFacts } from "./sandbox.ts";
import { lost, type ToolHostConnection } from "./tool-host-connection.ts";

/** A command that keeps killing its tool host must not keep a run alive for ever. */
const MAX_RESTARTS = 5;
/** A daemon that is restarted stops its containers first, for ten seconds at most, and then looks for them. */
const ENGINE_BACK_MS = 30_000;

export type DockerSandboxOptions = {
  engine: Engine;
  plan: BoxPlan;
  /** Throws when what was mounted is not at its path any more: another container would get something else. */
  checkSources: () => Promise<void>;
  facts: Omit<SandboxFacts, "containerId" | "controls">;
  /** Awaited before the sandbox goes on. */
  emit: (event: SandboxEvent) => Promise<void>;
};

/** Opens a sandbox on a container engine. @throws as {@link Box.start}. */
export async function openDockerSandbox(options: DockerSandboxOptions): Promise<Sandbox> {
  const box = await Box.start(options.engine, options.plan);
  try {
    const sandbox = new DockerSandbox(options, box);
    await sandbox.announce();
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
  #replaced = false;
  #closing: Promise<void> | undefined;
  readonly #leaving = new AbortController();
  #failure: GloveboxError | undefined;
  /** One recovery serves every call that was lost with the same connection. */
  #recovery: { of: ToolHostConnection; words: Promise<string> } | undefined;

  constructor(options: DockerSandboxOptions, box: Box) {
    this.#options = options;
    this.#box = box;
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
    if (this.#failure) return syntheticResult("lost", `Not run: ${this.#failure.message}.`);
    const { connection } = this.#box;
    try {
      return resultOf(await connection.call(call, options));
    } catch (error) {
      const words = this.#recover(connection, toGloveboxError(error));
      return syntheticResult("lost", await Promise.race([words, interruption(options.signal)]));
    }
  }

  close(): Promise<void> {
    this.#leaving.abort();
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    await this.#recovery?.words;
    await this.#box.remove();
    await this.#emit("ended", null);
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
      const end = await this.#whenBack(() => inspectEnd(this.#box.container.docker));
      if (!end?.running) return await this.#replaceContainer(end, cause);
      return await this.#restartToolHost(cause).catch((error: unknown) => this.#replaceIfDead(cause, error));
    } catch (error) {
      return this.#fail(lost(`The sandbox was lost (${cause.message}) and could not be brought back`, error));
    }
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
    await this.#whenBack(() => this.#box.remove());
    await this.#options.checkSources();
    this.#box = await this.#whenBack(() => Box.start(this.#options.engine, this.#options.plan));
    await this.announce();
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

/** A tool host that loses its channel leaves by itself, with 0 or 1. */
function describeLeave(exitCode: number | null): string {
  if (exitCode === null) return "The tool host stopped answering and this call was lost with it";
  if (exitCode <= 1) return "The connection to the tool host broke and this call was lost with it";
  return "This call ended the tool host and was lost with it";
}

function interruption(signal: AbortSignal): Promise<string> {
  const words = "The sandbox was lost while this ran; it may have had effects.";
  return new Promise((resolve) => {
    if (signal.aborted) resolve(words);
    signal.addEventListener("abort", () => resolve(words), { once: true });
  });
}

function describeEnd(end: ContainerEnd | undefined): string {
  if (!end) return "was removed";
  if (end.outOfMemory) return "ran out of memory";
  if (end.exitCode === null) return "was paused";
  return `ended with exit code ${end.exitCode}${end.error ? ` (${end.error})` : ""}`;
}
