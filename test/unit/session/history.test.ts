import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { uuidv7 } from "../../../src/core/ids.ts";
import { type HistoryItem, readHistory, summarise } from "../../../src/session/history.ts";
import { findSession, listSessions } from "../../../src/session/history-find.ts";
import { type Home, homeOf, sessionFile, workspaceId } from "../../../src/session/home.ts";

let root: string;
let home: Home;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), "glovebox-history-"));
  home = homeOf({ GLOVEBOX_HOME: join(root, "home") }, root);
  await mkdir(join(home.sessions, workspaceId(root)), { recursive: true });
});

afterEach(() => rm(root, { recursive: true }));

const at = { ts: "2026-01-01T00:00:00.000Z", mono: 1 };

function linesOf(id: string, content = "repair it"): string[] {
  const entry = (seq: number, fact: object): object => ({ ...fact, seq, id: `0000000${seq}`, ...at, parent_id: null });
  return [
    {
      type: "session",
      version: 1,
      id,
      created_at: at.ts,
      cwd: root,
      workspace_id: workspaceId(root),
      app_version: "0",
    },
    entry(1, {
      type: "run_started",
      limits: { turns: 1, tool_calls: 1, seconds: 1 },
      policy_hash: "",
      image_digest: "",
    }),
    entry(2, { type: "user", source: "prompt", content }),
    entry(3, { type: "run_end", outcome: "completed", error: null }),
  ].map((line) => JSON.stringify(line));
}

async function log(text: string | Buffer, id = uuidv7()): Promise<{ id: string; path: string }> {
  const path = sessionFile(home, workspaceId(root), id);
  await writeFile(path, text);
  return { id, path };
}

async function itemsOf(path: string): Promise<HistoryItem[]> {
  const items: HistoryItem[] = [];
  for await (const item of readHistory(path)) items.push(item);
  return items;
}

it("O-OUT-01 a log of old with half a surrogate pair is healed when it is read", async () => {
  const id = uuidv7();
  const { path } = await log(`${linesOf(id, "a\ud83d, \\ud83d and 🚀").join("\n")}\n`, id);
  expect(await readFile(path, "utf8")).toContain("a\\ud83d");
  expect((await summarise(path)).prompt).toBe("a\ufffd, \\ud83d and 🚀");
});

describe("Y-05 a log is read strictly", () => {
  it("is read to its end", async () => {
    const id = uuidv7();
    const { path } = await log(`${linesOf(id).join("\n")}\n`, id);
    expect((await itemsOf(path)).map((item) => (item.type === "event" ? item.event.type : item.type))).toEqual([
      "header",
      "run_started",
      "user",
      "run_end",
    ]);
    expect(await summarise(path)).toMatchObject({ outcome: "completed", prompt: "repair it", isTorn: false });
  });

  it("a line separator inside a text ends no line", async () => {
    const id = uuidv7();
    const { path } = await log(`${linesOf(id, "a\u2028b\u0085c\rd").join("\n")}\n`, id);
    expect(await summarise(path)).toMatchObject({ prompt: "a\u2028b\u0085c\rd" });
  });

  it("a last line that a crash cut off is told, and the run counts as interrupted", async () => {
    const id = uuidv7();
    const whole = linesOf(id);
    for (const tail of ['{"type":"run_e', '{"type":"run_e\n']) {
      const { path } = await log(`${whole.slice(0, 3).join("\n")}\n${tail}`, id);
      expect(await summarise(path)).toMatchObject({ outcome: "interrupted", isTorn: true });
    }
  });

  it("a bad line before the end is an error that names line and byte", async () => {
    const id = uuidv7();
    const whole = linesOf(id);
    const { path } = await log([whole[0], whole[1], '{"type":"us', whole[3], ""].join("\n"), id);
    const offset = Buffer.byteLength(`${whole[0]}\n${whole[1]}\n`);
    await expect(itemsOf(path)).rejects.toMatchObject({
      code: "SESSION_CORRUPT",
      message: `Session log \`${path}\`, line 3 (byte ${offset}) is not JSON`,
    });
  });

  it.each<[string, (lines: string[]) => string[], RegExp]>([
    ["a missing line", (lines) => lines.toSpliced(1, 1), /line 2 .* has number 2 where 1 follows/],
    [
      "an unknown kind of line",
      (lines) => lines.with(2, lines[2]?.replace('"user"', '"usr"') ?? ""),
      /line 3 .* is not what a session writes/,
    ],
    [
      "another version",
      (lines) => lines.with(0, lines[0]?.replace('"version":1', '"version":2') ?? ""),
      /is of version 2/,
    ],
    ["a file that is no log", () => ["root:x:0:0", "nobody:x:1:1"], /line 1 \(byte 0\) is not JSON/],
    ["bytes that are not UTF-8", (lines) => lines, /line 3 .* is not JSON/],
  ])("%s is an error", async (name, change, message) => {
    const id = uuidv7();
    const text = Buffer.from(`${change(linesOf(id)).join("\n")}\n`);
    if (name.startsWith("bytes")) text[text.indexOf("repair")] = 0xff;
    const { path } = await log(text, id);
    await expect(summarise(path)).rejects.toMatchObject({
      code: "SESSION_CORRUPT",
      message: expect.stringMatching(message),
    });
  });

  it("an empty file and the log of another session are refused", async () => {
    await expect(itemsOf((await log("")).path)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
    const { path } = await log(`${linesOf(uuidv7()).join("\n")}\n`);
    await expect(summarise(path)).rejects.toThrow("belongs to another session");
  });

  it("a link is not followed", async () => {
    const id = uuidv7();
    await symlink("/etc/hostname", sessionFile(home, workspaceId(root), id));
    await expect(itemsOf(sessionFile(home, workspaceId(root), id))).rejects.toMatchObject({
      code: "SESSION_NOT_FOUND",
    });
    expect(await listSessions(home, root)).toMatchObject([{ id, type: "unreadable" }]);
  });
});

describe("a session is found", () => {
  it.each(["../../etc/passwd", "", "a/b", "x\n", "abc", "01a2\n", "ABCD", "....", "0".repeat(37)])(
    "not by %j, which is no id (O-SESS-07)",
    async (word) => {
      await expect(findSession(home, word, root)).rejects.toMatchObject({ code: "USAGE" });
    },
  );

  it("by its id, a unique beginning of it, and `latest`", async () => {
    const old = await log("", uuidv7(Date.UTC(2024, 0, 1)));
    const recent = await log("", uuidv7(Date.UTC(2025, 0, 1)));
    await writeFile(join(home.sessions, workspaceId(root), "notes.jsonl"), "");
    expect(await findSession(home, old.id, root)).toEqual(old);
    expect(await findSession(home, recent.id.slice(0, 8), "/elsewhere")).toEqual(recent);
    expect(await findSession(home, "latest", root)).toEqual(recent);
    await expect(findSession(home, "latest", "/elsewhere")).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
    await expect(findSession(home, "ffff", root)).rejects.toMatchObject({ code: "SESSION_NOT_FOUND" });
  });

  it("not by a beginning that several have", async () => {
    const time = Date.UTC(2025, 0, 1);
    await Promise.all([log("", uuidv7(time)), log("", uuidv7(time))]);
    await expect(findSession(home, uuidv7(time).slice(0, 8), root)).rejects.toThrow("2 sessions begin with");
  });
});
