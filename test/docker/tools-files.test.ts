import { chmod, mkdir, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { isWellFormed } from "../../src/core/truncate.ts";
import { connect, type Opened, openSandbox, Place } from "../support/engine.ts";
import { deepPath, PICTURE_BYTES, plantOddFiles, pngOf } from "../support/odd-files.ts";
import { call, words } from "../support/sandbox-contract.ts";
import { baseRef, buildTestImage, removeTestImage } from "../support/test-image.ts";

const engine = await connect();
const base = baseRef(engine);
const ESCAPES =
  "[Escapes such as \\x1b or \\n in names stand for characters or bytes that cannot be shown; in bash quote them as $'a\\nb']";

/** One with nothing in it but `sh` and what `sh` needs: no rg, no ls, no cat. */
const BARE = `FROM ${base} AS b
RUN mkdir /tmp/out && cp --parents $(ldd /bin/dash | grep -o '/[^ ]*') /tmp/out && mkdir -p /tmp/out/bin /tmp/out/tmp && cp /bin/dash /tmp/out/bin/sh
FROM scratch
COPY --from=b /tmp/out /`;

describe.each<[string, () => Promise<string | undefined>]>([
  ["the base image", () => Promise.resolve(undefined)],
  ["an image with only sh", () => buildTestImage(engine.docker, `glovebox-test/bare:${process.pid}`, BARE)],
])("odd files in %s", (_, imageOf) => {
  let place: Place;
  let opened: Opened;
  let server: Server;
  const run = (tool: string, args: JsonObject): Promise<ToolResult> => call(opened.sandbox, tool, args);
  const said = async (tool: string, args: JsonObject): Promise<[string, string]> => {
    const result = await run(tool, args);
    return [result.status, words(result)];
  };

  beforeAll(async () => {
    place = await Place.create();
    const image = await imageOf();
    await plantOddFiles(place.root);
    server = createServer().listen(join(place.root, "special/socket"));
    await new Promise((resolve) => server.on("listening", resolve));
    opened = await openSandbox(place.root, image === undefined ? {} : { image });
  });
  afterAll(async () => {
    server?.close();
    await opened?.[Symbol.asyncDispose]();
    await place?.[Symbol.asyncDispose]();
    await removeTestImage(engine.docker, `glovebox-test/bare:${process.pid}`);
  });

  it.each<[string, string]>([
    ["special/fifo", "`special/fifo` is a FIFO, not a regular file"],
    ["special/link", "`special/link` is a FIFO, not a regular file"],
    ["special/socket", "`special/socket` is a socket, not a regular file"],
    ["special", "`special` is a directory, not a regular file; use ls"],
    ["special/loop", "special/loop: too many symbolic links"],
    ["special/broken", "special/broken: no such file or directory"],
    ["special/closed", "special/closed: permission denied"],
    ["/dev/zero", "`/dev/zero` is a device, not a regular file"],
    ["/dev/random", "`/dev/random` is a device, not a regular file"],
    ["/dev/stdin", "`/dev/stdin` is a"],
    ["/proc/self/fd/0", "`/proc/self/fd/0` is a"],
  ])("O-READ-01: read of %s is refused at once", async (path, expected) => {
    const [status, text] = await said("read", { path });
    expect([status, text.slice(0, expected.length)]).toEqual(["failed", expected]);
  });

  it("O-READ-01: the kernel's log is an answer at once, and a file of /proc is read though its size is 0", async () => {
    expect((await run("read", { path: "/proc/kmsg" })).status).toBe("failed");
    const [status, text] = await said("read", { path: "/proc/self/status" });
    expect([status, text.split("\n")[0]]).toEqual(["ok", expect.stringContaining("Name:\t")]);
  });

  it("O-READ-01: grep and find pass over what is no regular file, and name a directory that is closed", async () => {
    const found = await run("grep", { pattern: "needle", path: "special" });
    expect(words(found)).toMatch(/^special\/plain:1:needle\n\[Not all could be searched: (?:.*closed.*\n?)+\]$/);
    expect(words(await run("find", { pattern: "*", path: "special" }))).toMatch(
      /^special\/closed\nspecial\/plain\n\[Not all could be listed: .*closed-folder: Permission denied.*\]$/,
    );
    expect(await said("grep", { pattern: "x", path: "special/fifo" })).toEqual([
      "failed",
      "`special/fifo` is a FIFO, not a regular file",
    ]);
    expect(await said("find", { pattern: "*", path: "special/closed-folder" })).toEqual([
      "failed",
      "special/closed-folder: permission denied",
    ]);
  });

  it("ls names each kind, and links that lead nowhere", async () => {
    expect(words(await run("ls", { path: "special" }))).toBe(
      [
        "link\t-\tbroken -> nowhere (broken)",
        "file\t7\tclosed",
        "dir\t-\tclosed-folder/",
        "fifo\t-\tfifo",
        "link\t-\tfolder -> ./",
        "link\t-\tlink -> fifo",
        "link\t-\tloop -> loop (broken)",
        "file\t7\tplain",
        "socket\t-\tsocket",
      ].join("\n"),
    );
  });

  it("O-FIND-01: what begins with a dash is a name and a pattern, and runs nothing", async () => {
    for (const pattern of ["--pre=/bin/sh", `--pre=${place.root}/dash/x.sh`, "-rf", "->"]) {
      const [status, text] = await said("grep", { pattern, path: "dash" });
      expect([status, text.split("\n")[0]]).toEqual([
        "ok",
        pattern === "->" ? "dash/-v:1:a->b" : `No matches for \`${pattern}\``,
      ]);
    }
    expect(await said("grep", { pattern: "a", path: "dash/-v" })).toEqual(["ok", "dash/-v:1:a->b"]);
    expect(await said("grep", { pattern: "x", path: "--help" })).toEqual([
      "failed",
      "--help: no such file or directory",
    ]);
    expect(await said("find", { pattern: "-name", path: "dash" })).toEqual(["ok", "No files match `-name`"]);
    expect(await said("ls", { path: "-la" })).toEqual(["failed", "-la: no such file or directory"]);
    expect(await said("grep", { pattern: "(", path: "dash" })).toEqual([
      "failed",
      expect.stringMatching(/^Bad pattern/),
    ]);
    expect(await said("ls", { path: "dash" })).toEqual(["ok", "file\t5\t-v\nfile\t23\tx.sh"]);
  });

  it("O-FIND-02: ignore rules hold where they stand, and an answer they empty says so", async () => {
    expect(await said("find", { pattern: "**/*.py", path: "rules" })).toEqual(["ok", "rules/src/a.py"]);
    const [, text] = await said("find", { pattern: "dist/app.js", path: "rules" });
    expect(text).toMatch(/^No files match .* outside of ignored files .*\nrules\/dist\/app\.js$/);
    expect(await said("find", { pattern: ".env.example", path: "rules" })).toEqual(["ok", "rules/.env.example"]);
    expect((await run("grep", { pattern: "needle", path: "rules/dist/app.js" })).details.matches).toBe(1);
  });

  it("O-FIND-03: one match in a line of megabytes is 500 characters; one in 157 MB is told; a binary is named", async () => {
    const small = words(await run("grep", { pattern: "stats", path: "lines/three.min.js" }));
    expect([small.includes("stats"), small.length < 700]).toEqual([true, true]);
    expect(words(await run("grep", { pattern: "stats", path: "lines" }))).toBe(
      `Binary file lines/a.so matches\nlines/huge:1:(a line of about 149.7 MiB, too long to show)\n${small}`,
    );
    const shown = await run("read", { path: "lines/huge" });
    expect([shown.truncated, words(shown).length < 52_000]).toEqual([true, true]);
  });

  it("O-FIND-04: names that are not text are one entry each in ls, find and grep", async () => {
    const names = ["\\x1b[31mred", " lead", "--", "-rf", "a\\nb", "caf\\xe9", "x;y"];
    const listed = await run("ls", { path: "names" });
    expect(words(listed)).toBe([...names.map((name) => `file\t7\t${name}`), ESCAPES].join("\n"));
    expect(words(await run("find", { pattern: "*", path: "names" }))).toBe(
      [...names.map((name) => `names/${name}`), ESCAPES].join("\n"),
    );
    const found = words(await run("grep", { pattern: "needle", path: "names" }));
    expect(found).toBe(names.map((name) => `names/${name}:1:needle`).join("\n"));
    expect(isWellFormed(JSON.stringify(listed))).toBe(true);
  });

  it("a path of 4,000 bytes is read, listed and found; a longer one is refused in words", async () => {
    const deep = deepPath(place.root);
    expect(await said("read", { path: `${deep}/f` })).toEqual(["ok", "needle\n"]);
    expect(await said("ls", { path: deep })).toEqual(["ok", "file\t7\tf"]);
    expect(words(await run("find", { pattern: "f", path: "long" }))).toBe(`${deep}/f`);
    expect(words(await run("grep", { pattern: "needle", path: "long" }))).toBe(`${deep}/f:1:needle`);
    expect(await said("read", { path: `${deep}/${`${"x".repeat(250)}/`.repeat(2)}f` })).toEqual([
      "failed",
      expect.stringMatching(/bytes; at most 4095 are possible|too long/),
    ]);
  });

  it("20 GB cost what is shown of them, and what is behind a hole of 2 GB is reached", async () => {
    expect(await said("read", { path: "sparse", offset: 5, limit: 2 })).toEqual([
      "ok",
      "line\nline\n[Lines 5-6 of a file of 20.0 GiB; continue with offset 7]",
    ]);
    expect(await said("read", { path: "far", offset: 4002 })).toEqual(["ok", "last\n"]);
  });

  it("a picture of 19 MiB arrives whole, a cut one is named", async () => {
    const { content, details } = await run("read", { path: "pictures/large.png" });
    const picture = content.find(({ type }) => type === "image");
    expect(details.bytes).toBe(PICTURE_BYTES);
    expect(picture).toMatchObject({ mime: "image/png", data: pngOf(PICTURE_BYTES).toString("base64") });
    expect(await said("read", { path: "pictures/cut.png" })).toEqual([
      "ok",
      "`pictures/cut.png`: image/png, 4.0 KiB; not shown as a picture: it is cut off",
    ]);
  });

  it("a file and a tree that go away while they are read are answers", async () => {
    const folder = join(place.root, "going");
    await mkdir(folder);
    await chmod(folder, 0o777);
    for (let at = 0; at < 500; at++) await writeFile(join(folder, `f${at}`), "needle\n");
    const results = Promise.all(
      ["read", "ls", "grep", "find"].flatMap((tool) =>
        Array.from({ length: 4 }, (_, at) =>
          run(tool, {
            path: tool === "read" ? `going/f${at}` : "going",
            ...(/find|grep/.test(tool) && { pattern: "*f*" }),
          }),
        ),
      ),
    );
    await rm(folder, { recursive: true });
    for (const { status } of await results) expect(["ok", "failed"]).toContain(status);
    expect(await said("ls", { path: "going" })).toEqual(["failed", "going: no such file or directory"]);
  });
});

describe("a tree of 100,000 files", () => {
  it("is listed, searched and counted with bounded answers", async () => {
    await using place = await Place.create();
    await using opened = await openSandbox(place.root);
    const run = (tool: string, args: JsonObject): Promise<ToolResult> => call(opened.sandbox, tool, args);
    await run("bash", {
      command: "mkdir many; cd many; seq -f 'file%06g.txt' 100000 | xargs touch; echo needle >file050000.txt",
    });
    const listed = await run("ls", { path: "many" });
    expect(words(listed).split("\n").slice(498)).toEqual([
      "file\t0\tfile000499.txt",
      "file\t0\tfile000500.txt",
      "[First 500 of 100000 entries; raise limit, or use find with a pattern]",
    ]);
    const found = await run("find", { pattern: "*.txt" });
    expect([found.details.matches, words(found).split("\n").at(-1)]).toEqual([
      100_000,
      "[First 1000 of 100000 files; narrow the pattern or path, or raise limit]",
    ]);
    expect(words(await run("grep", { pattern: "needle" }))).toBe("many/file050000.txt:1:needle");
    await run("bash", { command: "rm -rf many" });
  });
});
