import { EXIT } from "../core/errors.ts";
import { visibleLine } from "../core/visible.ts";
import { collectGarbage } from "../session/maintenance.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import type { Io } from "./io.ts";
import { watched } from "./watch.ts";

/** `glovebox gc`: 1 when something could not be removed. */
export function gcCommand(flags: { json?: boolean }, io: Io): Promise<number> {
  return watched(io, async ({ out, screen }) => {
    screen.begin("looking for leftovers");
    const { removed, problems } = await collectGarbage(surroundingsOf(io.env, io.secrets, io));
    screen.end();
    const exitCode = problems.length > 0 ? EXIT.failed : EXIT.completed;
    if (flags.json) {
      const items = removed.map(({ kind, name, session }) => ({ kind, name, session: session ?? null }));
      out.line(JSON.stringify({ version: 1, removed: items, problems }));
      return exitCode;
    }
    if (removed.length === 0 && problems.length === 0) out.line("nothing to remove");
    for (const { kind, name, session } of removed) {
      out.line(`removed ${kind} ${visibleLine(name)}${session ? ` (session ${visibleLine(session)})` : ""}`);
    }
    for (const problem of problems) screen.line(`glovebox: could not remove ${visibleLine(problem)}`);
    return exitCode;
  });
}
