import type { SessionEvent } from "../core/events.ts";
import { isJsonObject } from "../core/json.ts";
import { type ToolCallPart, textOf, toolCallsOf } from "../core/messages.ts";
import { clip } from "../core/truncate.ts";
import { visible, visibleLine } from "../core/visible.ts";
import { droppedWords } from "../policy/dropped.ts";
import type { Reaped } from "../sandbox/reaper.ts";
import type { SandboxFacts } from "../sandbox/sandbox.ts";
import type { PolicyFacts } from "../session/policy.ts";
import type { Recovered } from "../session/recover.ts";
import { RefusalNotes } from "./egress-words.ts";
import { mountWords, quarantineWords } from "./guard-words.ts";
import type { Paint } from "./paint.ts";
import type { Screen } from "./screen.ts";
import { mainArgument, toolRow } from "./tool-row.ts";
import { durationWords } from "./words.ts";

export type RunViewOptions = {
  screen: Screen;
  paint: Paint;
  /** Print the assistant's words to stdout; false where stdout is for a program. */
  words: boolean;
};

/** Shows a run to a person as it happens. */
export class RunView {
  readonly #options: RunViewOptions;
  readonly #calls = new Map<string, ToolCallPart>();
  readonly #refusals = new RefusalNotes();
  #step = "";
  /** The present response has sent words, so its entry does not print them again. */
  #streamed = false;

  constructor(options: RunViewOptions) {
    this.#options = options;
  }

  /** A build or a pull goes on; without a terminal each step is one line. */
  progress(words: string): void {
    const { screen, paint } = this.#options;
    const line = visibleLine(words);
    const step = line.split(": ", 1)[0] ?? line;
    if (step === this.#step) return screen.rename(line);
    this.#step = step;
    screen.begin(line);
    screen.line(paint("dim", `${step} …`));
  }

  reaped({ removed, problems }: Reaped): void {
    for (const { kind, name, session } of removed) {
      const whose = session ? ` of session ${visibleLine(session)}, which is gone` : " of a session that is gone";
      this.#note(`removed ${kind} ${visibleLine(name)}${whose}`);
    }
    for (const problem of problems) this.#note(`could not remove ${visibleLine(problem)}`);
  }

  /** What a session that died had left in a workspace. */
  recovered({ moved, problems }: Recovered): void {
    for (const item of moved) {
      const command = `glovebox apply ${visibleLine(item.session)} ${visibleLine(item.path)}`;
      this.#note(`session ${visibleLine(item.session)} died: ${quarantineWords(item)}; \`${command}\` brings it back`);
    }
    for (const problem of problems)
      this.#note(`could not look everywhere for what must not be there: ${visibleLine(problem)}`);
  }

  /** What a policy asked for and did not get is never silent. */
  policy({ dropped, warnings }: Pick<PolicyFacts, "dropped" | "warnings">): void {
    for (const item of dropped) this.#note(`policy: dropped ${visibleLine(droppedWords(item))}`);
    for (const words of warnings) this.#note(`policy: ${visibleLine(words)}`);
  }

  /** In what a sandbox that has started is not as it was meant. */
  weaknesses({ degraded, notes }: Pick<SandboxFacts, "degraded" | "notes">): void {
    for (const words of degraded) this.#note(`weaker than meant: ${visibleLine(words)}`);
    for (const words of notes) this.#note(visibleLine(words));
  }

  event(event: SessionEvent): void {
    const { screen } = this.#options;
    switch (event.type) {
      case "session":
        return this.#starting();
      case "sandbox":
        return this.#sandbox(event.event, event.detail);
      case "request_started":
        this.#streamed = false;
        return screen.begin("waiting for the model");
      case "text_delta":
        return this.#words(event.text);
      case "retry_wait":
        return this.#retry(event);
      case "assistant":
        return this.#assistant(event);
      case "call_started":
        return this.#begin(event.call_id);
      case "tool_output":
        return screen.output(event.text);
      case "tool_result":
        screen.end();
        return screen.line(toolRow(this.#calls.get(event.call_id), event, screen.columns, this.#options.paint));
      case "status":
        return screen.rename(visibleLine(event.text));
      case "policy":
        return this.policy(event);
      case "quarantine":
        return this.#note(quarantineWords(event));
      case "egress":
        return this.#refused(event);
      case "run_end":
        return screen.end();
      case "system":
      case "user":
      case "run_started":
      case "request_failed":
      case "call_prepared":
      case "approval":
      case "egress_end":
      case "host_approval":
      case "usage":
      case "reasoning_delta":
      case "tool_end":
        return;
      default:
        return event satisfies never;
    }
  }

  #starting(): void {
    const { screen, paint } = this.#options;
    if (!screen.isTerminal) screen.line(paint("dim", "starting the sandbox …"));
    screen.begin("starting the sandbox");
  }

  #words(text: string): void {
    if (!this.#options.words) return;
    this.#streamed = true;
    this.#options.screen.words(visible(text));
  }

  #assistant({ content }: Extract<SessionEvent, { type: "assistant" }>): void {
    const { screen, words } = this.#options;
    screen.end();
    for (const call of toolCallsOf(content)) this.#calls.set(call.id, call);
    if (!words) return;
    if (!this.#streamed) screen.words(visible(textOf(content)));
    screen.endWords();
  }

  /** A call in one line: its tool and what it is mostly about. */
  describe(callId: string): string | undefined {
    const call = this.#calls.get(callId);
    return call && `${visibleLine(call.name)} ${clip(mainArgument(call), 300)}`;
  }

  #begin(callId: string): void {
    const words = this.describe(callId);
    if (words !== undefined) this.#options.screen.begin(words);
  }

  #refused(event: Extract<SessionEvent, { type: "egress" }>): void {
    const words = this.#refusals.words(event);
    if (words !== undefined) this.#note(words);
  }

  #retry({ delay_ms: delay, message }: Extract<SessionEvent, { type: "retry_wait" }>): void {
    const { screen } = this.#options;
    if (this.#streamed) {
      screen.endWords();
      this.#note("the words above are void: the model's response broke off");
      this.#streamed = false;
    }
    this.#note(`retrying in ${durationWords(delay)}: ${visibleLine(message)}`);
    screen.begin("waiting to try the model again");
  }

  #sandbox(event: Extract<SessionEvent, { type: "sandbox" }>["event"], detail: unknown): void {
    const facts = isJsonObject(detail) ? detail : {};
    switch (event) {
      case "started":
        this.#options.screen.end();
        return this.weaknesses({ degraded: textsOf(facts["degraded"]), notes: textsOf(facts["notes"]) });
      case "lost":
        return this.#note(`the sandbox was lost: its container ${visibleLine(String(facts["container"]))}`);
      case "toolhost_restarted":
        return this.#note("the tool host was lost and has been started again");
      case "remounted":
      case "links_protected":
        for (const words of mountWords(event, facts)) this.#note(words);
        return;
      case "selftest":
      case "ended":
        return;
      default:
        return event satisfies never;
    }
  }

  #note(text: string): void {
    this.#options.screen.line(`${this.#options.paint("yellow", "!")} ${text}`);
  }
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
