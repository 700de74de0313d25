// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is shell text
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { openSandbox, Place } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

/** Sets the limit `$1` of the tool host to `$2`. */
const LOWER = `import os, resource, sys
for pid in filter(str.isdigit, os.listdir("/proc")):
    if open(f"/proc/{pid}/cmdline", "rb").read().startswith(b"./gbx"):
        resource.prlimit(int(pid), getattr(resource, sys.argv[1]), (int(sys.argv[2]),) * 2)
`;

type Sh = (command: string, timeout?: number) => Promise<ToolResult>;

/** A sandbox with `kept=1` in its shell. */
async function open() {
  const place = await Place.create();
  await writeFile(join(place.root, "lower.py"), LOWER);
  const opened = await openSandbox(place.root);
  const sh: Sh = (command, timeout = 10) => call(opened.sandbox, "bash", { command, timeout });
  await sh("export kept=1");
  const close = async (): Promise<void> => {
    await opened[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  };
  return { ...opened, root: place.root, sh, [Symbol.asyncDispose]: close };
}

const STATE = "/run/glovebox";

describe("P-38 a state folder spoilt", () => {
  it.each([
    ["by a FIFO in its place", `rm -rf ${STATE}; mkfifo ${STATE}`],
    ["by a file in its place", `rm -rf ${STATE}; touch ${STATE}`],
    ["by a link to the workspace in its place", `mv ${STATE} /run/x; mkdir ws; ln -s $PWD/ws ${STATE}`],
    ["by closing it", `chmod 0 ${STATE}`],
    ["by filling its disk", "head -c 3G /dev/zero >/run/fill"],
  ])("%s costs the command its own changes, which it is told", async (name, command) => {
    await using sandbox = await open();
    const spoilt = words(await sandbox.sh(`export kept=2; { ${command}; } >/dev/null 2>&1`, 60));
    const why = name.includes("disk") ? /file system of .* is full/ : /removed or replaced/;
    expect(spoilt).toMatch(why);
    expect(spoilt).toContain("directory and variables are as before this command");
    expect(words(await sandbox.sh("echo $kept; ls ws 2>/dev/null"))).toMatch(/^1\n/);
  });

  it("by FIFOs in the place of all its files hangs nothing, also after the tool host is killed", async () => {
    await using sandbox = await open();
    const plant = `cd ${STATE}; for f in $(find . -type f ! -path './run-*'); do rm $f; mkfifo $f; done; cd - >/dev/null`;
    await sandbox.sh(plant);
    expect(words(await sandbox.sh("echo $kept"))).toBe("1\n");
    expect((await sandbox.sh(`${plant}; kill -9 $PPID`)).status).toBe("lost");
    expect(words(await sandbox.sh("echo [$kept]"))).toMatch(/^\[\]\n\[the tool host .* are as at the start\]$/);
  });

  it("by a job, over and over, ends the job", async () => {
    await using sandbox = await open();
    await sandbox.sh(`(while true; do rm -rf ${STATE}; mkfifo ${STATE}; done) >/dev/null 2>&1 & sleep 0.3`);
    expect(words(await sandbox.sh("echo $kept; pgrep -c mkfifo"))).toMatch(/^1\n0\n\[something keeps spoiling/);
    expect(words(await sandbox.sh("echo next"))).toBe("next\n");
  });
});

describe("P-37 a tool host whose limits a command lowers", () => {
  it.each([
    ["NOFILE", 3],
    ["AS", 1],
    ["FSIZE", 0],
    ["NPROC", 0],
    ["DATA", 1],
    ["STACK", 1],
  ])("is started again: %s %i", async (limit, value) => {
    await using sandbox = await open();
    expect((await sandbox.sh(`python3 lower.py RLIMIT_${limit} ${value}`)).status).toBe("lost");
    expect(words(await sandbox.sh("echo $kept; echo x >/tmp/x && cat /tmp/x"))).toBe("1\nx\n");
    const files = [
      await call(sandbox.sandbox, "write", { path: "new", content: "text\n" }),
      await call(sandbox.sandbox, "grep", { pattern: "text" }),
    ];
    expect(files.map(({ status }) => status)).toEqual(["ok", "ok"]);
  });
});

describe("P-30 a fork bomb", () => {
  it.each([
    ["that its command leaves behind", ":(){ :|:& };:", "ok", /processes it left behind were ended/],
    ["at its limit", ":(){ :|:& };:; sleep 60", "timed_out", /its processes were killed/],
    ["that ignores SIGTERM", "trap '' TERM; b(){ b|b& }; b", "ok", /processes it left behind were ended/],
  ])("%s is ended, and the next command is quick", async (_, command, status, why) => {
    await using sandbox = await open();
    const result = await sandbox.sh(`exec 2>/dev/null; ${command}`, 3);
    expect([result.status, words(result)]).toEqual([status, expect.stringMatching(why)]);
    expect(result.details.duration_ms).toBeLessThan(9_000);
    const next = await sandbox.sh("ps -eo stat= | grep -vc Z; echo $kept");
    expect(words(next)).toMatch(/^[4-9]\n1\n$/);
    expect(next.details.duration_ms).toBeLessThan(1_000);
  });

  it("left by a command does not stop the jobs that were there before it", async () => {
    await using sandbox = await open();
    const beat = "import time\nwhile True: print(1, flush=True); time.sleep(0.05)";
    await sandbox.sh(`python3 -c '${beat}' >/tmp/beat 2>&1 & sleep 0.2`);
    expect(words(await sandbox.sh("exec 2>/dev/null; b(){ b|b& }; b"))).toContain("were ended");
    expect(words(await sandbox.sh("n=$(wc -l </tmp/beat); sleep 0.5; echo $(( $(wc -l </tmp/beat) > n ))"))).toBe(
      "1\n",
    );
  });

  it("that a background job becomes is ended before the next command, which is quick", async () => {
    await using sandbox = await open();
    await call(sandbox.sandbox, "bash", { command: "exec 2>/dev/null; b(){ b|b& }; b; sleep 60", background: true });
    const next = await sandbox.sh("echo next");
    expect(words(next)).toContain("next\n");
    expect(next.details.duration_ms).toBeLessThan(6_000);
    expect(words(await sandbox.sh("ps -eo stat= | grep -vc Z"))).toMatch(/^[4-9]\n$/);
  });
});

describe("P-38 what a root-owned workspace lets a command do", () => {
  it("to /dev/null ends later commands at their limit, and never the tool host", async () => {
    await using box = await open();
    await box.sh("rm -f /dev/null && mkfifo /dev/null");
    const next = await box.sh("echo next", 2);
    expect(["ok", "timed_out"]).toContain(next.status);
    expect((await call(box.sandbox, "ls", {})).status).toBe("ok");
    expect(box.events.map(({ event }) => event)).toEqual(["started", "selftest"]);
  });
});
