import { GloveboxError } from "../core/errors.ts";

/** What commander says of a command line it cannot read, as an error in our words. */
export function usageFailure(message: string, command: string): GloveboxError {
  const [first = "", ...rest] = message
    .replace(/^error: /, "")
    .trim()
    .split("\n");
  const suggestion = /\(Did you mean (?:one of )?(.+?)\?\)/.exec(rest.join(" "))?.[1];
  const help = `\`${command} --help\` lists what there is`;
  return new GloveboxError("USAGE", sentenceOf(first), {
    hint: suggestion ? `Did you mean ${quoteEach(suggestion)}? ${help}` : help,
  });
}

function sentenceOf(text: string): string {
  const quoted = text.replace(/'([^']*)'/g, "`$1`").replace(/\.$/, "");
  return quoted.charAt(0).toUpperCase() + quoted.slice(1);
}

function quoteEach(list: string): string {
  return list
    .split(", ")
    .map((item) => `\`${item}\``)
    .join(", ");
}
