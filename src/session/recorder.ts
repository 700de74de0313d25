import type { EventSink } from "../agent/journal.ts";
import type { Fact, LiveEvent, SessionEvent, SessionHeader } from "../core/events.ts";
import { mapStrings } from "../core/json.ts";
import type { Secrets } from "../core/secrets.ts";
import { wellFormed } from "../core/truncate.ts";
import { LiveMask } from "./live-mask.ts";
import { SessionLog } from "./log.ts";
import { Tally } from "./tally.ts";

export type RecorderOptions = {
  path: string;
  header: SessionHeader;
  secrets: Secrets;
  /** Hears every event after it has been stored. Must not throw. */
  onEvent: (event: SessionEvent) => void;
};

/** Where all facts of a session go: masked, stored, counted, then shown, in this order. Whoever made it closes it. */
export class Recorder implements EventSink {
  readonly #log: SessionLog;
  readonly #options: RecorderOptions;
  readonly #live: LiveMask;
  /** What the facts so far add up to. */
  readonly tally = new Tally();

  private constructor(log: SessionLog, options: RecorderOptions) {
    this.#log = log;
    this.#options = options;
    this.#live = new LiveMask(options.secrets);
  }

  /** Creates the log. @throws GloveboxError `SESSION_WRITE_FAILED`. */
  static async create(options: RecorderOptions): Promise<Recorder> {
    const header = mapStrings(options.header, wellFormed) as SessionHeader;
    const log = await SessionLog.create(options.path, header);
    options.onEvent(header);
    return new Recorder(log, options);
  }

  get path(): string {
    return this.#log.path;
  }

  get sessionId(): string {
    return this.#options.header.id;
  }

  /** Resolves with the fact as it was stored: without secrets and lone surrogates, which is how the model gets it too. */
  async append(fact: Fact): Promise<Fact> {
    const clean = this.#clean(fact);
    const event = await this.#log.append(clean);
    // What a piece held back belongs before the fact that ends its text.
    if (fact.type === "assistant" || fact.type === "tool_result" || fact.type === "run_end") this.#flush();
    this.tally.add(clean);
    this.#options.onEvent(event);
    return clean;
  }

  show(event: LiveEvent): void {
    switch (event.type) {
      case "text_delta":
      case "reasoning_delta":
      case "tool_output": {
        const piece = this.#live.push(event);
        if (piece) this.#options.onEvent(this.#clean(piece));
        return;
      }
      case "tool_end":
      case "retry_wait":
      case "status":
        return this.#options.onEvent(this.#clean(event));
      default:
        return event satisfies never;
    }
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  #flush(): void {
    for (const piece of this.#live.flush()) this.#options.onEvent(this.#clean(piece));
  }

  #clean<T>(value: T): T {
    return mapStrings(value, (text) => wellFormed(this.#options.secrets.mask(text))) as T;
  }
}
