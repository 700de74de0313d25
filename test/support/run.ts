import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoggedEvent, SessionEvent } from "../../src/core/events.ts";
import { Secrets } from "../../src/core/secrets.ts";
import type { Dialler } from "../../src/egress/dialler.ts";
import { NOBODY_TO_ASK } from "../../src/egress/host-approver.ts";
import { ABSENT_APPROVER } from "../../src/gate/approver.ts";
import { parseScript } from "../../src/model/script-file.ts";
import { createScriptedClient } from "../../src/model/scripted.ts";
import { BUILT_IN_POLICY } from "../../src/policy/policy.ts";
import type { SandboxProvider } from "../../src/session/provider.ts";
import type { RunResult } from "../../src/session/result.ts";
import { type RunOnceOptions, runOnce } from "../../src/session/run-once.ts";
import { localProvider } from "./local-sandbox.ts";

/** Nothing leaves the machine by a test that does not say where to. */
const NO_DIALLER: Dialler = {
  resolve: (name) => Promise.reject(new Error(`a test would have looked up ${name}`)),
  connect: ({ address }) => Promise.reject(new Error(`a test would have dialled ${address}`)),
};

export type TestRun = { result: RunResult; log: LoggedEvent[]; events: SessionEvent[]; folder: string; root: string };

/** A folder with a workspace and a home in it, removed when the test is over. */
export class Scene implements AsyncDisposable {
  readonly folder: string;
  readonly root: string;

  private constructor(folder: string) {
    this.folder = folder;
    this.root = join(folder, "workspace");
  }

  static async create(): Promise<Scene> {
    const scene = new Scene(await mkdtemp(join(tmpdir(), "glovebox-run-")));
    const { mkdir } = await import("node:fs/promises");
    await mkdir(scene.root);
    return scene;
  }

  /** What a run or a session of this scene needs, with a scripted model. */
  options(script: string, openSandbox: SandboxProvider): Omit<RunOnceOptions, "onEvent"> {
    return {
      prompt: "Do it.",
      workspace: this.root,
      model: createScriptedClient({ name: "test.yaml", items: parseScript(script, "test.yaml") }),
      modelRetries: 0,
      policy: BUILT_IN_POLICY,
      policyFacts: { sources: [], dropped: [], warnings: [] },
      approver: ABSENT_APPROVER,
      askAlways: false,
      ways: { dialler: NO_DIALLER, proxy: undefined, approver: NOBODY_TO_ASK },
      limits: { turns: 10, toolCalls: 100, seconds: 60 },
      secrets: new Secrets(),
      home: {
        root: join(this.folder, "home"),
        sessions: join(this.folder, "home/sessions"),
        cache: join(this.folder, "cache"),
      },
      userHome: join(this.folder, "user"),
      version: "0.0.0",
      openSandbox,
      signal: new AbortController().signal,
      urgent: new AbortController().signal,
    };
  }

  /** Runs one prompt with a scripted model and real tools on this machine. */
  async run(script: string, bundle: string, options: Partial<RunOnceOptions> = {}): Promise<TestRun> {
    const events: SessionEvent[] = [];
    const result = await runOnce({
      ...this.options(script, localProvider(bundle)),
      ...options,
      onEvent: (event) => {
        events.push(event);
        options.onEvent?.(event);
      },
    });
    return { result, events, log: await readLog(result), folder: this.folder, root: this.root };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** Every whole line of a run's log but the header. */
export async function readLog(result: RunResult): Promise<LoggedEvent[]> {
  const text = await readFile(result.session_file ?? "", "utf8");
  return text
    .split("\n")
    .slice(1, -1)
    .map((line) => JSON.parse(line) as LoggedEvent);
}

/** The results of a log as `[call id, status, reason]`, in the order they stand there. */
export function resultsIn(log: readonly LoggedEvent[]): [string, string, string | undefined][] {
  return log.flatMap((event) => (event.type === "tool_result" ? [[event.call_id, event.status, event.reason]] : []));
}
