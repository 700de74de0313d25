import type { Effect } from "../core/effects.ts";

/** What a person's "always" covers, for this session: a tool and, for commands, the first words of a plain one. */
export type Grant = { key: string; words: string };

/**
 * The grant that would cover a call. A command with an operator, a quote, a redirection or a substitution is covered
 * by its whole text only, so that no grant reaches further than what was shown.
 */
export function grantFor(tool: string, effects: readonly Effect[]): Grant {
  const command = effects.find((effect) => effect.kind === "exec")?.command;
  if (command === undefined) return { key: JSON.stringify([tool]), words: `every \`${tool}\` call` };
  const prefix = plainPrefix(command);
  if (!prefix) return { key: JSON.stringify([tool, "text", command]), words: "exactly this command" };
  return {
    key: JSON.stringify([tool, "prefix", ...prefix]),
    words: `commands that begin with \`${prefix.join(" ")}\``,
  };
}

/** Program and subcommand (`git push`), or the program alone when an option follows it. */
function plainPrefix(command: string): string[] | undefined {
  if (!/^[ \t]*[\w./-]+(?:[ \t]+[\w./:=@%+,-]+)*[ \t]*$/.test(command)) return undefined;
  const [program, second] = command.trim().split(/[ \t]+/);
  if (!program || program.includes("=")) return undefined;
  return second && !second.startsWith("-") ? [program, second] : [program];
}
