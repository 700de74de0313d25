import { GloveboxError, toGloveboxError } from "../core/errors.ts";
import type { SessionEvent } from "../core/events.ts";
import type { RunResult } from "../session/result.ts";
import { failedResult } from "../session/run-once.ts";
import { type RunSettings, runPrompt } from "../session/run-prompt.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import { parseAllowHosts } from "./allow-hosts.ts";
import { personAt } from "./approval-prompt.ts";
import { Interruption } from "./interruption.ts";
import type { Io } from "./io.ts";
import { parseNumber, parseWord } from "./numbers.ts";
import { type Paint, paintFor } from "./paint.ts";
import { Printer } from "./printer.ts";
import { readPrompt } from "./prompt-input.ts";
import { failureLines, reportFailure } from "./report-failure.ts";
import { RunView } from "./run-view.ts";
import { Screen } from "./screen.ts";
import { summaryLines } from "./summary.ts";

/** The options of `run` as commander gives them. */
export type RunFlags = {
  workspace?: string;
  model?: string;
  policy?: string;
  strictPolicy?: boolean;
  image?: string;
  allowHost?: string[];
  tool?: string[];
  approve?: string;
  maxTurns?: string;
  maxSeconds?: string;
  modelRetries?: string;
  build: boolean;
  json?: boolean;
  events?: boolean;
};

/** `glovebox run`. Gives the exit code; what goes wrong is said here, in the form the options ask for. */
export async function runCommand(words: readonly string[], flags: RunFlags, io: Io): Promise<number> {
  const run = new Run(flags, io);
  try {
    return await run.perform(words);
  } finally {
    run.dispose();
  }
}

class Run {
  readonly #flags: RunFlags;
  readonly #io: Io;
  readonly #out: Printer;
  readonly #paint: Paint;
  readonly #screen: Screen;
  readonly #view: RunView;
  readonly #interruption: Interruption;
  #header: { id: string } | undefined;
  #printed = false;

  constructor(flags: RunFlags, io: Io) {
    this.#flags = flags;
    this.#io = io;
    this.#out = new Printer(io.stdout);
    this.#paint = paintFor(io.stderr, io.env);
    this.#screen = new Screen({ out: this.#out, err: io.stderr, paint: this.#paint });
    this.#view = new RunView({ screen: this.#screen, paint: this.#paint, words: !flags.json && !flags.events });
    this.#interruption = new Interruption(io, {
      onFirst: () => this.#screen.line("glovebox: stopping; once more leaves at once"),
      beforeExit: () => this.#leave(),
    });
    this.#out.closed.addEventListener("abort", () => {
      this.#screen.mute();
      this.#interruption.stopQuietly();
    });
  }

  async perform(words: readonly string[]): Promise<number> {
    try {
      return await this.#conclude(await this.#run(words));
    } catch (thrown) {
      return await this.#fail(thrown);
    }
  }

  dispose(): void {
    this.#screen.end();
    this.#interruption.dispose();
  }

  async #run(words: readonly string[]): Promise<RunResult> {
    const { env, secrets, cwd, userHome, stdin } = this.#io;
    const settings = settingsOf(this.#flags);
    const prompt = await readPrompt(words, stdin, this.#interruption.signal);
    const person = personAt({
      io: this.#io,
      screen: this.#screen,
      paint: this.#paint,
      describe: (callId) => this.#view.describe(callId),
      onInterrupt: () => this.#interruption.interrupt("SIGINT"),
    });
    return runPrompt(
      {
        ...settings,
        prompt,
        person: person?.calls,
        personForHosts: person?.hosts,
        onEvent: (event) => this.#onEvent(event),
        onProgress: (text) => this.#view.progress(text),
        onReaped: (reaped) => this.#view.reaped(reaped),
        onRecovered: (recovered) => this.#view.recovered(recovered),
        signal: this.#interruption.signal,
        urgent: this.#interruption.urgent,
      },
      surroundingsOf(env, secrets, { cwd, userHome }),
    );
  }

  #onEvent(event: SessionEvent): void {
    if (event.type === "session") this.#header = event;
    if (this.#flags.events) this.#out.line(JSON.stringify(event));
    this.#view.event(event);
  }

  async #conclude(result: RunResult): Promise<number> {
    this.#screen.end();
    const { exitCode } = this.#interruption;
    const isStopped = result.outcome === "aborted" && exitCode !== undefined;
    const final = isStopped ? { ...result, exit_code: exitCode } : result;
    this.#print(final);
    await this.#out.flushed();
    if (this.#out.closed.aborted) return 1;
    if (!this.#flags.json && !this.#flags.events) this.#screen.endWords();
    if (final.error) for (const line of failureLines(final.error, this.#io)) this.#screen.line(line);
    for (const line of summaryLines(final, this.#paint)) this.#screen.line(line);
    return final.exit_code;
  }

  async #fail(thrown: unknown): Promise<number> {
    this.#screen.end();
    const error = toGloveboxError(thrown);
    const { exitCode } = this.#interruption;
    if (exitCode === undefined) {
      this.#print(failedResult(error));
      await this.#out.flushed();
      return this.#out.closed.aborted ? 1 : reportFailure(thrown, this.#io);
    }
    this.#print({ ...failedResult(error), outcome: "aborted", exit_code: exitCode, error: null });
    await this.#out.flushed();
    return exitCode;
  }

  #print(result: RunResult): void {
    if (!this.#flags.json || this.#printed) return;
    this.#printed = true;
    this.#out.line(JSON.stringify(result));
  }

  /** The process ends although the run has not: the object is owed all the same. */
  #leave(): void {
    const error = new GloveboxError("ABORTED", "Left before the run had stopped");
    this.#print({
      ...failedResult(error),
      outcome: "aborted",
      exit_code: this.#interruption.exitCode ?? error.exitCode,
      session_id: this.#header?.id ?? null,
    });
  }
}

type Chosen = Omit<
  RunSettings,
  "prompt" | "person" | "personForHosts" | "onEvent" | "onProgress" | "onReaped" | "onRecovered" | "signal" | "urgent"
>;

const TURNS = { min: 1, max: 100_000, whole: true };
const SECONDS = { min: 0.1, max: 2_000_000, whole: false };
const RETRIES = { min: 0, max: 100, whole: true };

/** What the options mean. @throws GloveboxError `USAGE`. */
export function settingsOf(flags: RunFlags): Chosen {
  if (flags.json && flags.events) {
    throw new GloveboxError("USAGE", "`--json` and `--events` both want the whole of stdout", {
      hint: "Use one of them; the last event of a run tells its outcome too",
    });
  }
  const { maxTurns, maxSeconds, modelRetries, approve } = flags;
  return {
    workspace: flags.workspace ?? ".",
    model: flags.model,
    policy: flags.policy,
    strictPolicy: flags.strictPolicy,
    image: flags.image,
    allowHosts: parseAllowHosts(flags.allowHost),
    tools: flags.tool,
    build: flags.build,
    approve: approve === undefined ? undefined : parseWord("--approve", approve, ["ask", "auto", "deny"]),
    maxTurns: maxTurns === undefined ? undefined : parseNumber("--max-turns", maxTurns, TURNS),
    maxSeconds: maxSeconds === undefined ? undefined : parseNumber("--max-seconds", maxSeconds, SECONDS),
    modelRetries: modelRetries === undefined ? undefined : parseNumber("--model-retries", modelRetries, RETRIES),
  };
}
