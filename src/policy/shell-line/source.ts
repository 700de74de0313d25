/** The longest text that is read, in characters; a longer one is unparsed. */
export const MAX_CHARS = 64 * 1024;
/** How deep constructs may be nested. */
const MAX_DEPTH = 40;
/** Characters read in all: the text of `eval` or `bash -c` is read again, and so is what is inside that. */
const MAX_READ = 4 * MAX_CHARS;
const MAX_COMMANDS = 5_000;

/** The text is not understood from here on. Never leaves this folder. */
export class Unparsed extends Error {}

/** Bounds the work on one text, however it is written. */
export class Budget {
  #depth = 0;
  #chars = 0;
  #commands = 0;

  nest<T>(work: () => T): T {
    if (++this.#depth > MAX_DEPTH) throw new Unparsed("it is nested too deep");
    try {
      return work();
    } finally {
      this.#depth--;
    }
  }

  read(text: string): void {
    this.#chars += text.length;
    if (text.length > MAX_CHARS || this.#chars > MAX_READ) throw new Unparsed("it is too long");
  }

  count(): void {
    if (++this.#commands > MAX_COMMANDS) throw new Unparsed("it has too many commands");
  }
}

/** A text and how far it has been read. */
export class Source {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  get isAtEnd(): boolean {
    return this.at >= this.text.length;
  }

  /** One character, or nothing beyond the end. */
  peek(offset = 0): string {
    return this.text[this.at + offset] ?? "";
  }

  startsWith(text: string): boolean {
    return this.text.startsWith(text, this.at);
  }

  eat(text: string): boolean {
    if (!this.startsWith(text)) return false;
    this.at += text.length;
    return true;
  }

  /** What a sticky pattern matches here, without taking it. */
  match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at;
    return pattern.exec(this.text)?.[0];
  }

  take(pattern: RegExp): string | undefined {
    const found = this.match(pattern);
    this.at += found?.length ?? 0;
    return found;
  }

  skipBlanks(): void {
    this.take(BLANKS);
  }
}

/** A newline behind a backslash is no newline. */
const BLANKS = /(?:[ \t]|\\\n)+/y;
