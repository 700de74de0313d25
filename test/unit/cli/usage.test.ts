import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/program.ts";
import { RunResult } from "../../../src/session/result.ts";
import { fakeIo } from "./fake-io.ts";

async function stderrOf(argv: string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  const io = fakeIo();
  io.stdin.end();
  const code = await main(argv, io);
  return { code, stdout: io.stdout.text, stderr: io.stderr.text };
}

describe("a command line that cannot be read ends with 2 and one sentence", () => {
  it.each([
    [["rnu"], "There is no command `rnu`", "Did you mean `run`?"],
    [["sessions", "lst"], "There is no command `lst`", "Did you mean `list`?"],
    [["run", "--modle", "x"], "Unknown option `--modle`", "Did you mean `--model`?"],
    [["run", "--model"], "Option `--model <name>` argument missing", "glovebox run --help"],
    [["run", "--max-turns", "0", "x"], "`--max-turns` is `0`, which is not a whole number from 1 to 100000", ""],
    [["run", "--max-turns", "1.5", "x"], "`--max-turns` is `1.5`, which is not a whole number", ""],
    [["run", "--max-seconds", "1e99", "x"], "`--max-seconds` is `1e99`, which is not a number", ""],
    [["run", "--model-retries", "abc", "x"], "`--model-retries` is `abc`", ""],
    [["run", "--approve", "aks", "x"], "`--approve` is `aks`, expected `ask`, `auto` or `deny`", "--approve ask"],
    [["run", "--events", "--json", "x"], "`--json` and `--events` both want the whole of stdout", ""],
    [["run", "--model", "scripted:none.yaml", " "], "The prompt is empty", "glovebox run"],
    [["run"], "The prompt is empty", ""],
    [["exec"], "A shell needs a terminal, and there is none", "glovebox exec -- npm test"],
    [["sessions", "show"], "Missing required argument `id`", "glovebox sessions show --help"],
  ])("%j", async (argv, sentence, hint) => {
    const { code, stderr } = await stderrOf(argv);
    expect(code).toBe(2);
    expect(stderr).toContain(`glovebox: ${sentence}`);
    expect(stderr).toContain(hint);
    expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
  });

  it.each([
    [["run", "--json", "--bogus"]],
    [["run", "--json", "--max-turns", "0", "x"]],
    [["run", "--json", "--events", "x"]],
    [["run", "--json", "--workspace", "/nowhere", "--model", "scripted:none.yaml", "x"]],
  ])("%j prints one result object all the same", async (argv) => {
    const { code, stdout } = await stderrOf(argv);
    expect(RunResult.parse(JSON.parse(stdout))).toMatchObject({ outcome: "failed", exit_code: code, session_id: null });
    expect(stdout.trimEnd()).not.toContain("\n");
  });
});

describe("help", () => {
  it("goes to stderr and is a usage error for `glovebox` alone", async () => {
    const { code, stdout, stderr } = await stderrOf([]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Usage: glovebox");
  });

  it("goes to stdout when asked for, and `run` lists its exit codes", async () => {
    const { code, stdout, stderr } = await stderrOf(["run", "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Exit codes: 0 completed");
  });
});

describe("the prompt", () => {
  it("is asked for at once, not waited for, when stdin is a terminal (O-CLI-01)", async () => {
    const io = fakeIo();
    io.stdin.isTTY = true;
    expect(await main(["run"], io)).toBe(2);
    expect(io.stderr.text).toContain("There is no prompt");
  });

  it("is not waited for on a stdin that never ends when words are given (O-CLI-01)", async () => {
    const io = fakeIo();
    expect(await main(["run", "--model", "scripted:none.yaml", "do", "it"], io)).toBe(2);
    expect(io.stderr.text).toContain("none.yaml");
  });

  it("is refused above 1 MiB", async () => {
    const io = fakeIo();
    io.stdin.end("x".repeat(1024 * 1024 + 1));
    expect(await main(["run", "-"], io)).toBe(2);
    expect(io.stderr.text).toContain("longer than 1 MiB");
  });

  it("is no longer waited for after SIGTERM, and the object says aborted", async () => {
    const io = fakeIo();
    const done = main(["run", "--json"], io);
    await new Promise((resolve) => io.signals.on("newListener", (name) => name === "SIGHUP" && setImmediate(resolve)));
    (io.signals as NodeJS.EventEmitter).emit("SIGTERM");
    expect(await done).toBe(143);
    expect(JSON.parse(io.stdout.text)).toMatchObject({ outcome: "aborted", exit_code: 143, error: null });
  });
});
