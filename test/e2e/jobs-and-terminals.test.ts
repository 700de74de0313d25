import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cli, type Ended, Place } from "../support/engine.ts";

/** What was offered to the model, and what it read of each of its calls. */
type Told = { tools: string[]; results: { status: string; text: string }[] };

async function play(place: Place, script: string, ...more: string[]): Promise<{ run: Ended; told: Told }> {
  const file = join(place.folder, "s.yaml");
  await writeFile(file, script);
  const args = ["run", "--json", "--workspace", place.root, "--model", `scripted:${file}`, ...more, "go"];
  const run = await cli(args, { env: { GLOVEBOX_HOME: join(place.folder, "h") } });
  const log = await readFile(JSON.parse(run.stdout).session_file, "utf8");
  const events = log.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line)]));
  return {
    run,
    told: {
      tools: events.find(({ type }) => type === "system").tools.map(({ name }: { name: string }) => name),
      results: events
        .filter(({ type }) => type === "tool_result")
        .map(({ status, content }) => ({ status, text: content[0].text })),
    },
  };
}

const SEVEN = ["bash", "edit", "find", "grep", "ls", "read", "write"];

describe("a run", () => {
  it("has jobs read, listed and ended by id, and types into a terminal that a person switched on", async () => {
    await using place = await Place.create();
    const { run, told } = await play(
      place,
      String.raw`
- calls: [ { bash: { command: "echo up; exec sleep 600", background: true } }, { bash: { job: 1 } } ]
- calls: [ { pty: { action: start, command: "python3 -q", wait: 20 } } ]
- calls: [ { pty: { action: send, id: 2, text: "print(6 * 7)\n", wait: 20 } } ]
- calls: [ { bash: { job: 0 } }, { bash: { job: 1, kill: true } }, { pty: { action: kill, id: 2 } }, { bash: { job: 9 } } ]
- text: "Done."
`,
      "--tool",
      "pty",
    );
    expect(run.code).toBe(0);
    expect(told.tools).toEqual(["bash", "edit", "find", "grep", "ls", "pty", "read", "write"]);
    const texts = told.results.map(({ text }) => text);
    expect(texts[1]).toMatch(/^up\n\[job 1 is running for \d+ s, pid \d+ \(sleep 600\); log \S+\]$/);
    expect(texts[2]).toContain(">>> ");
    expect(texts[3]).toMatch(/^print\(6 \* 7\)\n42\n>>> \n\[job 2 is running/);
    expect(texts[4]).toMatch(/^job 1: running .*\njob 2 \(on a terminal\): running .*python3 -q; log \S+$/);
    expect(texts[5]).toMatch(/\[1 process of it ended\]\n\[job 1 was killed by SIGTERM after /);
    expect(texts[6]).toMatch(/\[\d processes of it ended\]\n\[job 2 /);
    expect(told.results[7]).toEqual({ status: "failed", text: "No background job 9; there are: 1, 2" });
  });

  it("without --tool has seven tools, and a call of the eighth says how a person gets it", async () => {
    await using place = await Place.create();
    const script = `- calls: [ { pty: { action: start, command: "touch made" } } ]\n- text: "Done."\n`;
    const { told } = await play(place, script);
    expect(told.tools).toEqual(SEVEN);
    expect(told.results).toEqual([
      {
        status: "invalid",
        text: `Not run: \`pty\` is not switched on in this session; a person switches it on with \`--tool pty\`. Available: ${SEVEN.join(", ")}.`,
      },
    ]);
  });

  it("has a policy that denies a tool above the flag that switches it on", async () => {
    await using place = await Place.create();
    const policy = join(place.folder, "policy.yaml");
    await writeFile(policy, "version: 1\ntools: { deny: [pty] }\n");
    const script = `- calls: [ { pty: { action: start, command: "true" } } ]\n- text: "Done."\n`;
    const { told } = await play(place, script, "--tool", "pty", "--policy", policy);
    expect(told.results).toEqual([{ status: "denied", text: expect.stringContaining("tools.deny[0]") }]);
  });

  it("has what is typed judged by the rules for commands", async () => {
    await using place = await Place.create();
    const policy = join(place.folder, "policy.yaml");
    await writeFile(policy, "version: 1\ncommands: [ { match: touch, decision: deny } ]\n");
    const { told } = await play(
      place,
      String.raw`
- calls: [ { pty: { action: start, command: "cat", wait: 0 } }, { pty: { action: send, id: 1, text: "touch made\n" } } ]
- calls: [ { pty: { action: send, id: 1, text: "echo fine\n", wait: 20 } } ]
- calls: [ { pty: { action: start, command: "sh -i" } } ]
- text: "Done."
`,
      ...["--tool", "pty", "--policy", policy],
    );
    expect(told.results.map(({ status }) => status)).toEqual(["ok", "denied", "ok", "denied"]);
    expect(told.results[2]?.text).toMatch(/^echo fine\necho fine\n\[job 1 is running/);
    expect(told.results[3]?.text).toContain("needs approval");
  });

  it.each([
    ["ptty", /There is no tool `ptty`.*There are `pty`/s],
    ["bash", /The tool `bash` is in every session.*There are `pty`/s],
  ])("with --tool %s does not start, and says what there is", async (name, words) => {
    await using place = await Place.create();
    const { code, stderr } = await cli([
      "run",
      "--workspace",
      place.root,
      "--model",
      "scripted:x",
      "--tool",
      name,
      "go",
    ]);
    expect([code, stderr]).toEqual([2, expect.stringMatching(words)]);
  });
});
