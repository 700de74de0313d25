import type { Effect } from "../core/effects.ts";
import { analyse } from "../policy/shell-line/analyse.ts";

/** What a person's "always" covers, for this session: a tool and, for commands, the first words of a plain one. */
export type Grant = { key: string; words: string };

/**
 * The grant that would cover a call; undefined for a command that is more than one plain command: no "always" reaches
 * beyond what was shown. A program and its subcommand cover what follows them; where no subcommand follows, an option
 * could make anything of the program, so that exactly these words are covered.
 */
export function grantFor(tool: string, effects: readonly Effect[]): Grant | undefined {
  const command = effects.find((effect) => effect.kind === "exec")?.command;
  if (command === undefined) return { key: JSON.stringify([tool]), words: `every \`${tool}\` call` };
  const { plain } = analyse(command);
  if (!plain) return undefined;
  const [program = "", subcommand = ""] = plain;
  return NAME.test(program) && NAME.test(subcommand)
    ? {
        key: JSON.stringify([tool, "prefix", program, subcommand]),
        words: `commands that begin with \`${program} ${subcommand}\``,
      }
    : { key: JSON.stringify([tool, "exact", ...plain]), words: "exactly this command" };
}

const NAME = /^[\w./@%+,:][\w./@%+,:=-]*$/;
