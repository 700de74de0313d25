import * as z from "zod";

const text = z.string();
const Mark = z.strictObject({
  version: z.literal(1),
  root: text,
  folder: z.strictObject({ dev: text, ino: text, born: text }),
  owner: z.strictObject({ machine: text, namespace: text, pid: z.int(), startedAt: text }),
  guarded: z.array(z.strictObject({ path: text, rule: text, until: z.enum(["call", "end"]) })),
  protected: z.array(text),
});

/** What a session that dies leaves to be looked for. `folder`: which one `root` was. `protected`: what was there at its start. */
export type GuardMark = z.infer<typeof Mark>;

/** @throws what is wrong with it. */
export function parseMark(json: string): GuardMark {
  return Mark.parse(JSON.parse(json));
}
