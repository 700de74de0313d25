import { type Found, Grammar } from "./grammar.ts";
import { type Inside, insideOf } from "./look-through.ts";
import { type Argv, isKnown, programName, type ShellLine, SPLIT, UNKNOWN } from "./shell-line.ts";
import { Budget, Unparsed } from "./source.ts";

/** What a shell would run for `text`; pure, never throws, and takes a time in proportion to the length at most. */
export function analyse(text: string): ShellLine {
  const analysis = new Analysis();
  if (!isKnown(text)) analysis.unparsed = "it has characters that no command has";
  const plain = analysis.read(text);
  const { commands, unparsed } = analysis;
  return { commands, plain: unparsed === undefined ? plain : undefined, unparsed };
}

class Analysis {
  readonly commands: Argv[] = [];
  unparsed: string | undefined;
  readonly #budget = new Budget();

  /** The words of the text if it is one plain command. */
  read(text: string): Argv | undefined {
    const found: Found[] = [];
    let isCompound = true;
    this.#attempt(() => {
      const grammar = new Grammar(text, { budget: this.#budget, found });
      grammar.readAll();
      isCompound = grammar.isCompound;
    });
    for (const { words, input } of found) this.#attempt(() => this.#add(words, input));
    const [only] = found;
    const isPlain = !isCompound && found.length === 1 && this.commands.length === 1;
    return isPlain && only?.words.every(isKnown) ? only.words : undefined;
  }

  /** One part that is not understood does not keep the others from being found. */
  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!(error instanceof Unparsed)) throw error;
      this.unparsed ??= error.message;
    }
  }

  #add(words: Argv, input: readonly string[]): void {
    const [program = "", ...args] = words;
    const name = programName(program);
    if (program.includes(SPLIT) || !isKnown(name) || program.startsWith("-")) this.commands.push(UNKNOWN);
    if (isKnown(name)) this.commands.push([name, ...args]);
    if (name.startsWith("git-")) return this.#add(["git", name.slice("git-".length), ...args], input);
    for (const inside of insideOf(words, input)) this.#budget.nest(() => this.#look(inside, input));
  }

  #look(inside: Inside, input: readonly string[]): void {
    this.#budget.count();
    switch (inside.type) {
      case "command":
        return this.#add(inside.argv, input);
      case "code":
        if (!isKnown(inside.text)) this.commands.push(UNKNOWN);
        this.read(inside.text);
        return;
      case "unknown":
        this.commands.push(UNKNOWN);
        return;
      default:
        return inside satisfies never;
    }
  }
}
