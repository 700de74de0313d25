import { readdirSync } from "node:fs";
import { join } from "node:path";
import { discard, ensureFolder, sizeOf, tryTo } from "./state-folder.ts";

/** Output files of this many full ones may stand at a time; older ones go first. */
const FULL_FILES = 4;

/** The folder where whole outputs are kept. Numbered on, so that a restarted tool host overwrites nothing. */
export class OutputFolder {
  readonly #state: string;
  readonly #folder: string;
  readonly #maxFileBytes: number;
  #last: number;

  constructor(state: string, maxFileBytes: number) {
    this.#state = state;
    this.#folder = join(state, "outputs");
    tryTo(() => ensureFolder(state, this.#folder));
    this.#maxFileBytes = maxFileBytes;
    this.#last = Math.max(0, ...this.#numbers());
  }

  /** The path of a file that does not exist yet; makes room for it. */
  nextPath(): string {
    ensureFolder(this.#state, this.#folder);
    let room = (FULL_FILES - 1) * this.#maxFileBytes;
    for (const number of this.#numbers().sort((a, b) => b - a)) {
      room -= sizeOf(this.#path(number));
      if (room < 0) discard(this.#path(number));
    }
    this.#last++;
    return this.#path(this.#last);
  }

  /** Removes all kept outputs. */
  clear(): void {
    ensureFolder(this.#state, this.#folder);
    for (const number of this.#numbers()) discard(this.#path(number));
  }

  #path(number: number): string {
    return join(this.#folder, `${number}.txt`);
  }

  #numbers(): number[] {
    let names: string[] = [];
    tryTo(() => {
      names = readdirSync(this.#folder);
    });
    return names.flatMap((name) => /^(\d+)\.txt$/.exec(name)?.[1] ?? []).map(Number);
  }
}
