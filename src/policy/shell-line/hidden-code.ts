import { type Argv, isKnown } from "./shell-line.ts";

/** Literal text that runs commands when it is expanded once more, as arithmetic and subscripts are. */
const EXPANDS_AGAIN = /\$\(|`/;
/** Variables whose value is code, or names a file of it. */
const CODE_VARIABLE =
  /^(?:PROMPT_COMMAND|BASH_ENV|BASH_ALIASES|BASH_CMDS|BASH_FUNC_[^=]*|GIT_CONFIG_(?:COUNT|PARAMETERS|KEY_\d+))(?:\+?=|\[|$)/;
const EXPANDED_VARIABLE = /^(?:ENV|PS\d)\+?=[\s\S]*(?:[$`\0\uffff]|stdin|\/fd|\/proc)/;
const EXPANDED_NAME = /^(?:-v)?(?:ENV|PS\d)$/;

/** Whether bash might run what stands in a literal word, in a place where words are expanded again. */
export function expandsAgain(text: string): boolean {
  return EXPANDS_AGAIN.test(text);
}

/** Whether `NAME=value` may make later commands of its value. */
export function assignsCode(word: string): boolean {
  return CODE_VARIABLE.test(word) || EXPANDED_VARIABLE.test(word) || expandsAgain(word);
}

/** Whether a value given to this variable may be code. */
export function isCodeVariable(name: string): boolean {
  return CODE_VARIABLE.test(name) || EXPANDED_NAME.test(name);
}

const EVALUATING: ReadonlySet<string> = new Set(
  "declare typeset local export readonly let test [ read unset getopts wait set mapfile readarray".split(" "),
);
const CODE_OPTIONS: Readonly<Record<string, RegExp>> = {
  hash: /^-\w*p/,
  enable: /^-\w*f/,
  compgen: /^-\w*[CFW]/,
  mapfile: /^-\w*C/,
  readarray: /^-\w*C/,
};

/** Whether a builtin defines or runs code that is not seen. */
export function hidesCode(name: string, args: Argv, input: readonly string[]): boolean {
  if (name === "alias") return args.some((word) => word.includes("=") || !isKnown(word));
  const option = Object.hasOwn(CODE_OPTIONS, name) ? CODE_OPTIONS[name] : undefined;
  if (option && args.some((word) => option.test(word))) return true;
  const evaluates = EVALUATING.has(name) || (name === "printf" && args[0]?.startsWith("-v"));
  return (
    evaluates === true && (args.some((word) => assignsCode(word) || isCodeVariable(word)) || input.some(expandsAgain))
  );
}
