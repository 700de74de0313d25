import { chmod, readdir, readFile, readlink, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { RunResult } from "../../src/session/result.ts";
import { cli, type Place, placeWith } from "../support/engine.ts";
import { readLog } from "../support/run.ts";

type Call = Record<string, object>;

/** Plays turns of calls in a real container; the tool results in the order of the log. */
async function play(place: Place, turns: readonly Call[][], ...options: string[]) {
  const script = [...turns.map((calls) => ({ calls })), { text: "Done." }];
  // JSON is YAML.
  await writeFile(join(place.folder, "s.yaml"), JSON.stringify(script));
  const model = ["--workspace", place.root, "--model", `scripted:${place.folder}/s.yaml`];
  const { stdout } = await cli(["run", "--json", ...model, ...options, "go"], {
    env: { GLOVEBOX_HOME: join(place.folder, "h") },
  });
  const log = await readLog(RunResult.parse(JSON.parse(stdout)));
  const called = log.flatMap((event) => (event.type === "assistant" ? event.content : []));
  const ids = called.flatMap((part) => (part.type === "tool_call" ? [part.id] : []));
  const results = log.flatMap((event) => (event.type === "tool_result" ? [event] : []));
  expect(results.map(({ call_id }) => call_id)).toEqual(ids);
  return results.map(({ status, content }) => ({
    status,
    words: content.map((part) => (part.type === "text" ? part.text : "")).join(""),
  }));
}

const edit = (path: string, oldText: string, newText: string): Call => ({
  edit: { path, edits: [{ oldText, newText }] },
});
const bash = (command: string): Call => ({ bash: { command } });

describe("changes of files in a run", () => {
  it("O-EDIT-06 five in one turn, by edit, write and a command, are all there, and their results in order", async () => {
    const numbers = Array.from({ length: 100 }, (_, at) => `${at + 1}\n`).join("");
    await using place = await placeWith({ n: numbers });
    const results = await play(place, [
      [
        edit("n", "\n50\n", "\nFIFTY\n"),
        edit("n", "\n75\n", "\nSEVENTYFIVE\n"),
        { write: { path: "n2", content: "fresh\n" } },
        edit("n2", "fresh", "edited"),
        bash("sed -i 's/10$/TEN/' n; cat n2"),
      ],
    ]);
    expect(results.map(({ status, words }) => [status, words])).toEqual([
      ["ok", "Edited n: 1 replacement, +1 -1 lines"],
      ["ok", "Edited n: 1 replacement, +1 -1 lines"],
      ["ok", "Created n2: 1 line, 6 bytes"],
      ["ok", "Edited n2: 1 replacement, +1 -1 lines"],
      ["ok", expect.stringMatching(/^edited\n/)],
    ]);
    const after = numbers.replace(/^50$/m, "FIFTY").replace(/^75$/m, "SEVENTYFIVE").replace(/10$/gm, "TEN");
    expect(await readFile(join(place.root, "n"), "utf8")).toBe(after);
    expect(await readFile(join(place.root, "n2"), "utf8")).toBe("edited\n");
  });

  it("a file that a command changed after it was read is not edited until it is read again", async () => {
    await using place = await placeWith({ f: "a\nb\nc\n" });
    const results = await play(place, [
      [{ read: { path: "f", limit: 1 } }],
      [bash("sed -i s/b/B/ f"), edit("f", "a", "x")],
      [{ read: { path: "f" } }, edit("f", "a", "x"), edit("f", "c", "z")],
    ]);
    expect(results.map(({ status }) => status)).toEqual(["ok", "ok", "failed", "ok", "ok", "ok"]);
    expect(results[2]?.words).toContain(
      "`f` changed since you last read it; nothing was changed. Read it again, then edit",
    );
    expect(await readFile(join(place.root, "f"), "utf8")).toBe("x\nB\nz\n");
  });

  it("O-EDIT-07 a single writable file is written in place, modes and links stay, and nothing is left behind", async () => {
    await using place = await placeWith({
      "conf/conf.yml": "a: 1\n",
      "conf/other.yml": "a: 1\n",
      "free/s.sh": "echo a\n",
    });
    const [conf, script] = [join(place.root, "conf/conf.yml"), join(place.root, "free/s.sh")];
    await chmod(script, 0o755);
    await chmod(conf, 0o640);
    await symlink("s.sh", join(place.root, "free/link"));
    const before = await stat(conf);
    await writeFile(join(place.folder, "mine.yaml"), "version: 1\nworkspace: { writable: [free, conf/conf.yml] }\n");
    const results = await play(
      place,
      [
        [
          edit("conf/conf.yml", "a: 1", "a: 2 # longer"),
          { write: { path: "conf/conf.yml", content: "a: 3\n" } },
          edit("conf/other.yml", "a: 1", "a: 2"),
          { write: { path: "conf/new.yml", content: "x" } },
          edit("free/link", "echo a", "echo b"),
          bash("free/s.sh"),
        ],
      ],
      "--policy",
      join(place.folder, "mine.yaml"),
    );
    expect(results.map(({ status }) => status)).toEqual(["ok", "ok", "denied", "denied", "ok", "ok"]);
    for (const { words } of results.slice(2, 4)) expect(words).toContain("user/workspace.writable");
    expect(results[5]?.words).toMatch(/^b\n/);
    const after = await stat(conf);
    expect([after.ino, after.mode, await readFile(conf, "utf8")]).toEqual([before.ino, before.mode, "a: 3\n"]);
    expect([(await stat(script)).mode & 0o777, await readlink(join(place.root, "free/link"))]).toEqual([0o755, "s.sh"]);
    expect((await readdir(join(place.root, "conf"))).toSorted()).toEqual(["conf.yml", "other.yml"]);
    expect((await readdir(join(place.root, "free"))).toSorted()).toEqual(["link", "s.sh"]);
  });
});
