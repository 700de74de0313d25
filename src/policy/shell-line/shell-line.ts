/** The words of a command, the program first. A word may have holes. */
export type Argv = readonly string[];

/** Stands in a word for what is known only when it runs and stays within that word: `"$x"`. */
export const HOLE = "\0";

/** Stands in a word for what may become several words, or none: `$x`, `*.c`. */
export const SPLIT = "\uffff";

/** A command of which nothing is known. */
export const UNKNOWN: Argv = [SPLIT];

/** What a shell would do with a text, as far as it can be known without running it. */
export type ShellLine = {
  /**
   * Every simple command that may run, wherever it stands, the program without its folder. A wrapper is there itself
   * and with what it runs: `sudo git push` is also `git push`.
   */
  commands: readonly Argv[];
  /** The words, as they are, of a text that is one command of literal words and nothing else. */
  plain: Argv | undefined;
  /** Why the text is not understood to its end; `commands` has what was found before. */
  unparsed: string | undefined;
};

export function isKnown(word: string): boolean {
  return !word.includes(HOLE) && !word.includes(SPLIT);
}

/** The name of a program without its folder. */
export function programName(word: string): string {
  return word.slice(word.lastIndexOf("/") + 1);
}
