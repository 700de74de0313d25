import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { cgroupChange, openCgroup } from "../../../src/toolhost/shell/cgroup.ts";
import { parseDeclarations } from "../../../src/toolhost/shell/declarations.ts";
import { checkText } from "../../../src/toolhost/shell/text.ts";
import { limitWords } from "../../../src/toolhost/shell/words.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-pieces-"));
afterAll(() => rmSync(folder, { recursive: true }));

describe("line endings of a command", () => {
  test.each([
    ["LF only", "a\nb\n", "a\nb\n"],
    ["CRLF", "a\r\nb\r\n", "a\nb\n"],
    ["a heredoc keeps its own", "cat <<EOF\r\nx\r\nEOF\r\ny\r\n", "cat <<EOF\nx\r\nEOF\ny\n"],
    ["two heredocs and tabs", "cat <<-'A' <<B\r\n1\r\n\tA\r\n2\r\nB\r\nz\r\n", "cat <<-'A' <<B\n1\r\n\tA\n2\r\nB\nz\n"],
    ["a shift is no heredoc", "echo $((1<<x))\r\necho b\r\n", "echo $((1<<x))\necho b\n"],
    ["a here-string is no heredoc", "cat <<<x\r\nx\r\n", "cat <<<x\nx\n"],
    ["a lone CR stays", "printf 'a\rb'\r\n", "printf 'a\rb'\n"],
  ])("%s", (_, command, text) => {
    expect(checkText(command)).toEqual({
      text,
      notes: command === text ? [] : ["CRLF line endings of the command were read as LF"],
    });
  });
});

describe("declarations", () => {
  test("are told apart whatever their values hold", () => {
    const printed = [
      'declare -x A="x\ndeclare -x EVIL=1"',
      "declare -- B=$'it\\'s\\ndeclare -x EVIL=2'",
      'declare -ar C=([0]="a \\"b\\"" [1]=$\'c\\\\\')',
      "declare -i D",
      "export E='it'\\''s\nexport EVIL=3'",
      "alias ll='ls\n-l'",
      "alias -- -='cd -'",
    ];
    expect(parseDeclarations(`${printed.join("\n")}\n`).map((item) => [item.name, item.attributes])).toEqual([
      ["A", "x"],
      ["B", "-"],
      ["C", "ar"],
      ["D", "i"],
      ["E", "x"],
      ["ll", ""],
      ["-", ""],
    ]);
    expect(parseDeclarations(`${printed.join("\n")}\n`).map((item) => item.text)).toEqual(printed);
  });

  test("of 1 MB of quotes and backslashes are read in linear time", () => {
    const begun = performance.now();
    expect(parseDeclarations(`declare -- A="${'\\"\\\\'.repeat(250_000)}"\n`)).toHaveLength(1);
    expect(performance.now() - begun).toBeLessThan(15_000);
  });
});

describe("the cgroup", () => {
  function put(files: Record<string, string>): string {
    const root = mkdtempSync(join(folder, "cg-"));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(join(root, name, ".."), { recursive: true });
      writeFileSync(join(root, name), text);
    }
    return root;
  }

  test.each([
    [
      "version 2",
      {
        "memory.events": "low 0\noom 2\noom_kill 1\n",
        "pids.events": "max 7\n",
        "cpu.stat": "usage_usec 1500000\nuser_usec 1\n",
      },
    ],
    [
      "version 1",
      {
        "memory/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n",
        "pids/pids.events": "max 7\n",
        "cpuacct/cpuacct.usage": "1500000000\n",
      },
    ],
  ])("is read in %s", (_, files) => {
    expect(openCgroup(put(files)).read()).toEqual({
      oomKills: 1,
      forksRefused: 7,
      cpuSeconds: 1.5,
    });
  });

  test("22 tells memory and process limits apart from failure", () => {
    const before = { oomKills: 1, forksRefused: 0, cpuSeconds: 1 };
    const change = cgroupChange(before, { oomKills: 3, forksRefused: 5, cpuSeconds: 1.25 });
    expect(change).toEqual({ oomKills: 2, forksRefused: 5, cpuSeconds: 0.25 });
    expect(limitWords(change)).toEqual([
      "out of memory: the container's limit was reached and the kernel killed 2 processes",
      "too many processes: the container's limit was reached and a process could not start",
    ]);
  });

  test.each([
    ["version 2", "memory.stat", (held: number, files: number) => `anon ${held}\nfile 999999\nshmem ${files}\n`],
    [
      "version 1",
      "memory/memory.stat",
      (held: number, files: number) => `rss 1\nshmem 2\ntotal_rss ${held}\ntotal_shmem ${files}\n`,
    ],
  ])("tells the most memory that was held while it was watched, without files of before: %s", async (_, file, stat) => {
    const root = put({ [file]: stat(1000, 500) });
    const cgroup = openCgroup(root);
    const first = cgroup.watchMemory();
    writeFileSync(join(root, file), stat(4000, 596));
    // Sampled, so the peak has to last a moment.
    await sleep(200);
    writeFileSync(join(root, file), stat(1000, 596));
    expect([first(), cgroup.watchMemory()()]).toEqual([4096, 1000]);
    writeFileSync(join(root, file), stat(9000, 596));
    expect(first()).toBe(4096);
  });

  test("that shows nothing says nothing", () => {
    expect(openCgroup(put({})).watchMemory()()).toBeUndefined();
    const nothing = openCgroup(put({})).read();
    expect(cgroupChange(nothing, nothing)).toEqual({ oomKills: 0, forksRefused: 0 });
  });
});
