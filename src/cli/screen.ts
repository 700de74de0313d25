import { tailChars } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { clipToWidth } from "./cells.ts";
import type { OutputStream } from "./io.ts";
import type { Paint } from "./paint.ts";
import type { Printer } from "./printer.ts";
import { durationWords } from "./words.ts";

/** Nothing that ends sooner is announced. */
const QUIET_MS = 1000;
const FRAME_MS = 120;
const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/** Lines of a running command's output that are on the screen at a time. */
const TAIL_LINES = 3;
/** A line that never ends is kept up to here. */
const TAIL_CHARS = 2000;

export type ScreenOptions = { out: Printer; err: OutputStream; paint: Paint };

/**
 * The person's view: words on stdout, lines on stderr and, where stderr is a terminal, a block at its end that says what
 * takes long and shows the end of its output. All text given to it must be harmless but {@link output}'s.
 */
export class Screen {
  readonly #options: ScreenOptions;
  #activity: { label: string; since: number } | undefined;
  #tail = "";
  #drawn = 0;
  #isMuted = false;
  /** What came while a question stood on the screen. */
  #held: (() => void)[] | undefined;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: ScreenOptions) {
    this.#options = options;
  }

  /** Columns of stderr; generous where it is no terminal. */
  get columns(): number {
    return this.isTerminal ? Math.max(20, this.#options.err.columns || 80) : 160;
  }

  get isTerminal(): boolean {
    return this.#options.err.isTTY === true;
  }

  /**
   * Keeps everything back until what it returns is called: a person is typing. What was under way is shown again then,
   * unless it has ended.
   */
  hold(): () => void {
    const activity = this.#activity;
    this.#stop();
    this.#held = activity ? [() => this.#show(activity)] : [];
    return () => {
      const held = this.#held ?? [];
      this.#held = undefined;
      for (const act of held) act();
    };
  }

  /** Writes a line to stderr although everything is held back: the question's own. */
  ask(text: string): void {
    if (!this.#isMuted) this.#write(text);
  }

  /** Writes to stdout. */
  words(text: string): void {
    if (this.#isHeld(() => this.words(text))) return;
    this.#stop();
    this.#options.out.write(text);
  }

  /** Ends a line of stdout that was begun. */
  endWords(): void {
    if (this.#isHeld(() => this.endWords())) return;
    if (!this.#options.out.atLineStart) this.words("\n");
  }

  /** Nothing more is shown: whoever read the output has gone. */
  mute(): void {
    this.end();
    this.#isMuted = true;
  }

  /** Writes a line to stderr. */
  line(text: string): void {
    if (this.#isMuted || this.#isHeld(() => this.line(text))) return;
    this.#write(text);
  }

  /** Something begins that may take long; ends what was under way. */
  begin(label: string): void {
    const activity = { label, since: performance.now() };
    if (this.#isHeld(() => this.#show(activity))) return;
    this.#show(activity);
  }

  #show(activity: { label: string; since: number }): void {
    this.#stop();
    this.#activity = activity;
    if (!this.isTerminal || this.#isMuted) return;
    this.#timer = setInterval(() => this.#draw(), FRAME_MS);
    this.#timer.unref();
  }

  /** The same goes on under another name. */
  rename(label: string): void {
    if (this.#isHeld(() => this.rename(label))) return;
    if (this.#activity) this.#activity.label = label;
    else this.begin(label);
  }

  /** Raw text that what is under way has printed. */
  output(text: string): void {
    if (!this.isTerminal) return;
    this.#tail = tailChars(this.#tail + text, TAIL_CHARS);
  }

  end(): void {
    if (this.#isHeld(() => this.end())) return;
    this.#stop();
  }

  #isHeld(act: () => void): boolean {
    this.#held?.push(act);
    return this.#held !== undefined;
  }

  #write(text: string): void {
    this.#erase();
    const { out, err } = this.#options;
    if (out.isTerminal && this.isTerminal && !out.atLineStart) out.write("\n");
    err.write(`${text}\n`);
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#erase();
    this.#activity = undefined;
    this.#tail = "";
  }

  #draw(): void {
    const activity = this.#activity;
    const { out, err } = this.#options;
    if (!activity || !(out.atLineStart || !out.isTerminal)) return;
    const elapsed = performance.now() - activity.since;
    if (elapsed < QUIET_MS) return;
    this.#erase();
    const lines = [...this.#tailLines(), this.#statusLine(activity.label, elapsed)];
    err.write(lines.join("\n"));
    this.#drawn = lines.length;
  }

  #statusLine(label: string, elapsedMs: number): string {
    const { paint } = this.#options;
    const frame = FRAMES[this.#frame++ % FRAMES.length] ?? "";
    const time = durationWords(Math.floor(elapsedMs / 1000) * 1000);
    return `${paint("cyan", frame)} ${clipToWidth(label, this.columns - time.length - 5)}  ${paint("dim", time)}`;
  }

  #tailLines(): string[] {
    const { paint } = this.#options;
    const lines = this.#tail.split(/\r?\n|\r/).filter((line) => line.trim() !== "");
    return lines
      .slice(-TAIL_LINES)
      .map((line) => paint("dim", `  ${clipToWidth(visibleLine(line), this.columns - 3)}`));
  }

  #erase(): void {
    if (this.#drawn === 0) return;
    this.#options.err.write(`\r\x1b[2K${"\x1b[1A\x1b[2K".repeat(this.#drawn - 1)}`);
    this.#drawn = 0;
  }
}
