import { EXIT } from "../core/errors.ts";
import { visibleLine } from "../core/visible.ts";
import { buildImages, listBuilt } from "../session/maintenance.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import type { Io } from "./io.ts";
import { tableLines } from "./table.ts";
import { watched } from "./watch.ts";
import { ageWords, sizeWords } from "./words.ts";

/** `glovebox image build`. */
export function buildCommand(io: Io): Promise<number> {
  return watched(io, async ({ out, screen, view, interruption }) => {
    screen.begin("looking at the images");
    const { base, runtime } = await buildImages(surroundingsOf(io.env, io.secrets, io), {
      onProgress: (words) => view.progress(words),
      signal: interruption.signal,
    });
    screen.end();
    out.line(`base image      ${base.ref}`);
    out.line(`runtime volume  ${runtime.volume}`);
    return EXIT.completed;
  });
}

/** `glovebox image list`. */
export function imagesCommand(flags: { json?: boolean }, io: Io): Promise<number> {
  return watched(io, async ({ out }) => {
    const built = await listBuilt(surroundingsOf(io.env, io.secrets, io));
    if (flags.json) {
      const items = built.map(({ type, kind, name, isCurrent, createdMs, sizeBytes }) => ({
        ...{ type, kind, name, current: isCurrent },
        created_at: new Date(createdMs).toISOString(),
        size_bytes: sizeBytes ?? null,
      }));
      out.line(JSON.stringify({ version: 1, items }));
      return EXIT.completed;
    }
    if (built.length === 0) out.line("nothing has been built; `glovebox image build` does");
    else for (const line of tableLines(HEAD, built.map(rowOf))) out.line(line);
    return EXIT.completed;
  });
}

const HEAD = ["NAME", "KIND", "CURRENT", "SIZE", "AGE"];

function rowOf({ type, kind, name, isCurrent, createdMs, sizeBytes }: Awaited<ReturnType<typeof listBuilt>>[number]) {
  return [
    visibleLine(name),
    `${visibleLine(kind)} ${type}`,
    isCurrent ? "yes" : "no",
    sizeBytes === undefined ? "-" : sizeWords(sizeBytes),
    ageWords(Date.now() - createdMs),
  ];
}
