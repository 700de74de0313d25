import { describe, expect, it } from "vitest";
import { mountWords, quarantineWords } from "../../../src/cli/guard-words.ts";

const ITEM = { rule: "r", entries: 1, bytes: 2048, sha256: "0".repeat(64), cut: [] };

describe("what is said of what was kept", () => {
  it.each([
    ["appeared", "a\\nb appeared and was moved out of the workspace (1 entry, 2.0 KB; rule r)"],
    ["git", "a\\nb was made by a command and moved out of the workspace at the end (1 entry, 2.0 KB; rule r)"],
    ["before", "a\\nb was replaced on the host; kept as it was at the start (1 entry, 2.0 KB; rule r)"],
    ["after", "a\\nb was replaced on the host; kept as it was found (1 entry, 2.0 KB; rule r)"],
  ] as const)("is one harmless line: %s", (kind, words) => {
    expect(quarantineWords({ ...ITEM, kind, path: "a\nb" })).toBe(words);
  });

  it("names what was left out", () => {
    const item = { ...ITEM, entries: 2, kind: "appeared" as const, path: "d", cut: ["`d/x` (1.0 TiB)", "3 more"] };
    expect(quarantineWords(item)).toMatch(/2 entries, .*; not kept: `d\/x` \(1\.0 TiB\), 3 more$/);
  });
});

describe("what is said of mounts", () => {
  it("names the folders that are read-only for hard links, and a search that was not complete", () => {
    expect(mountWords("links_protected", { folders: ["a\u001b[2J", "b"], complete: false })).toEqual([
      "read-only, as files there are hard links to files outside: a\\x1b[2J, b (`workspace.hardlinks: allow` opens them)",
      "the workspace has too many files to look at all of them for hard links to files outside",
    ]);
    expect(mountWords("links_protected", { folders: [], complete: false })).toHaveLength(1);
  });

  it("names what was replaced and what was not kept, and takes a log that says nothing", () => {
    const [words, note] = mountWords("remounted", { paths: [".envrc"], notes: ["x is not there any more"] });
    expect(words).toContain(
      "while it was protected or hidden: .envrc; for at most 0.2 s commands could have read and written it",
    );
    expect(note).toBe("x is not there any more");
    expect(mountWords("remounted", {})).toHaveLength(1);
  });
});
