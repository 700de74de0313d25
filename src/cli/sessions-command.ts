import { EXIT } from "../core/errors.ts";
import { clip } from "../core/truncate.ts";
import { visibleLine } from "../core/visible.ts";
import { readHistory, summarise } from "../session/history.ts";
import { findSession, type ListedSession, listSessions } from "../session/history-find.ts";
import { surroundingsOf } from "../session/surroundings.ts";
import { clipToWidth } from "./cells.ts";
import { printEgress } from "./egress-command.ts";
import type { Io } from "./io.ts";
import { paintFor } from "./paint.ts";
import { Printer } from "./printer.ts";
import { tableLines } from "./table.ts";
import { Transcript } from "./transcript.ts";
import { timeWords } from "./words.ts";

/** `glovebox sessions list`. */
export async function listCommand(flags: { all?: boolean; json?: boolean }, io: Io): Promise<number> {
  const out = new Printer(io.stdout);
  const { home } = surroundingsOf(io.env, io.secrets, io);
  const sessions = await listSessions(home, flags.all ? undefined : io.cwd);
  if (flags.json) out.line(JSON.stringify({ version: 1, sessions: sessions.map(factsOf) }));
  else if (sessions.length > 0) for (const line of listLines(sessions, io, flags.all === true)) out.line(line);
  else out.line(flags.all ? "no sessions yet" : "no sessions of this folder yet; `--all` lists those of others");
  await out.flushed();
  return out.closed.aborted ? EXIT.failed : EXIT.completed;
}

export type ShowFlags = { json?: boolean; egress?: boolean; diff?: boolean };

/** `glovebox sessions show`. Nothing is printed of a log that is not whole and valid up to a torn last line. */
export async function showCommand(word: string, flags: ShowFlags, io: Io): Promise<number> {
  const out = new Printer(io.stdout);
  const { home } = surroundingsOf(io.env, io.secrets, io);
  const { path } = await findSession(home, word, io.cwd);
  const summary = await summarise(path);
  if (flags.egress) {
    await printEgress({ path, sessionId: summary.header.id, json: flags.json === true }, out);
    await out.flushed();
    return out.closed.aborted ? EXIT.failed : EXIT.completed;
  }
  const transcript = new Transcript(summary, {
    columns: io.stdout.columns || 120,
    paint: paintFor(io.stdout, io.env),
    diff: flags.diff === true,
  });
  if (flags.json)
    out.write(`{"version":1,"outcome":${JSON.stringify(summary.outcome)},"torn":${summary.isTorn},"lines":[`);
  let separator = "";
  for await (const item of readHistory(path)) {
    if (out.closed.aborted) return EXIT.failed;
    if (!flags.json) for (const line of transcript.lines(item)) out.line(line);
    else if (item.type !== "torn") {
      out.write(separator + JSON.stringify(item.type === "header" ? item.header : item.event));
      separator = ",";
    }
    await out.ready();
  }
  if (flags.json) out.line("]}");
  await out.flushed();
  return out.closed.aborted ? EXIT.failed : EXIT.completed;
}

function factsOf(session: ListedSession) {
  const { id, path } = session;
  if (session.type === "unreadable") return { id, file: path, outcome: "unreadable", error: session.error.message };
  const { header, outcome, turns, toolCalls, prompt, isTorn } = session.summary;
  const when = { created_at: header.created_at, cwd: header.cwd };
  return { id, file: path, ...when, outcome, turns, tool_calls: toolCalls, prompt, torn: isTorn };
}

function listLines(sessions: readonly ListedSession[], { stdout }: Io, all: boolean): string[] {
  const head = ["ID", "WHEN", "OUTCOME", "TURNS", ...(all ? ["FOLDER"] : []), "PROMPT"];
  const rows = sessions.map((session) => {
    if (session.type === "unreadable") {
      return [session.id, "-", "unreadable", "-", ...(all ? ["-"] : []), visibleLine(session.error.message)];
    }
    const { header, outcome, turns, prompt } = session.summary;
    const folder = all ? [visibleLine(header.cwd)] : [];
    const words = visibleLine(clip(prompt.trim().replace(/\s+/g, " "), 200));
    return [
      session.id,
      timeWords(new Date(header.created_at)),
      outcome.replace("_", " "),
      String(turns),
      ...folder,
      words,
    ];
  });
  return tableLines(head, rows).map((line) => (stdout.isTTY ? clipToWidth(line, stdout.columns || 120) : line));
}
