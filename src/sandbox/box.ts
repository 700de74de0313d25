import { GloveboxError } from "../core/errors.ts";
import { CLOSED_OUTLET, type Outlet } from "../core/outlet.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import type { Control, Hello, SelfTestExpectation } from "../protocol/messages.ts";
import { CallNumbers } from "./call-numbers.ts";
import { startToolHost, type ToolHostExec } from "./channel.ts";
import { inspectEnd, type StartedContainer, startContainer } from "./container.ts";
import type { ContainerSpec } from "./container-spec.ts";
import { removeContainer } from "./engine/containers.ts";
import type { Engine } from "./engine/engine.ts";
import { failedControls, NOT_REPORTED } from "./expected-controls.ts";
import { createImageVolumes, removeVolumes } from "./image-volumes.ts";
import type { HostSide } from "./sandbox.ts";
import { ToolHostConnection } from "./tool-host-connection.ts";

/** All that is decided before a container is made; pure data, the same for a replacement. */
export type BoxPlan = {
  spec: Omit<ContainerSpec, "imageVolumes">;
  /** Paths the image declares as volumes. */
  volumePaths: readonly string[];
  hello: Omit<Hello, "type" | "protocol">;
  expect: SelfTestExpectation;
  /** Names of containers and volumes begin with it. */
  prefix: string;
};

/** A tool host whose channel ends takes about 0.4 s to end its processes and itself; one that is stopped takes for ever. */
const LEAVE_MS = 2_000;

/** One container of ours with a tool host in it. */
export class Box {
  readonly container: StartedContainer;
  readonly #plan: BoxPlan;
  readonly #engine: Engine;
  readonly #volumes: readonly string[];
  readonly #host: HostSide;
  readonly #numbers = new CallNumbers();
  connection: ToolHostConnection;
  controls: Control[] = [];
  #exec: ToolHostExec;
  /** The tool host's, inside. */
  #pid = 0;

  private constructor(
    engine: Engine,
    plan: BoxPlan,
    parts: { container: StartedContainer; exec: ToolHostExec; volumes: string[]; host: HostSide },
  ) {
    this.#engine = engine;
    this.#plan = plan;
    this.#volumes = parts.volumes;
    this.container = parts.container;
    this.#exec = parts.exec;
    this.#host = parts.host;
    this.connection = new ToolHostConnection(parts.exec, parts.host, this.#numbers);
  }

  /**
   * Makes a container, starts its tool host and proves the wall; what was made is removed again when that fails.
   * @throws GloveboxError `SANDBOX_START_FAILED`, `SELFTEST_FAILED`, `SANDBOX_LOST`, `PROTOCOL`.
   */
  static async start(engine: Engine, plan: BoxPlan, host: HostSide): Promise<Box> {
    const volumes = await createImageVolumes(engine.docker, {
      targets: plan.volumePaths,
      prefix: plan.prefix,
      labels: plan.spec.labels,
    });
    const names = volumes.flatMap(({ volume }) => (volume === "tmpfs" ? [] : [volume]));
    try {
      const container = await startContainer(engine.docker, { ...plan.spec, imageVolumes: volumes }, plan.prefix);
      return await Box.#enter(engine, plan, { container, volumes: names, host });
    } catch (error) {
      await removeVolumes(engine.docker, names).catch(() => undefined);
      throw error;
    }
  }

  static async #enter(
    engine: Engine,
    plan: BoxPlan,
    parts: { container: StartedContainer; volumes: string[]; host: HostSide },
  ): Promise<Box> {
    const { container } = parts;
    let box: Box | undefined;
    try {
      const exec = await startToolHost(container.docker, plan.spec.user);
      box = new Box(engine, plan, { ...parts, exec });
      await box.#greet();
      await box.#prove(plan.expect);
      return box;
    } catch (error) {
      const explained = await explain(container, error);
      box?.connection.destroy();
      await removeContainer(container.docker).catch(() => undefined);
      throw explained;
    }
  }

  async #prove(expect: SelfTestExpectation): Promise<void> {
    try {
      this.controls = await this.connection.selfTest(expect);
    } catch (error) {
      throw this.#withLastWords(error);
    }
    requireControls(failedControls(this.controls, expect));
  }

  /** A new tool host in the same container, after the old one's channel has ended. Gives the old one's exit code. */
  async restart(): Promise<number | null> {
    const previousPid = this.#pid;
    // One that lost its channel ends what it finds, a successor too: it is given the time to be done with that.
    const exitCode = await this.#exec.ended(LEAVE_MS);
    this.#exec = await startToolHost(this.container.docker, this.#plan.spec.user);
    this.connection = new ToolHostConnection(this.#exec, this.#host, this.#numbers);
    await this.#greet({ previousPid });
    // The agent has been at work since the first proof; what it made unwritable is its own affair.
    await this.#prove({ ...this.#plan.expect, writable: [] });
    return exitCode;
  }

  /** Removes the container and its volumes; every error is collected, the first one thrown. */
  async remove(): Promise<void> {
    this.connection.destroy();
    const steps = [
      () => removeContainer(this.container.docker),
      () => removeVolumes(this.#engine.docker, this.#volumes),
    ];
    const errors: unknown[] = [];
    for (const step of steps) await step().catch((error: unknown) => errors.push(error));
    if (errors.length > 0) throw errors[0];
  }

  async #greet(more: { previousPid?: number } = {}): Promise<void> {
    try {
      const { pid } = await this.connection.greet({ ...this.#plan.hello, ...more, ...egressOf(this.#host.outlet) });
      this.#pid = pid;
    } catch (error) {
      throw this.#withLastWords(error);
    }
  }

  /** What the tool host printed as it died explains more than the channel that broke with it. */
  #withLastWords(error: unknown): unknown {
    this.connection.destroy();
    const stderr = clip(visibleLine(this.#exec.stderr().trim()), 500);
    if (stderr === "") return error;
    return new GloveboxError("SANDBOX_START_FAILED", `The tool host failed: ${stderr}`, {
      hint: "Run `glovebox doctor`; `glovebox image build` renews the runtime",
      cause: error,
    });
  }
}

function egressOf(outlet: Outlet): Pick<Hello, "egress"> {
  if (outlet === CLOSED_OUTLET) return {};
  const { forwards, certificates } = outlet;
  return { egress: { forwards: [...forwards], ...(certificates !== undefined && { certificates }) } };
}

function requireControls(failed: readonly Control[]): void {
  if (failed.length === 0) return;
  if (failed.some(({ control, evidence }) => control === "workspace_reachable" && evidence !== NOT_REPORTED)) {
    throw new GloveboxError(
      "WORKSPACE_REFUSED",
      "The workspace cannot be entered inside the container by the user who owns it",
      {
        hint: "A folder above it is closed to that user in the image (such as `/root`); move the workspace, for example below `/srv`",
      },
    );
  }
  const seen = failed.filter(({ evidence }) => evidence !== NOT_REPORTED);
  const words = (seen.length > 0 ? seen : failed).map(({ control, evidence }) => `${control} (${evidence})`).join("; ");
  throw new GloveboxError("SELFTEST_FAILED", `The container is not sealed as it should be: ${visibleLine(words)}`, {
    hint: "Nothing was run; `glovebox doctor` says more about this engine",
  });
}

/** A container that died explains more than the channel that broke with it. */
async function explain(container: StartedContainer, error: unknown): Promise<unknown> {
  const end = await inspectEnd(container.docker).catch(() => undefined);
  if (!end || end.running) return error;
  const output = container.firstOutput();
  const why = end.outOfMemory ? "ran out of memory" : `ended with exit code ${end.exitCode}`;
  return new GloveboxError(
    "SANDBOX_START_FAILED",
    `The container ${why} before it could be used${output ? `: ${output}` : ""}`,
    {
      hint: "`glovebox doctor` checks the engine and the images",
      cause: error,
    },
  );
}
