import type * as z from "zod";
import type { Effect } from "../core/effects.ts";

/**
 * What a tool promises, without how it is done. The description and the parameters' descriptions are what the model
 * reads, and every word of them is paid for in each request.
 */
export type ToolContract<Name extends string = string, Shape extends z.ZodObject = z.ZodObject> = {
  name: Name;
  description: string;
  /** Strict: an unknown parameter is an error that names the allowed ones. */
  parameters: Shape;
  /** Turns an older or looser shape of the arguments into the present one, before validation. */
  prepare?: (raw: Record<string, unknown>) => Record<string, unknown>;
  effects: (args: z.infer<Shape>) => Effect[];
  /** The arguments with what they say of time cut to `seconds`; absent where they say nothing. */
  within?: (args: z.infer<Shape>, seconds: number) => z.infer<Shape>;
  /** `safe`: reads only, so a call found unfinished after a crash may be run again. */
  replay: "safe" | "never";
  /** How long the controller waits beyond which the call is lost; the tool's own limit is inside. */
  deadlineMs: (args: z.infer<Shape>) => number;
};

export function defineTool<const Name extends string, Shape extends z.ZodObject>(
  contract: ToolContract<Name, Shape>,
): ToolContract<Name, Shape> {
  return contract;
}

/** Limits on what a tool shows the model: 2,000 lines or 50 KiB, whichever comes first. */
export const OUTPUT_LIMITS = { maxLines: 2000, maxBytes: 50 * 1024 } as const;

/**
 * The same for a command's output, of which a policy says the bytes. More of them are more lines in the same proportion;
 * fewer are not fewer lines, since lines that fit harm nobody.
 */
export function outputLimits(maxBytes: number): { maxLines: number; maxBytes: number } {
  const times = Math.max(1, maxBytes / OUTPUT_LIMITS.maxBytes);
  return { maxLines: Math.round(OUTPUT_LIMITS.maxLines * times), maxBytes };
}

/** Time a tool without a limit of its own may take. */
export const FILE_TOOL_DEADLINE_MS = 60_000;
