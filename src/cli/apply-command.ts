import { EXIT, GloveboxError } from "../core/errors.ts";
import { visible, visibleLine } from "../core/visible.ts";
import { bringBack, itemAt, type KeptBySession, keptBy } from "../session/apply.ts";
import { type ArchiveEntry, readEntries } from "../session/archive.ts";
import { type KeptItem, openArchive } from "../session/quarantine.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import { quarantineWords } from "./guard-words.ts";
import type { Io } from "./io.ts";
import { tableLines } from "./table.ts";
import { askLine, hasPerson } from "./terminal-line.ts";
import { type Watch, watched } from "./watch.ts";
import { countWords, sizeWords } from "./words.ts";

export type ApplyFlags = { yes?: boolean; json?: boolean; sha256?: string; build: boolean };

/** `glovebox apply ID [PATH]`: lists what a session has kept, or shows one path and brings it back on a yes. */
export function applyCommand([word, path]: [string, string | undefined], flags: ApplyFlags, io: Io): Promise<number> {
  return watched(io, async (watch) => {
    const surroundings = surroundingsOf(io.env, io.secrets, io);
    const kept = await keptBy(word, surroundings);
    if (path === undefined) return list(kept, flags, watch);
    const item = itemAt(kept, path, flags.sha256);
    for (const line of await itemLines(item)) watch.out.line(line);
    if (!(flags.yes || (await isAccepted(kept, watch, io)))) {
      watch.screen.line("Not brought back; nothing was changed");
      return EXIT.failed;
    }
    watch.screen.begin("bringing it back");
    const { view, interruption } = watch;
    const options = {
      build: flags.build,
      onProgress: (words: string) => view.progress(words),
      onReaped: (reaped: Parameters<typeof view.reaped>[0]) => view.reaped(reaped),
      signal: interruption.signal,
    };
    await bringBack(kept, item, options, surroundings);
    watch.screen.end();
    watch.screen.line(`${visibleLine(item.path)} is back in ${visibleLine(kept.root)}`);
    return EXIT.completed;
  });
}

function list({ id, root, items }: KeptBySession, { json }: ApplyFlags, { out }: Watch): number {
  if (json) out.line(JSON.stringify({ version: 1, session_id: id, root, items }));
  else if (items.length === 0) out.line(`session ${id} has kept nothing`);
  else
    for (const line of tableLines(["PATH", "KIND", "ENTRIES", "SIZE", "RULE", "SHA256"], items.map(row)))
      out.line(line);
  return EXIT.completed;
}

function row({ path, kind, entries, bytes, rule, sha256 }: KeptItem): string[] {
  return [visibleLine(path), kind, String(entries), sizeWords(bytes), visibleLine(rule), sha256.slice(0, 12)];
}

async function itemLines(item: KeptItem): Promise<string[]> {
  const { entries, total } = await readEntries(await openArchive(item));
  const left = total - entries.length;
  return [
    quarantineWords(item),
    ...entries.flatMap(entryLines),
    ...(left > 0 ? [`… ${countWords(left, "more entry", "more entries")}`] : []),
  ];
}

/** A bar before each line: text of a file cannot be taken for ours. */
function entryLines({ name, type, size, mode, text, target }: ArchiveEntry): string[] {
  const rights = (mode & 0o777).toString(8).padStart(3, "0");
  const more = target === undefined ? (type === "file" ? sizeWords(size) : "") : `-> ${visibleLine(target)}`;
  const lines = text ? visible(text).replace(/\n$/, "").split("\n") : [];
  return [`${rights} ${type.padEnd(9)} ${visibleLine(name)} ${more}`.trimEnd(), ...lines.map((line) => `  │ ${line}`)];
}

async function isAccepted({ root }: KeptBySession, { interruption }: Watch, io: Io): Promise<boolean> {
  if (!hasPerson(io)) {
    throw new GloveboxError("NOT_A_TERMINAL", "Nobody is there to say yes to what is shown", {
      hint: "Run it in a terminal, or add `--yes` when you have looked at it",
    });
  }
  const prompt = `Bring it back into ${visibleLine(root)}? yes or no: `;
  const onInterrupt = (): void => interruption.interrupt("SIGINT");
  const line = await askLine({ io, prompt, onInterrupt }, interruption.signal);
  return line !== undefined && /^(y|yes)$/i.test(line.trim());
}
