import * as z from "zod";
import { GloveboxError, messageOf } from "../core/errors.ts";
import type { Quarantined } from "../core/quarantine.ts";

/** What stands beside an archive. Files are hostile: what is shown of one is checked here. */
export const keptShape = {
  path: z.string(),
  rule: z.string(),
  kind: z.enum(["appeared", "git", "before", "after"]),
  entries: z.int().min(0),
  cut: z.array(z.string()),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  bytes: z.int().min(0),
};

const Kept = z.object(keptShape);

/** @throws GloveboxError `SESSION_CORRUPT`. */
export function parseKept(file: string, text: string): Quarantined {
  try {
    return Kept.parse(JSON.parse(text));
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : messageOf(error);
    throw new GloveboxError("SESSION_CORRUPT", `\`${file}\` does not describe an archive: ${why}`, {
      hint: "The file was changed or damaged after it was written; it has been left as it is",
    });
  }
}
