import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { appendFile, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pack } from "tar-stream";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { uuidv7 } from "../../../src/core/ids.ts";
import { currentOwner } from "../../../src/sandbox/owner.ts";
import { readEntries } from "../../../src/session/archive.ts";
import { liveIn, removeMark, setMark, unfinishedIn } from "../../../src/session/guard-mark.ts";
import { listKept, openArchive, quarantineFolder, removeParts, storeArchive } from "../../../src/session/quarantine.ts";
import { lookForAppeared } from "../../../src/workspace/appeared.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "glovebox-quarantine-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const ITEM = { path: ".envrc", rule: "r", kind: "appeared" as const, entries: 1, cut: [] };

function store(text: string, item = ITEM) {
  return storeArchive(quarantineFolder(join(folder, "s.jsonl")), item, Readable.from([Buffer.from(text)]));
}

describe("what a session keeps", () => {
  it("is stored under its hash for its owner only, and found again", async () => {
    const kept = await store("bytes");
    expect(kept).toMatchObject({
      ...ITEM,
      bytes: 5,
      sha256: expect.stringMatching(/^277089d91c0bdf4f2e6862ba7e4a0760/),
    });
    const place = join(folder, "s.quarantine");
    expect(statSync(place).mode & 0o777).toBe(0o700);
    expect((await readdir(place)).toSorted()).toEqual([`${kept.sha256}.json`, `${kept.sha256}.tar`]);
    expect(statSync(join(place, `${kept.sha256}.tar`)).mode & 0o777).toBe(0o600);
    expect(await listKept(place)).toEqual([{ ...kept, file: join(place, `${kept.sha256}.tar`) }]);
    const chunks = await (await openArchive({ ...kept, file: join(place, `${kept.sha256}.tar`) })).toArray();
    expect(Buffer.concat(chunks).toString()).toBe("bytes");
  });

  it("is nothing where there is no folder", async () => {
    expect(await listKept(join(folder, "none.quarantine"))).toEqual([]);
  });

  it("is not used when it is not what was stored", async () => {
    await store("bytes");
    const [item] = await listKept(join(folder, "s.quarantine"));
    if (!item) throw new Error("nothing was kept");
    await appendFile(item.file, "more");
    await expect(openArchive(item)).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
    await writeFile(item.file.replace(/tar$/, "json"), '{"path":1}');
    await expect(listKept(join(folder, "s.quarantine"))).rejects.toMatchObject({ code: "SESSION_CORRUPT" });
  });

  it("loses the parts that a writer who died has left, and nothing else", async () => {
    const { sha256 } = await store("bytes");
    const place = join(folder, "s.quarantine");
    await writeFile(join(place, "0123.part"), "half");
    await removeParts(place);
    expect((await readdir(place)).toSorted()).toEqual([`${sha256}.json`, `${sha256}.tar`]);
    await removeParts(join(folder, "none.quarantine"));
  });

  it("leaves no part of an archive that broke off", async () => {
    const broken = Readable.from(
      (function* () {
        yield Buffer.from("half");
        throw new Error("the channel closed");
      })(),
    );
    const stored = storeArchive(join(folder, "s.quarantine"), ITEM, broken);
    await expect(stored).rejects.toMatchObject({ code: "SESSION_WRITE_FAILED", message: /the channel closed/ });
    expect(await readdir(join(folder, "s.quarantine"))).toEqual([]);
  });
});

describe("the mark of a session", () => {
  const PLACE = { root: "/srv/ws", folder: { dev: "1", ino: "2", born: "3" } };
  const WATCHED = { guarded: [{ path: ".envrc", rule: "r", until: "call" as const }], protected: [".vscode"] };

  it("tells a session at work from one that died, and is gone after the end", async () => {
    const [live, dead] = [uuidv7(), uuidv7()];
    for (const id of [live, dead]) await setMark(join(folder, `${id}.jsonl`), PLACE, WATCHED);
    const file = join(folder, `${dead}.guard.json`);
    const mark = JSON.parse(await readFile(file, "utf8"));
    expect(mark.owner).toEqual(await currentOwner());
    await writeFile(file, JSON.stringify({ ...mark, owner: { ...mark.owner, pid: 0x3fffff } }));
    await writeFile(join(folder, "notes.guard.json"), "not ours");
    expect(await liveIn(folder)).toEqual([live]);
    expect(
      (await unfinishedIn(folder)).map(({ sessionFile, mark: { root, guarded } }) => [sessionFile, root, guarded]),
    ).toEqual([[join(folder, `${dead}.jsonl`), "/srv/ws", WATCHED.guarded]]);
    await removeMark(join(folder, `${live}.jsonl`));
    expect(await liveIn(folder)).toEqual([]);
  });

  it("that is damaged is an error that names the file", async () => {
    const id = uuidv7();
    await writeFile(join(folder, `${id}.guard.json`), "{}");
    await expect(unfinishedIn(folder)).rejects.toMatchObject({ code: "SESSION_CORRUPT", message: new RegExp(id) });
  });
});

describe("a look for what appeared", () => {
  const guarded = [".envrc", ".cargo/config.toml", ".git", "**/*.secret"].map((path) => ({
    ...{ path, rule: `r ${path}` },
    until: path === ".git" ? ("end" as const) : ("call" as const),
  }));

  it("names it by its rule, links too, and leaves out what was there before", async () => {
    mkdirSync(join(folder, "old/deep"), { recursive: true });
    mkdirSync(join(folder, ".git"));
    for (const path of ["old/a.secret", "old/deep/b.secret", "new.secret"]) writeFileSync(join(folder, path), "x");
    symlinkSync("nowhere", join(folder, ".cargo"));
    expect(await lookForAppeared(folder, { guarded, protected: ["old/a.secret"] })).toEqual({
      found: [
        { path: ".cargo/config.toml", rule: "r .cargo/config.toml", kind: "appeared" },
        { path: ".git", rule: "r .git", kind: "git" },
        { path: "new.secret", rule: "r **/*.secret", kind: "appeared" },
        { path: "old/deep/b.secret", rule: "r **/*.secret", kind: "appeared" },
      ],
      problem: undefined,
    });
  });

  it("finds the rest although a name that is no text matches a pattern, and says so", async () => {
    writeFileSync(join(folder, ".envrc"), "x");
    writeFileSync(join(folder, "good.secret"), "x");
    writeFileSync(Buffer.from(`${folder}/bad\xff.secret`, "latin1"), "x");
    const { found, problem } = await lookForAppeared(folder, { guarded, protected: [] });
    expect(found.map(({ path }) => path).toSorted()).toEqual([".envrc", "good.secret"]);
    expect(problem).toMatch(/^`\*\*\/\*\.secret` meets `bad.\.secret`, a name that is not valid UTF-8$/);
  });
});

describe("the entries of an archive", () => {
  it("are shown with the text of short text files, and of nothing else", async () => {
    const tar = pack();
    tar.entry({ name: "d", type: "directory", mode: 0o755 });
    tar.entry({ name: "d/text", mode: 0o644 }, "hello\n");
    tar.entry({ name: "d/binary", mode: 0o644 }, Buffer.from([0, 1, 2]));
    tar.entry({ name: "d/long", mode: 0o644 }, "x".repeat(10_000));
    tar.entry({ name: "d/link", type: "symlink", linkname: "text", mode: 0o777 });
    tar.finalize();
    const { entries, total } = await readEntries(Readable.from(tar));
    expect(total).toBe(5);
    expect(entries.map(({ name, type, size, text, target }) => [name, type, size, text, target])).toEqual([
      ["d", "directory", 0, undefined, undefined],
      ["d/text", "file", 6, "hello\n", undefined],
      ["d/binary", "file", 3, undefined, undefined],
      ["d/long", "file", 10_000, undefined, undefined],
      ["d/link", "symlink", 0, undefined, "text"],
    ]);
  });

  it("of something that is no archive are an error", async () => {
    await expect(readEntries(Readable.from([Buffer.alloc(1024, "x")]))).rejects.toMatchObject({
      code: "SESSION_CORRUPT",
    });
  });
});
