import type { ChoiceName, Layer, NumberName } from "./layer.ts";

/** A rule that nothing enforces yet: a run with it would promise what it does not keep. */
export type Unenforced = { key: string; rule: string };

/** Choices by the values that are not built. */
const CHOICES: Partial<Record<ChoiceName, readonly string[]>> = {
  "workspace.mode": ["copy"],
  "workspace.git": ["private"],
  "workspace.cache": ["true"],
};
const NUMBERS: readonly NumberName[] = ["limits.tokens", "limits.usd", "limits.same_error"];

/** Every key with something that is not enforced yet, as `key` or `key: value`; shrinks as they are built. */
export const UNENFORCED_KEYS: readonly string[] = [
  ...Object.entries(CHOICES).flatMap(([key, values]) => values.map((value) => `${key}: ${value}`)),
  ...NUMBERS,
];

/** The rules of a layer that nothing enforces yet. */
export function unenforcedIn({ choices, numbers }: Layer): Unenforced[] {
  const found: { key: string; rule: string | undefined }[] = [
    ...Object.entries(CHOICES).flatMap(([key, values]) => {
      const choice = choices[key as ChoiceName];
      return choice && values.includes(choice.value) ? [{ key: `${key}: ${choice.value}`, rule: choice.rule }] : [];
    }),
    ...NUMBERS.map((key) => ({ key, rule: numbers[key]?.rule })),
  ];
  return found.flatMap(({ key, rule }) => (rule === undefined ? [] : [{ key, rule }]));
}
