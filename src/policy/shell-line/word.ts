/** A word as it will be when quotes are gone; expansions are holes. */
export type Word = {
  text: string;
  /** Characters at its beginning that nothing quotes. */
  bare: number;
  isQuoted: boolean;
};

/** Adds what nothing quotes. */
export function addBare(word: Word, text: string): true {
  if (!word.isQuoted) word.bare += text.length;
  word.text += text;
  return true;
}

/** Adds what is quoted, if only nothing. */
export function addQuoted(word: Word, text: string): true {
  word.isQuoted = true;
  word.text += text;
  return true;
}
