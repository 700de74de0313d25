import type { JsonObject } from "../../core/json.ts";
import { textOf } from "../../core/messages.ts";
import type { ToolResult } from "../../core/tool-result.ts";
import { RUNTIME_PATHS } from "../../sandbox/images/runtime-paths.ts";
import type { Sandbox } from "../../sandbox/sandbox.ts";
import { contractOf, type ToolName } from "../../tools/catalogue.ts";
import type { PlainSandbox } from "../plain-sandbox.ts";

/** Makes one tool call of an attack; another one than {@link callDirectly} puts the tool gate before it. */
export type Caller = (sandbox: Sandbox, tool: ToolName, args: JsonObject) => Promise<ToolResult>;

/** Straight to the container, which is what is under attack. */
export const callDirectly: Caller = (sandbox, tool, args) =>
  sandbox.call(
    { tool, args, deadlineMs: contractOf(tool).deadlineMs(args) },
    { signal: new AbortController().signal, onOutput: () => undefined },
  );

/** Seconds a command of an attack may run unless it says otherwise. */
const COMMAND_SECONDS = 15;

/** A sandbox from the attacker's side: tool calls, and whatever they print is heard. */
export class Inside {
  readonly box: PlainSandbox;
  readonly #call: Caller;
  readonly #hear: (text: string) => void;

  constructor(box: PlainSandbox, call: Caller, hear: (text: string) => void) {
    this.box = box;
    this.#call = call;
    this.#hear = hear;
  }

  async call(tool: ToolName, args: JsonObject): Promise<ToolResult> {
    const result = await this.#call(this.box.sandbox, tool, args);
    this.#hear(textOf(result.content));
    return result;
  }

  /** Runs a command of the image's shell. */
  shell(command: string, seconds = COMMAND_SECONDS): Promise<ToolResult> {
    return this.call("bash", { command, timeout: seconds });
  }

  /** What each line of system calls came to, made by the runtime's own program. */
  async attempt(lines: readonly string[]): Promise<string[]> {
    const result = await this.shell([RUNTIME_PATHS.attemptPath, ...lines.map(quoted)].join(" "));
    if (result.status !== "ok") return lines.map(() => `${result.status}: ${textOf(result.content)}`);
    const outputs = textOf(result.content).trimEnd().split("\n");
    return lines.map((_, index) => outputs[index] ?? "nothing");
  }

  /** Processes of the container, as the engine on the host counts them. */
  async processes(): Promise<string[]> {
    const { engine, sandbox } = this.box;
    const { Titles, Processes } = await engine.docker.getContainer(sandbox.facts.containerId).top();
    const column = Titles.findIndex((title: string) => /^(CMD|COMMAND)$/.test(title));
    return Processes.map((row: string[]) => row[column] ?? "");
  }

  close(): Promise<void> {
    return this.box.sandbox.close();
  }
}

/** One word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
