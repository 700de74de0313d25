import { chmodSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { oneAtATime } from "../../../src/toolhost/files/file-queue.ts";
import { handleFind } from "../../../src/toolhost/search/find.ts";
import { handleGrep } from "../../../src/toolhost/search/grep.ts";
import { type StreamRecord, takeRecords } from "../../../src/toolhost/search/records.ts";
import { type RgRun, runRg } from "../../../src/toolhost/search/rg.ts";
import { text, Workspace } from "./fixture.ts";

let ws: Workspace;
beforeEach(() => {
  ws = new Workspace();
});
afterEach(() => ws.remove());

describe("takeRecords", () => {
  test.each([1, 2, 3, 7, 1000])("gives the same records in chunks of %i bytes", async (size) => {
    expect(await records("one\n\ntwo\nthree", size, 100)).toEqual(["one", "", "two", "three"]);
  });

  test("of a record above the limit keeps both ends and what follows", async () => {
    const long = `begin${"x".repeat(300_000)}end`;
    const [first, second] = await records(`${long}\nnext\n`, 1000, 1000);
    expect([first?.slice(0, 10), first?.slice(-10), first?.length, second]).toEqual([
      "beginxxxxx",
      "xxxxxxxend",
      67_536,
      "next",
    ]);
  });
});

describe("runRg", () => {
  test("ends a search at its time limit", async () => {
    const started = Date.now();
    expect(await runRg({ ...fake("exec sleep 30"), timeoutMs: 100 }, () => true)).toEqual({ type: "timed_out" });
    expect(Date.now() - started).toBeLessThan(15_000);
  });

  test("ends a search that is cancelled", async () => {
    const run = runRg(fake("exec sleep 30"), () => true);
    ws.abort.abort();
    expect(await run).toEqual({ type: "cancelled" });
  });

  test("ends a search whose reader has enough", async () => {
    expect(await runRg(fake("exec yes"), () => false)).toEqual({ type: "stopped" });
  });

  test("reads all of what rg complains about and keeps its beginning", async () => {
    const end = await runRg(fake("yes complaint | head -c 300000 >&2; exit 2"), () => true);
    expect(end.type === "done" && [end.exitCode, end.errors.length]).toEqual([2, 4096]);
  });

  test("says that rg is missing, in words", async () => {
    await expect(runRg({ ...fake(""), program: "/nowhere/rg" }, () => true)).rejects.toThrow(
      "The search program did not start: spawn /nowhere/rg ENOENT",
    );
  });

  test("gives rg no environment and no shell", async () => {
    const seen: string[] = [];
    await runRg(fake("/usr/bin/env; printf '%s\\n' \"$@\""), (record) => seen.push(textOf(record)) > 0);
    expect(seen.filter((line) => /^(HOME|PATH|USER|RIPGREP)/.test(line))).toEqual([]);
    expect(seen.slice(-2)).toEqual(["--", "./-target"]);
  });

  function fake(script: string): RgRun {
    const program = ws.path("fake-rg");
    writeFileSync(program, `#!/bin/sh\n${script}\n`);
    chmodSync(program, 0o755);
    const { signal } = ws.abort;
    return {
      program,
      args: [],
      cwd: ws.root,
      isRoot: true,
      target: "-target",
      delimiter: 10,
      maxRecordBytes: 1000,
      timeoutMs: 10_000,
      signal,
    };
  }
});

test("a search that is killed is a failure with what it had found, not an empty answer", async () => {
  const dies = (before: string) => {
    writeFileSync(ws.path("fake-rg"), `#!/bin/sh\n${before}\nkill -9 $$\n`);
    chmodSync(ws.path("fake-rg"), 0o755);
    ws.host.hello.programs.rg = ws.path("fake-rg");
  };
  const killed = "The search program was killed before its end";
  dies("");
  for (const outcome of [await ws.call(handleGrep, { pattern: "x" }), await ws.call(handleFind, { pattern: "x*" })]) {
    expect([outcome.status, text(outcome)]).toEqual(["failed", expect.stringContaining(killed)]);
  }
  dies("printf './x1\\0'");
  const partial = await ws.call(handleFind, { pattern: "x*" });
  expect([partial.status, text(partial)]).toEqual([
    "failed",
    expect.stringMatching(/^x1\n\[The search program was killed/),
  ]);
});

test("tasks of one file run in the order they came, also after one that fails, or whose path takes longer to find", async () => {
  const order: string[] = [];
  const locate = async (name: string) => {
    for (let looks = name === "a" ? 5 : 0; looks > 0; looks--) await new Promise((resolve) => setImmediate(resolve));
    return "/f";
  };
  const task = (name: string, fails = false) =>
    oneAtATime(
      () => locate(name),
      async () => {
        order.push(`${name} begins`);
        await new Promise((resolve) => setImmediate(resolve));
        order.push(`${name} ends`);
        if (fails) throw new Error(name);
      },
    );
  const results = await Promise.allSettled([task("a", true), task("b"), task("c")]);
  expect(results.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
  expect(order).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
});

async function records(content: string, chunkSize: number, maxBytes: number): Promise<string[]> {
  async function* chunks() {
    const bytes = Buffer.from(content);
    for (let at = 0; at < bytes.length; at += chunkSize) yield bytes.subarray(at, at + chunkSize);
  }
  const all: string[] = [];
  await takeRecords(chunks(), { delimiter: 10, maxBytes }, (record) => all.push(textOf(record)) > 0);
  return all;
}

function textOf(record: StreamRecord): string {
  return record.type === "whole" ? record.bytes.toString() : record.head.toString() + record.tail.toString();
}
