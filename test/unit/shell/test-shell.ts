import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOf } from "../../../src/core/messages.ts";
import type { Hello, Outcome } from "../../../src/protocol/messages.ts";
import { PROTOCOL_VERSION } from "../../../src/protocol/messages.ts";
import { createShell, type Shell } from "../../../src/toolhost/shell/bash.ts";
import { descendantScope } from "../../../src/toolhost/shell/process-scope.ts";

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
      programs: { rg: "/usr/bin/rg", shell: "/bin/bash", shellKind: "bash" },
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
    this.shell = createShell({ hello: this.hello, scope: descendantScope() });
  }

  run(command: string, { id, timeout = 10, background, signal, show }: Call = {}): Promise<Outcome> {
    const context = {
      id: id ?? 1,
      host: { hello: this.hello, seen: new Map<string, string>(), guard: { refuse: () => undefined } },
      signal: signal ?? new AbortController().signal,
      show: show ?? (() => undefined),
    };
    return this.shell.handleBash({ command, timeout, ...(background && { background }) }, context);
  }

  /** What the model reads. */
  async text(command: string, call: Call = {}): Promise<string> {
    return shown(await this.run(command, call));
  }

  /** A tool host that is killed and started again finds the same folder. */
  restart(): void {
    this.shell = createShell({ hello: { ...this.hello, previousPid: 2 }, scope: descendantScope() });
  }

  async close(): Promise<void> {
    await this.shell.endEverything();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export function shown(outcome: Outcome): string {
  return textOf(outcome.content);
}
