import { EXIT } from "../core/errors.ts";
import { visibleLine } from "../core/visible.ts";
import { collectGarbage } from "../session/maintenance.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import { quarantineWords } from "./guard-words.ts";
import type { Io } from "./io.ts";
import { watched } from "./watch.ts";

/** `glovebox gc`: 1 when something could not be removed. */
export function gcCommand(flags: { json?: boolean }, io: Io): Promise<number> {
  return watched(io, async ({ out, screen, interruption: { signal } }) => {
    screen.begin("looking for leftovers");
    const options = { onProgress: (words: string) => screen.rename(words), signal };
    const { removed, moved, problems } = await collectGarbage(surroundingsOf(io.env, io.secrets, io), options);
    screen.end();
    const exitCode = problems.length > 0 ? EXIT.failed : EXIT.completed;
    if (flags.json) {
      const items = removed.map(({ kind, name, session }) => ({ kind, name, session: session ?? null }));
      out.line(JSON.stringify({ version: 1, removed: items, moved, problems }));
      return exitCode;
    }
    if (removed.length + moved.length + problems.length === 0) out.line("nothing to remove");
    for (const { kind, name, session } of removed) {
      out.line(`removed ${kind} ${visibleLine(name)}${session ? ` (session ${visibleLine(session)})` : ""}`);
    }
    for (const item of moved) out.line(`session ${visibleLine(item.session)}: ${quarantineWords(item)}`);
    for (const problem of problems) screen.line(`glovebox: ${visibleLine(problem)}`);
    return exitCode;
  });
}
