import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOf } from "../../../src/core/messages.ts";
import type { Hello, Outcome } from "../../../src/protocol/messages.ts";
import { PROTOCOL_VERSION } from "../../../src/protocol/messages.ts";
import type { CallContext } from "../../../src/toolhost/context.ts";
import { createShell, type Shell } from "../../../src/toolhost/shell/bash.ts";
import { descendantScope } from "../../../src/toolhost/shell/process-scope.ts";
import type { ToolArgs } from "../../../src/tools/catalogue.ts";
import { terminalProgram } from "../../support/terminal-program.ts";

type Call = {
  id?: number;
  timeout?: number;
  background?: boolean;
  signal?: AbortSignal;
  show?: (bytes: Uint8Array) => void;
};

/** A shell on this machine in a folder of its own, with the scope that only ever kills what it started. */
export class TestShell {
  readonly folder = realpathSync(mkdtempSync(join(tmpdir(), "glovebox-shell-")));
  readonly hello: Hello;
  /** What knows the processes of jobs outlives a tool host, as the pid namespace does. */
  readonly #scope = descendantScope();
  shell: Shell;

  constructor(changes: Partial<Hello> = {}) {
    const state = join(this.folder, "state");
    this.hello = {
      type: "hello",
      protocol: PROTOCOL_VERSION,
      root: this.folder,
      home: this.folder,
      state,
      env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: this.folder, LANG: "C.UTF-8", TERM: "dumb", PAGER: "cat" },
      umask: 0o022,
      programs: { rg: "/usr/bin/rg", terminal: terminalProgram(), shell: "/bin/bash", shellKind: "bash" },
      readonly: [],
      hidden: [],
      session: "s",
      mounts: [],
      guarded: [],
      maxOutputFileBytes: 8 * 1024 * 1024,
      shownOutputBytes: 50 * 1024,
      idleSeconds: 30,
      ...changes,
    };
    this.shell = createShell({ hello: this.hello, scope: this.#scope });
  }

  run(command: string, { timeout = 10, background, ...call }: Call = {}): Promise<Outcome> {
    return this.shell.handleBash({ command, timeout, ...(background && { background }) }, this.#context(call));
  }

  /** Asks for a background job, or all of them (0). */
  job(job: number, kill = false): Promise<Outcome> {
    return this.shell.handleBash({ job, kill }, this.#context({}));
  }

  pty(args: ToolArgs<"pty">, call: Call = {}): Promise<Outcome> {
    return this.shell.handlePty(args, this.#context(call));
  }

  #context({ id, signal, show }: Call): CallContext {
    return {
      id: id ?? 1,
      host: { hello: this.hello, seen: new Map<string, string>(), guard: { refuse: () => undefined } },
      signal: signal ?? new AbortController().signal,
      show: show ?? (() => undefined),
    };
  }

  /** What the model reads. */
  async text(command: string, call: Call = {}): Promise<string> {
    return shown(await this.run(command, call));
  }

  /** A tool host that is killed and started again finds the same folder. */
  restart(): void {
    this.shell = createShell({ hello: { ...this.hello, previousPid: 2 }, scope: this.#scope });
  }

  async close(): Promise<void> {
    await this.shell.endEverything();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function shown(outcome: Outcome): string {
  return textOf(outcome.content);
}
