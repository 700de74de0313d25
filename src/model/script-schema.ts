import * as z from "zod";

const texts = z.union([z.string(), z.array(z.string()).min(1)], { error: "expected a text or a list of texts" });
const tokens = z.int().nonnegative().default(0);

const pattern = z.string().superRefine((source, context) => {
  try {
    new RegExp(source, "mu");
  } catch (thrown) {
    const reason = thrown instanceof Error ? thrown.message : "not a regular expression";
    context.addIssue({ code: "custom", message: reason });
  }
});

const expectation = z.strictObject({
  /** The result the request ends with: of the last call of the turn before. */
  last_result: z
    .strictObject({
      contains: texts.optional(),
      not_contains: texts.optional(),
      /** A regular expression; `^` and `$` match at lines. */
      matches: pattern.optional(),
      status: z.enum(["ok", "error"]).optional(),
    })
    .refine((wanted) => Object.keys(wanted).length > 0, "expected `contains`, `not_contains`, `matches` or `status`"),
});

/** One tool with its arguments; the names are not checked, so that a script can call what does not exist. */
const call = z
  .record(z.string(), z.unknown())
  .refine((entry) => Object.keys(entry).filter((key) => key !== "raw").length === 1, {
    error: "expected one tool and its arguments, such as `bash: { command: ls }`",
  })
  .refine((entry) => !("raw" in entry) || typeof entry["raw"] === "string", "`raw` is the text of the arguments");

const scriptItem = z
  .strictObject({
    text: z.string().optional(),
    calls: z.array(call).optional(),
    /** Checked before the item is played. */
    expect: expectation.optional(),
    usage: z
      .strictObject({ input: tokens, output: tokens, reasoning: tokens, cache_read: tokens, cache_write: tokens })
      .optional(),
    stop: z.enum(["stop", "tool_use", "length", "refusal"]).optional(),
    delay_ms: z.number().nonnegative().max(3_600_000).optional(),
    /** The text of the arguments of the item's only call, sent as it is: it need not be JSON. */
    raw: z.string().optional(),
    error: z.strictObject({ status: z.int().min(300).max(599), body: z.unknown().optional() }).optional(),
  })
  .refine((item) => item.raw === undefined || item.calls?.length === 1, "`raw` needs exactly one call")
  .refine(
    (item) => !item.error || [item.text, item.calls, item.usage, item.stop].every((key) => key === undefined),
    "an item with `error` answers nothing else",
  );

export const scriptSchema = z.array(scriptItem, { error: "expected a list of items, each beginning with `- `" });

export type ScriptItem = z.infer<typeof scriptItem>;
export type Expectation = z.infer<typeof expectation>;

/** Every key that has a meaning in a script, for naming the nearest of a typo. */
export const SCRIPT_KEYS = [
  ...Object.keys(scriptItem.shape),
  ...["last_result", "contains", "not_contains", "matches", "status", "body"],
  ...["input", "output", "reasoning", "cache_read", "cache_write"],
];
