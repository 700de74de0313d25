import { mkdirSync, readdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";

/** Output files of this many full ones may stand at a time; older ones go first. */
const FULL_FILES = 4;

/** The folder where whole outputs are kept. Numbered on, so that a restarted tool host overwrites nothing. */
export class OutputFolder {
  readonly #folder: string;
  readonly #maxFileBytes: number;
  #last: number;

  constructor(folder: string, maxFileBytes: number) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    this.#folder = folder;
    this.#maxFileBytes = maxFileBytes;
    this.#last = Math.max(0, ...this.#numbers());
  }

  /** The path of a file that does not exist yet; makes room for it. */
  nextPath(): string {
    let room = (FULL_FILES - 1) * this.#maxFileBytes;
    for (const number of this.#numbers().sort((a, b) => b - a)) {
      room -= sizeOf(this.#path(number));
      if (room < 0) rmSync(this.#path(number), { force: true });
    }
    this.#last++;
    return this.#path(this.#last);
  }

  /** Removes all kept outputs. */
  clear(): void {
    for (const number of this.#numbers()) rmSync(this.#path(number), { force: true });
  }

  #path(number: number): string {
    return join(this.#folder, `${number}.txt`);
  }

  #numbers(): number[] {
    return readdirSync(this.#folder)
      .flatMap((name) => /^(\d+)\.txt$/.exec(name)?.[1] ?? [])
      .map(Number);
  }
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    return 0;
  }
}
