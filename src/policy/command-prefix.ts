/** Why `text` is no beginning of a command, in words that say what is expected; undefined when it is one. */
export function prefixProblem(text: string): string | undefined {
  const words = wordsOf(text);
  if (words.length === 0) return "is empty; expected the first words of a command";
  if (words[0]?.includes("=")) return "begins with a variable; expected the first words of a command";
  return words.every((word) => LITERAL.test(word))
    ? undefined
    : "is more than words; expected the first words of one command, such as `git push`";
}

/** A word that no shell makes anything else of. */
const LITERAL = /^[^\\'"`$*?[\]{}()<>|;&#!~\p{C}]+$/u;

/** The words of a prefix in their one form, `git push`. */
export function normalPrefix(text: string): string {
  return wordsOf(text).join(" ");
}

/** Whether every command that begins with `prefix` begins with `outer`; both normal. */
export function isPrefixWithin(prefix: string, outer: string): boolean {
  return prefix === outer || prefix.startsWith(`${outer} `);
}

function wordsOf(text: string): string[] {
  return text.split(/[ \t]+/).filter((word) => word !== "");
}
