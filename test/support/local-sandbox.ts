import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GloveboxError, toGloveboxError } from "../../src/core/errors.ts";
import { CLOSED_OUTLET } from "../../src/core/outlet.ts";
import type { GuardedPath } from "../../src/core/quarantine.ts";
import { syntheticResult, type ToolResult } from "../../src/core/tool-result.ts";
import { CallNumbers } from "../../src/sandbox/call-numbers.ts";
import { resultOf } from "../../src/sandbox/docker-sandbox.ts";
import type { CallOptions, Keep, Sandbox, SandboxCall, SandboxFacts } from "../../src/sandbox/sandbox.ts";
import { ToolHostConnection } from "../../src/sandbox/tool-host-connection.ts";
import type { SandboxProvider } from "../../src/session/provider.ts";
import { programPath } from "./programs.ts";
import { terminalProgram } from "./terminal-program.ts";

export type LocalOptions = {
  root: string;
  bundle: string;
  readonly?: { path: string; rule: string }[];
  guarded?: GuardedPath[];
  keep?: Keep;
};

/**
 * The real tool host as a child process over the real protocol, and no container: fast, and good for everything but
 * the wall. Nothing of the product can choose it.
 */
export class LocalSandbox implements Sandbox {
  readonly facts: SandboxFacts;
  readonly child: ChildProcess;
  readonly #connection: ToolHostConnection;
  readonly #state: string;
  failure: GloveboxError | undefined;

  private constructor(child: ChildProcess, connection: ToolHostConnection, state: string) {
    this.child = child;
    this.#connection = connection;
    this.#state = state;
    this.facts = {
      containerId: "local",
      image: "local",
      imageDigest: "local",
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
      controls: [],
      degraded: [],
      isWeakened: false,
      notes: [],
    };
  }

  static async open({
    root,
    bundle,
    readonly = [],
    guarded = [],
    keep = keepNothing,
  }: LocalOptions): Promise<LocalSandbox> {
    const state = await mkdtemp(join(tmpdir(), "glovebox-state-"));
    const child = spawn(process.execPath, [bundle], { stdio: ["pipe", "pipe", "inherit"], env: {} });
    const streams = { input: child.stdout, output: child.stdin, destroy: () => void child.stdin.destroy() };
    const connection = new ToolHostConnection(streams, { keep, outlet: CLOSED_OUTLET }, new CallNumbers());
    await connection.greet({
      root,
      home: state,
      state: join(state, "run"),
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: state, TERM: "dumb", LANG: "C.UTF-8" },
      umask: 0o022,
      programs: {
        rg: programPath("rg"),
        terminal: terminalProgram(),
        shell: programPath("bash"),
        shellKind: "bash",
      },
      readonly,
      session: "local",
      guarded,
      mounts: [],
      hidden: [],
      maxOutputFileBytes: 64 * 1024 * 1024,
      shownOutputBytes: 50 * 1024,
      idleSeconds: 30,
    });
    return new LocalSandbox(child, connection, state);
  }

  async call(call: SandboxCall, options: CallOptions): Promise<ToolResult> {
    try {
      return resultOf((await this.#connection.call(call, options)).outcome);
    } catch (error) {
      this.failure = toGloveboxError(error);
      return syntheticResult("lost", `The sandbox stopped while this ran: ${this.failure.message}.`);
    }
  }

  async close(): Promise<void> {
    const ended = this.child.exitCode ?? this.child.signalCode ?? once(this.child, "exit");
    await this.#connection.shutdown(5_000);
    this.#connection.destroy();
    await ended;
    await rm(this.#state, { recursive: true, force: true });
  }
}

function keepNothing(): Promise<never> {
  return Promise.reject(new Error("nothing is kept here"));
}

/** A provider for sessions under test. */
export function localProvider(bundle: string): SandboxProvider {
  return ({ workspace, plan: { readonly, guarded }, keep }) =>
    LocalSandbox.open({ root: workspace.root, bundle, readonly, guarded, keep });
}
