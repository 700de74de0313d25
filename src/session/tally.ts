import type { Fact } from "../core/events.ts";
import { addUsage, NO_USAGE, textOf, type Usage } from "../core/messages.ts";
import { changedLines, type ToolDetails } from "../core/tool-result.ts";
import { EgressTally } from "./egress-tally.ts";
import type { RunResult } from "./result.ts";

type Counted = Pick<
  RunResult,
  "result" | "usage" | "turns" | "tool_calls" | "files_changed" | "denials" | "quarantined" | "egress"
>;

/** What the facts of one run add up to. */
export class Tally {
  #lastText = "";
  #usage: Usage = NO_USAGE;
  #turns = 0;
  #requests = 0;
  #reportedUsd = 0;
  #reported = 0;
  #toolMs = 0;
  #unattended = 0;
  readonly #egress = new EgressTally();
  readonly #calls = { total: 0, errors: 0, denied: 0, synthetic: 0 };
  readonly #files = new Map<string, RunResult["files_changed"][number]>();
  readonly #denials: RunResult["denials"] = [];
  readonly #quarantined: RunResult["quarantined"] = [];

  add(fact: Fact): void {
    switch (fact.type) {
      case "assistant":
        this.#turns++;
        this.#lastText = textOf(fact.content) || this.#lastText;
        return;
      case "request_started":
        this.#requests++;
        return;
      case "usage":
        this.#usage = addUsage(this.#usage, fact.usage);
        if (fact.reported_usd === null) return;
        this.#reported++;
        this.#reportedUsd += fact.reported_usd;
        return;
      case "quarantine": {
        const { path, rule, kind, entries, cut, sha256, bytes } = fact;
        this.#quarantined.push({ path, rule, kind, entries, cut, sha256, bytes });
        return;
      }
      case "egress":
      case "egress_end":
      case "host_approval":
        return this.#egress.add(fact);
      case "tool_result":
        return this.#addResult(fact);
      default:
        return;
    }
  }

  get counted(): Counted {
    return {
      result: this.#lastText,
      usage: this.#usage,
      turns: this.#turns,
      tool_calls: { ...this.#calls },
      files_changed: [...this.#files.values()],
      denials: this.#denials,
      quarantined: this.#quarantined,
      egress: this.#egress.counted,
    };
  }

  /** Calls and hosts denied because nobody was there to say yes. */
  get unattended(): number {
    return this.#unattended + this.#egress.unattended;
  }

  /** Nothing estimates yet, so what a provider does not report is unknown, never zero. */
  get cost(): RunResult["cost"] {
    const unknown = this.#requests - this.#reported;
    return {
      reported_usd: this.#reported > 0 ? this.#reportedUsd : null,
      estimated_usd: null,
      unknown_requests: unknown,
      complete: unknown === 0,
    };
  }

  get toolMs(): number {
    return this.#toolMs;
  }

  #addResult(result: Extract<Fact, { type: "tool_result" }>): void {
    this.#calls.total++;
    this.#toolMs += result.duration_ms;
    if (result.is_error) this.#calls.errors++;
    if (result.status === "denied") this.#calls.denied++;
    if (result.synthetic) this.#calls.synthetic++;
    if (result.reason === "denied_noninteractive") this.#unattended++;
    if (result.denial) this.#denials.push({ call_id: result.call_id, tool: result.tool_name, ...result.denial });
    const { path, diff } = result.details;
    if (result.status === "ok" && path !== undefined && diff !== undefined) this.#addChange(path, result.details);
  }

  #addChange(path: string, details: ToolDetails): void {
    const lines = changedLines(details) ?? { added: 0, removed: 0 };
    const before = this.#files.get(path);
    this.#files.set(path, {
      path,
      kind: before?.kind ?? (details.diff?.startsWith("--- /dev/null\n") ? "created" : "changed"),
      added: (before?.added ?? 0) + lines.added,
      removed: (before?.removed ?? 0) + lines.removed,
    });
  }
}
