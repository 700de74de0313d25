import { execFileSync, spawn } from "node:child_process";
import { appendFile, symlink, truncate, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { isWellFormed } from "../../../src/core/truncate.ts";
import { Outcome } from "../../../src/protocol/messages.ts";
import { handleRead } from "../../../src/toolhost/files/read.ts";
import { programPath } from "../../support/programs.ts";
import { text, Workspace, withoutRoot } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

const read = (path: string, options: { offset?: number; limit?: number } = {}) =>
  ws.call(handleRead, { path, ...options });
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==",
  "base64",
);
const GIF = Buffer.from("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7", "base64");
const WEBP = Buffer.from("UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA", "base64");
// An APP1 with the end of a thumbnail in it, a frame of 1 × 1, a scan.
const JPEG = Buffer.from("ffd8ffe10006ffd90000ffc0000b080001000101011100ffda0008010100003f00d2cf20ffd9", "hex");
const seq = (to: number) => Array.from({ length: to }, (_, at) => `${at + 1}\n`).join("");

test("a small file is shown as it is", async () => {
  await ws.put("f", "a\r\n\tb é 漢 🚀\n\n");
  expect(await read("f")).toEqual({
    status: "ok",
    content: [{ type: "text", text: "a\r\n\tb é 漢 🚀\n\n" }],
    details: { lines: 3, bytes: 19 },
  });
});

describe("O-OUT-03: what is not shown is told", () => {
  test.each<[string, string, { offset?: number; limit?: number }, string, boolean]>([
    ["a middle part", seq(100), { offset: 5, limit: 2 }, "5\n6\n[Lines 5-6 of 100; continue with offset 7]", false],
    ["the end", seq(100), { offset: 99 }, "99\n100\n", false],
    ["the last line alone", "a\nb", { offset: 2 }, "b", false],
    ["2,000 lines", seq(2500), {}, `${seq(2000)}[Lines 1-2000 of 2500; continue with offset 2001]`, true],
    [
      "a limit above ours",
      seq(2500),
      { limit: 9999 },
      `${seq(2000)}[Lines 1-2000 of 2500; continue with offset 2001]`,
      true,
    ],
    ["exactly 2,000 lines", seq(2000), {}, seq(2000), false],
    [
      "50 KiB in whole lines",
      `${"x".repeat(1023)}\n`.repeat(60),
      {},
      `${`${"x".repeat(1023)}\n`.repeat(50)}[Lines 1-50 of 60; continue with offset 51]`,
      true,
    ],
    ["exactly 50 KiB", `${"x".repeat(1023)}\n`.repeat(50), {}, `${"x".repeat(1023)}\n`.repeat(50), false],
  ])("%s", async (_, content, options, shown, truncated) => {
    await ws.put("f", content);
    const outcome = await read("f", options);
    expect([text(outcome), outcome.truncated ?? false]).toEqual([shown, truncated]);
  });

  test("of a first line above the limit the rest can be read with the command told", async () => {
    const line = `${"0123456789".repeat(12_000)}END`;
    await ws.put("it's.js", `first\n${line}\nlast\n`);
    const outcome = await read("it's.js", { offset: 2 });
    const path = `'${ws.root}/it'\\''s.js'`;
    const notice = `[Line 2 of 3, its first 50.0 KiB; the rest: bash tail -c +51207 ${path} | head -n 1 | head -c 51200; the next line is offset 3]`;
    expect(text(outcome)).toBe(`${line.slice(0, 51_200)}\n${notice}`);
    expect(outcome.truncated).toBe(true);
  });

  test.each([
    ["text", "é".repeat(60_000)],
    ["control characters", "\u001b".repeat(60_000)],
    ["bytes that are not UTF-8", Buffer.alloc(60_000, 0xe9)],
  ])("the pieces of a long line of %s are the line", async (_, content) => {
    const bytes = Buffer.concat([Buffer.from(content), Buffer.from("\n")]);
    await ws.put("f", bytes);
    const outcome = await read("f");
    const command = /bash (.*)\]$/.exec(text(outcome))?.[1] ?? "";
    const next = execFileSync(programPath("bash"), ["-c", command], { cwd: "/" });
    const from = outcome.details.bytes ?? 0;
    expect(next.equals(bytes.subarray(from, from + 51_200))).toBe(true);
    expect(text(outcome).length).toBeLessThan(52_000);
  });
});

describe("O-OUT-01: a cut never breaks a character", () => {
  test.each([0, 1, 2, 3])("%i bytes before the rockets", async (k) => {
    await ws.put("f", "a".repeat(k) + "🚀".repeat(20_000));
    const shown = text(await read("f"));
    expect(isWellFormed(shown) && !shown.includes("\ufffd")).toBe(true);
    expect(shown.slice(0, shown.indexOf("\n"))).toBe("a".repeat(k) + "🚀".repeat(Math.floor((51_200 - k) / 4)));
  });
});

test.each([
  ["f", 11, "`f`: offset 11 is past the end; the file has 10 lines"],
  ["e", 2, "`e`: offset 2 is past the end; the file has 0 lines"],
])("an offset past the end of %s is an error that gives the length", async (path, offset, words) => {
  await ws.put("f", seq(10));
  await ws.put("e", "");
  const outcome = await read(path, { offset });
  expect([outcome.status, text(outcome)]).toEqual(["failed", words]);
});

test("an empty file says so", async () => {
  await ws.put("e", "");
  expect(text(await read("e"))).toBe("[The file is empty]");
});

describe("O-EDIT-03, O-OUT-04: what cannot be shown as it is, is told", () => {
  test.each<[string, Buffer, string]>([
    [
      "bytes that are not UTF-8",
      Buffer.from("caf\xe9\n", "latin1"),
      "caf\ufffd\n[Bytes that are not valid UTF-8 are shown as U+FFFD; the file itself is unchanged]",
    ],
    ["a true U+FFFD is no such byte", Buffer.from("\ufffd\n"), "\ufffd\n"],
    [
      "escape sequences",
      Buffer.from("\u001b[31mred\u001b]0;t\u0007\u009b\n"),
      "\\x1b[31mred\\x1b]0;t\\x07\\x9b\n[Control characters are shown as escapes such as \\x1b; the file holds the characters]",
    ],
    ["a byte order mark", Buffer.from("\ufeffa\n"), "a\n[The file begins with a UTF-8 byte order mark, not shown]"],
    ["NUL after the first 8 KiB", Buffer.from(`${"a\n".repeat(5000)}\0`), "a\na\n"],
  ])("%s", async (_, bytes, shown) => {
    await ws.put("f", bytes);
    const all = text(await read("f"));
    expect(all.slice(0, shown.length)).toBe(shown);
    expect(["\0", "\u001b", "\u009b"].filter((control) => all.includes(control))).toEqual([]);
  });
});

describe("O-READ-01: what is no regular file is refused at once, by name", () => {
  test.each<[string, string]>([
    ["p", "`p` is a FIFO, not a regular file"],
    ["l", "`l` is a FIFO, not a regular file"],
    ["/dev/zero", "`/dev/zero` is a device, not a regular file"],
    ["/dev/tty", "`/dev/tty` is a device, not a regular file"],
    [".", "`.` is a directory, not a regular file; use ls"],
    ["nothing", "nothing: no such file or directory"],
    ["", "The path is empty; name a file or directory, `.` is the workspace"],
  ])("%s", async (path, words) => {
    execFileSync("mkfifo", [ws.path("p")]);
    await symlink("p", ws.path("l"));
    const outcome = await read(path);
    expect([outcome.status, text(outcome)]).toEqual(["failed", words]);
  });

  test.each(["/proc/kmsg", "/proc/self/mem", "/proc/self/task"])("%s is an answer at once", async (path) => {
    const outcome = await withoutRoot(ws, () => read(path));
    expect([outcome.status, text(outcome).includes("E")]).toEqual(["failed", false]);
  });

  test("a socket", async () => {
    const server = createServer().listen(ws.path("s"));
    await new Promise((resolve) => server.on("listening", resolve));
    expect(text(await read("s"))).toBe("`s` is a socket, not a regular file");
    server.close();
  });

  test("a writer that waits at a FIFO is not woken", async () => {
    execFileSync("mkfifo", [ws.path("p")]);
    const writer = spawn("sh", ["-c", 'echo x > "$1"', "sh", ws.path("p")]);
    await read("p");
    expect(writer.exitCode).toBe(null);
    writer.kill();
  });

  test("a file of /proc, whose size is 0, is read", async () => {
    const outcome = await read("/proc/self/status");
    expect([outcome.status, text(outcome).startsWith("Name:\t")]).toEqual(["ok", true]);
  });
});

test("a binary file of /proc, whose size is 0, is told by the bytes it has", async () => {
  expect(text(await read("/proc/self/cmdline"))).toMatch(/: binary data, [1-9]\d* bytes; /);
});

test.each(["utf16le", "utf16be", "utf32le"])("the command that is told makes %s readable", async (kind) => {
  const le = Buffer.from("\ufeffhé\n", "utf16le");
  const wide = Buffer.concat(
    [...le.toString("utf16le")].map((one) => Buffer.from([...Buffer.from(one, "utf16le"), 0, 0])),
  );
  await ws.put("it's", { utf16le: le, utf16be: Buffer.from(le).swap16(), utf32le: wide }[kind] ?? "");
  const command = /iconv .*$/.exec(text(await read("it's")))?.[0] ?? "";
  const shown = execFileSync(programPath("bash"), ["-c", command], { cwd: "/", encoding: "utf8" });
  expect(shown.replace("\ufeff", "")).toBe("hé\n");
});

test("the command that is told shows the bytes of a binary", async () => {
  await ws.put("b", Buffer.from("\0ab"));
  const command = /od .*$/.exec(text(await read("b")))?.[0] ?? "";
  expect(execFileSync(programPath("bash"), ["-c", command], { encoding: "utf8" })).toContain("00 61 62");
});

test("20 GB cost what is shown", async () => {
  await ws.put("big", seq(10));
  await truncate(ws.path("big"), 20 * 1024 ** 3);
  const started = Date.now();
  const first = await read("big", { limit: 3 });
  expect(text(first)).toBe(
    `\`big\`: binary data, 20.0 GiB; not shown as text, look into it with bash, for example od -A x -t x1z -N 256 '${ws.root}/big'`,
  );
  await writeFile(ws.path("big"), "line\n".repeat(4000));
  await truncate(ws.path("big"), 20 * 1024 ** 3);
  const second = await read("big", { offset: 5, limit: 3 });
  expect(text(second)).toBe("line\nline\nline\n[Lines 5-7 of a file of 20.0 GiB; continue with offset 8]");
  expect(Date.now() - started).toBeLessThan(15_000);
});

test("the rest of a line of gigabytes is told by a command that goes there at once", async () => {
  await ws.put("big", "line\n".repeat(4000));
  await truncate(ws.path("big"), 2 * 1024 ** 3);
  const shown = text(await read("big", { offset: 4001 }));
  const command = /bash (.*)\]$/.exec(shown)?.[1]?.split(";")[0] ?? "";
  expect(command).toBe(`tail -c +32801 '${ws.root}/big' | head -n 1 | head -c 51200`);
  const rest = execFileSync(programPath("bash"), ["-c", command.replace("head -n 1 | ", "")]);
  expect(rest.equals(Buffer.alloc(51_200))).toBe(true);
});

test("what is behind a hole of gigabytes is reached", async () => {
  await ws.put("big", "first\n".repeat(2000));
  await truncate(ws.path("big"), 512 * 1024 ** 2);
  await appendFile(ws.path("big"), "\nlast\n");
  expect(text(await read("big", { offset: 2002 }))).toBe("last\n");
});

test("an offset far into a large file is reached in constant memory", async () => {
  await ws.put("big", `${"x".repeat(99)}\n`.repeat(1_000_000));
  const before = process.memoryUsage().rss;
  const outcome = await read("big", { offset: 999_999 });
  expect(text(outcome)).toBe(`${"x".repeat(99)}\n${"x".repeat(99)}\n`);
  expect(process.memoryUsage().rss - before).toBeLessThan(50 * 1024 * 1024);
});

describe("pictures and other binaries are told by their content", () => {
  test("a picture becomes an image part, whatever its name", async () => {
    await ws.put("f.txt", PNG);
    const outcome = await read("f.txt");
    expect(Outcome.parse(outcome)).toEqual({
      status: "ok",
      content: [
        { type: "text", text: "`f.txt`: image/png, 70 bytes" },
        { type: "image", mime: "image/png", data: PNG.toString("base64") },
      ],
      details: { bytes: 70 },
    });
  });

  test.each<[string, Buffer, string]>([
    ["jpeg", JPEG, "<image/jpeg>"],
    ["gif", GIF, "<image/gif>"],
    ["webp", WEBP, "<image/webp>"],
    ["a jpeg with bytes behind its end", Buffer.concat([JPEG, Buffer.from("more")]), "<image/jpeg>"],
    ["words that begin like a gif", Buffer.from("GIF89a is a format\n"), "GIF89a is a format\n"],
    [
      "a gif that is words behind a NUL",
      Buffer.from("GIF89a\x01\0\x01\0 but no picture"),
      "its inside is no such picture",
    ],
    ["nothing but the magic of a png", PNG.subarray(0, 8), "image/png, 8 bytes; not shown as a picture: it is cut off"],
    ["a png without a width", Buffer.concat([PNG.subarray(0, 16), Buffer.alloc(4), PNG.subarray(20)]), "no width"],
    ["a png of other chunks", Buffer.concat([PNG.subarray(0, 8), Buffer.alloc(40)]), "its inside is no such picture"],
    ["a jpeg without a frame", Buffer.from("ffd8ffda0004000000ffd9", "hex"), "its inside is no such picture"],
    [
      "a webp of sound",
      Buffer.concat([WEBP.subarray(0, 12), Buffer.from("WAVE"), WEBP.subarray(16)]),
      "no such picture",
    ],
    ["a png by its name only", Buffer.from("\x89PNX"), "PNX"],
    ["RIFF that is no picture", Buffer.from("RIFF\0\0\0\0WAVE"), "binary data, 12 bytes"],
    ["an ELF file", Buffer.from("\x7fELF\x02\x01"), "ELF program or library, 6 bytes"],
    [
      "UTF-16",
      Buffer.from("\ufeffhi", "utf16le"),
      "UTF-16 text (little endian), 6 bytes; not shown as text, convert it with bash: iconv -f UTF-16LE -t UTF-8 '/",
    ],
  ])("%s", async (_, bytes, shown) => {
    await ws.put("f.png", bytes);
    const outcome = await read("f.png");
    expect([outcome.status, text(outcome).includes(shown)]).toEqual(["ok", true]);
  });

  test.each<[string, Buffer]>([
    ["png", PNG],
    ["jpeg", JPEG],
    ["gif", GIF],
    ["webp", WEBP],
  ])("a %s cut anywhere is named and never sent, for a request that holds it is refused for ever", async (_, whole) => {
    for (let end = 12; end < whole.length; end++) {
      await ws.put("f", whole.subarray(0, end));
      const outcome = await read("f");
      expect([end, outcome.content.length, outcome.status]).toEqual([end, 1, "ok"]);
    }
    await ws.put("f", whole);
    expect((await read("f")).content.length).toBe(2);
  });

  test("a picture above 20 MiB is named, not shown", async () => {
    await ws.put("big.png", PNG);
    await truncate(ws.path("big.png"), 20 * 1024 * 1024 + 1);
    expect(text(await read("big.png"))).toBe("`big.png`: image/png, 20.0 MiB; not shown, at most 20.0 MiB are");
  });
});

test("what was read is remembered by its real path, and only what can be edited", async () => {
  await ws.put("f", "a\n");
  await symlink("f", ws.path("l"));
  await ws.put("big", "a\n".repeat(6 * 1024 * 1024));
  await read("l");
  await read("big");
  expect([...ws.host.seen]).toEqual([
    [ws.path("f"), "87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7"],
  ]);
});

test("a cancelled read says so", async () => {
  await ws.put("f", "a\n");
  ws.abort.abort();
  expect((await read("f")).status).toBe("cancelled");
});
