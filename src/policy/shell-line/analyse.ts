import { type Found, Grammar } from "./grammar.ts";
import { type Inside, insideOf } from "./look-through.ts";
import { type Argv, HOLE, isKnown, programName, type ShellLine, SPLIT, UNKNOWN } from "./shell-line.ts";
import { Budget, Unparsed } from "./source.ts";

/** What a shell would run for `text`; pure, never throws, and takes a time in proportion to the length at most. */
export function analyse(text: string): ShellLine {
  const analysis = new Analysis();
  try {
    if (text.includes(HOLE) || text.includes(SPLIT)) throw new Unparsed("it has characters that no command has");
    const plain = analysis.read(text);
    return { commands: analysis.commands, plain, unparsed: undefined };
  } catch (error) {
    if (!(error instanceof Unparsed)) throw error;
    return { commands: analysis.commands, plain: undefined, unparsed: error.message };
  }
}

class Analysis {
  readonly commands: Argv[] = [];
  readonly #budget = new Budget();

  /** The words of the text if it is one plain command. */
  read(text: string): Argv | undefined {
    const found: Found[] = [];
    const grammar = new Grammar(text, { budget: this.#budget, found });
    try {
      grammar.readAll();
    } finally {
      for (const { words, input } of found) this.#add(words, input);
    }
    const [only] = found;
    const isPlain = found.length === 1 && this.commands.length === 1 && !grammar.isCompound;
    return isPlain && only?.words.every(isKnown) ? only.words : undefined;
  }

  #add(words: Argv, input: readonly string[]): void {
    const [program = "", ...args] = words;
    const name = programName(program);
    if (!isKnown(program)) this.commands.push(UNKNOWN);
    if (isKnown(name)) this.commands.push([name, ...args]);
    for (const inside of insideOf(words, input)) this.#budget.nest(() => this.#look(inside));
  }

  #look(inside: Inside): void {
    this.#budget.count();
    switch (inside.type) {
      case "command":
        return this.#add(inside.argv, []);
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
