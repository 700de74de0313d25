import { GloveboxError } from "../core/errors.ts";
import { nearest } from "../core/nearest.ts";
import { clip } from "../core/truncate.ts";

export type NumberRange = { min: number; max: number; whole: boolean };

/** The number an option was given. @throws GloveboxError `USAGE` for anything but plain digits within the range. */
export function parseNumber(option: string, text: string, { min, max, whole }: NumberRange): number {
  const shape = whole ? /^\d+$/ : /^\d+(\.\d+)?$/;
  const value = shape.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw new GloveboxError(
    "USAGE",
    `\`${option}\` is \`${clip(text, 60)}\`, which is not ${rangeWords({ min, max, whole })}`,
    {
      hint: `Such as \`${option} ${Math.min(max, Math.max(min, 20))}\``,
    },
  );
}

function rangeWords({ min, max, whole }: NumberRange): string {
  return `a ${whole ? "whole number" : "number"} from ${min} to ${max}`;
}

/** One of a few words. @throws GloveboxError `USAGE` that names them and the nearest. */
export function parseWord<const Word extends string>(option: string, text: string, words: readonly Word[]): Word {
  const found = words.find((word) => word === text);
  if (found !== undefined) return found;
  const close = nearest(text, words);
  throw new GloveboxError("USAGE", `\`${option}\` is \`${clip(text, 60)}\`, expected ${listWords(words)}`, {
    ...(close !== undefined && { hint: `Did you mean \`${option} ${close}\`?` }),
  });
}

function listWords(words: readonly string[]): string {
  const quoted = words.map((word) => `\`${word}\``);
  return `${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
}
