import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { CappedFile } from "../../../src/toolhost/shell/output-file.ts";
import { OutputFolder } from "../../../src/toolhost/shell/output-folder.ts";
import { LiveOutput } from "../../../src/toolhost/shell/output-live.ts";
import { TailRing } from "../../../src/toolhost/shell/output-ring.ts";
import { readable } from "../../../src/toolhost/shell/output-text.ts";
import { shown, TestShell } from "./test-shell.ts";

const folder = mkdtempSync(join(tmpdir(), "glovebox-output-"));
let shell: TestShell;
beforeAll(() => {
  shell = new TestShell();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await shell.close();
});

describe("a ring", () => {
  test("holds the last bytes of any stream cut anywhere", () => {
    const all = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 251));
    for (const size of [1, 7, 1000, 4096, 9999, 20_000]) {
      const ring = new TailRing(10_000);
      for (let at = 0; at < all.length; at += size) ring.push(all.subarray(at, at + size));
      expect(ring.bytes().equals(all.subarray(-10_000)), `chunks of ${size}`).toBe(true);
    }
  });

  test("of no capacity holds nothing", () => {
    const ring = new TailRing(0);
    ring.push(Buffer.from("abc"));
    expect(ring.bytes().length).toBe(0);
  });
});

describe("live output", () => {
  test("T32 of any bytes in any chunks comes in whole characters, and is whole when it is little", () => {
    const all = Buffer.from("é漢🚀\u0301x".repeat(50));
    for (const size of [1, 2, 3, 5, 64]) {
      const shows: Uint8Array[] = [];
      const live = new LiveOutput((bytes) => shows.push(bytes));
      for (let at = 0; at < all.length; at += size) live.push(all.subarray(at, at + size));
      live.end();
      expect(shows.map((bytes) => Buffer.from(bytes).toString()).join("")).toBe(all.toString());
    }
  });

  test("T32 of a flood is the newest part, begun and ended at a character", () => {
    const shows: Uint8Array[] = [];
    const live = new LiveOutput((bytes) => shows.push(bytes));
    live.push(Buffer.from("first"));
    live.push(Buffer.from("🚀".repeat(20_000)));
    live.push(Buffer.from("漢".repeat(5)).subarray(0, -1));
    live.end();
    const [first, second] = shows.map((bytes) => Buffer.from(bytes).toString());
    expect([shows.length, first]).toEqual([2, "first"]);
    expect(second).toMatch(/^(🚀)+漢{4}\ufffd+$/u);
  });

  test("bytes that are no text are shown as they are", () => {
    const shows: Uint8Array[] = [];
    const live = new LiveOutput((bytes) => shows.push(bytes));
    live.push(Buffer.from("8080808080", "hex"));
    live.push(Buffer.from("f0", "hex"));
    live.end();
    expect(Buffer.concat(shows).toString("hex")).toBe("8080808080f0");
  });
});

describe("a capped file", () => {
  test("keeps head and tail and says what is missing", () => {
    const file = new CappedFile(join(folder, "capped"), 20);
    for (const part of ["0123456789", "abcdef", "ghijklmnopqrstuvwxyz"]) file.write(Buffer.from(part));
    file.close();
    expect(file.whole).toBe(false);
    expect(readFileSync(file.path, "utf8")).toBe(
      "0123456789\n[16 bytes are missing here: the file is full]\nqrstuvwxyz",
    );
  });

  test("holds everything up to its limit", () => {
    const file = new CappedFile(join(folder, "whole"), 20);
    file.write(Buffer.from("01234567890123456789"));
    file.close();
    expect([file.whole, readFileSync(file.path, "utf8")]).toEqual([true, "01234567890123456789"]);
  });

  test("makes room by removing the oldest", () => {
    const outputs = join(folder, "outputs");
    new OutputFolder(folder, 10);
    for (const number of [1, 2, 3, 4, 9]) writeFileSync(join(outputs, `${number}.txt`), "0123456789");
    const path = new OutputFolder(folder, 10).nextPath();
    expect([path, readdirSync(outputs).sort()]).toEqual([join(outputs, "10.txt"), ["3.txt", "4.txt", "9.txt"]]);
  });
});

describe("readable text", () => {
  test.each([
    ["colours and cursor moves", "\x1b[1;31mred\x1b[0m\x1b[2J\x1b[10;5Hx", "redx"],
    ["a window title", "\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b", "ab"],
    ["an unterminated title", "\x1b]0;no end\nnext", "\nnext"],
    ["the alternate screen", "\x1b[?1049ha\x1b[?1049l\x1b(B\x1b=", "a"],
    ["redraws", "1%\r2%\r100%\r\ndone\n", "100%\r\ndone\n"],
    ["CRLF", "a\r\nb\r\n", "a\r\nb\r\n"],
    ["overstrikes and spinners", "N\bNA\bA |\b/\b-", "NA -"],
    ["other controls", "a\0b\x07c\x7f", "a\\x00b\\x07c\\x7f"],
    ["text of any script", "€uro-ß-漢字 👩‍👧", "€uro-ß-漢字 👩‍👧"],
  ])("has no trace of %s", (_, raw, text) => {
    expect(readable(Buffer.from(raw), false).text).toBe(text);
  });

  test("that begins inside a character begins with the next one", () => {
    expect(readable(Buffer.from("漢字").subarray(1), true).text).toBe("字");
  });
});

describe("a command's output", () => {
  test("40 a million lines: the last 2,000 are shown, the rest counted and kept", async () => {
    const result = await shell.run("seq 1 1000000");
    const lines = shown(result).split("\n");
    const path = result.details.output_path ?? "";
    expect([lines.length, lines[0], lines[1999]]).toEqual([2001, "998001", "1000000"]);
    expect(lines[2000]).toBe(
      `[output cut: shown are the last 2000 of 1000000 lines, 13.7 KiB of 6.6 MiB; all of it is in ${path}]`,
    );
    expect(result).toMatchObject({ truncated: true, details: { output_bytes: 6888896 } });
    expect(readFileSync(path).length).toBe(6888896);
  });

  test("42 one line of 5 MB is cut inside the line, at a character", async () => {
    const result = await shell.run("yes '€uro-ß-漢字' | tr -d '\\n' | head -c 5000000");
    expect(shown(result)).toMatch(
      /\[output cut: shown are the last 1 of 1 line, its beginning cut, .* of 4.8 MiB; all of it is in .*\]$/,
    );
    expect(Buffer.byteLength(shown(result))).toBeLessThan(52_000);
  });

  test("41 endless output is drained in bounded memory until the limit", async () => {
    const before = process.memoryUsage().rss;
    const result = await shell.run("yes", { timeout: 0.5 });
    expect(result.status).toBe("timed_out");
    expect(result.details.output_bytes).toBeGreaterThan(1_000_000);
    expect(process.memoryUsage().rss - before).toBeLessThan(100 * 1024 * 1024);
    expect(readFileSync(result.details.output_path ?? "").length).toBeLessThan(8.1 * 1024 * 1024);
  });

  test("43 binary output is kept and named, not shown", async () => {
    const result = await shell.run("printf '\\x7fELF\\0\\1\\2\\3\\xff\\xfe\\xfd'");
    const path = result.details.output_path ?? "";
    expect(shown(result)).toBe(
      `(no output)\n[binary output, 11 bytes (ELF program or library); all of it is in ${path}]`,
    );
    expect(readFileSync(path, "latin1")).toBe("\x7fELF\0\x01\x02\x03\xff\xfe\xfd");
  });

  test("O-OUT-04 a NUL does not cut the rest, and redraws are folded", async () => {
    const result = await shell.run(
      "printf 'text text text a\\0b\\n'; for i in $(seq 1 5000); do printf \"\\r%d%%\" $i; done; printf '\\n\\033]0;t\\007\\033[2Jx\\n'",
    );
    expect(shown(result)).toMatch(
      /^text text text a\\x00b\n5000%\nx\n\[binary output, \d+ bytes; all of it is in .*\]$/,
    );
  });

  test("what stderr says last is shown after any bulk on stdout", async () => {
    expect(await shell.text("seq 1 300000; echo the end >&2")).toContain("300000\nthe end\n[output cut");
  });

  test("is shown to people at most every 100 ms, whole when it is little", async () => {
    const shows: string[] = [];
    await shell.run("for i in 1 2 3 4 5 6; do echo $i; sleep 0.03; done", {
      show: (bytes) => shows.push(String(Buffer.from(bytes))),
    });
    expect(shows.join("")).toBe("1\n2\n3\n4\n5\n6\n");
    expect(shows.length).toBeLessThan(6);
  });

  test("a line without its beginning is said to be the end of one, also when a character made it shorter", async () => {
    const text = await shell.text("seq 3; for i in $(seq 20000); do printf '\\U1f680'; done; echo x");
    const [line = "", notice] = text.split("\n");
    expect(line).toMatch(/^🚀+x$/u);
    expect(notice).toContain(
      "output cut: shown are the last 1 of 4 lines, its beginning cut, 50.0 KiB of 78.1 KiB; all of it is in",
    );
  });

  test.each([
    [4096, 4096],
    [500 * 1024, 500 * 1024],
    [1024 * 1024, 1024 * 1024],
  ])("as much of it is shown as the policy says: %i bytes", async (shownOutputBytes, most) => {
    const other = new TestShell({ shownOutputBytes });
    const result = await other.run("seq -f %099g 12000");
    const [output = "", notice = ""] = shown(result).split("\n[");
    expect(Buffer.byteLength(output)).toBeLessThanOrEqual(most);
    expect(Buffer.byteLength(output)).toBeGreaterThan(most - 100);
    expect(output.endsWith(`\n${"12000".padStart(99, "0")}`)).toBe(true);
    const lines = output.split("\n").length;
    expect(notice).toContain(`output cut: shown are the last ${lines} of 12000 lines`);
    expect([result.truncated, result.details.output_bytes]).toEqual([true, 1_200_000]);
    await other.close();
  });
});
