import { stat } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { connect } from "../support/engine.ts";
import { EngineSession } from "../support/engine-session.ts";

/** One item of a script that calls `bash` with each of these. */
function bash(...commands: (string | { command: string; timeout: unknown })[]): string {
  const calls = commands.map((command) => ({ bash: typeof command === "string" ? { command } : command }));
  return `- calls: ${JSON.stringify(calls)}\n`;
}

const DONE = `- text: "Done."\n`;

function statuses({ results }: EngineSession): [string, string | undefined, number | undefined][] {
  return results.map(({ status, reason, details }) => [status, reason, details.exit_code]);
}

/** Aborts once a command has printed. */
async function runAborted(session: EngineSession, prompt: string): Promise<void> {
  const controller = new AbortController();
  session.onEvent = (event) => {
    if (event.type === "tool_output") controller.abort();
  };
  const { outcome } = await session.run(prompt, controller.signal);
  expect(outcome).toBe("aborted");
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

describe("a session in a container", () => {
  it("T25 an abort in the first of four calls leaves four results, and the next prompt is taken", async () => {
    await using session = await EngineSession.open(
      bash("echo begun; sleep 60", "touch two", "touch three", "touch four") + bash("ls") + DONE,
    );
    await runAborted(session, "Go.");
    expect(statuses(session)).toEqual([
      ["cancelled", "interrupted", undefined],
      ["not_run", "aborted_run", undefined],
      ["not_run", "aborted_run", undefined],
      ["not_run", "aborted_run", undefined],
    ]);
    expect((await session.run("And now?")).outcome).toBe("completed");
    expect(session.texts[4]).toBe("(no output)");
  });

  it("T26 what an aborted command would have done later never happens", async () => {
    await using session = await EngineSession.open(
      bash("(trap '' TERM; sleep 1; touch child) & echo begun; sleep 1; touch marker") + bash("sleep 2; ls") + DONE,
    );
    await runAborted(session, "Go.");
    await session.run("And now?");
    expect(session.texts[1]).toBe("(no output)");
    // The same, when nobody aborts.
    await using control = await EngineSession.open(
      bash("(sleep 0.1; touch child) & sleep 0.1; touch marker; wait") + DONE,
    );
    await control.run("Go.");
    expect(await isThere(join(control.scene.root, "marker"))).toBe(true);
    expect(await isThere(join(control.scene.root, "child"))).toBe(true);
  });

  it("T26 a daemon of two forks lives on between calls and is gone with its session", async () => {
    const session = await EngineSession.open(
      bash(
        "(setsid sleep 300 >/dev/null 2>&1 &) ; (setsid sh -c 'while sleep 0.1; do date +%N >beat; done' >/dev/null 2>&1 &)",
      ) +
        bash("pgrep -c sleep") +
        DONE,
    );
    const beat = join(session.scene.root, "beat");
    const { containerId } = session.session.sandbox.facts;
    try {
      await session.run("Go.");
      expect(Number.parseInt(session.texts[1] ?? "", 10)).toBeGreaterThanOrEqual(1);
      await expect.poll(() => isThere(beat), { timeout: 10_000 }).toBe(true);
      await session.session.close();
      const { mtimeMs } = await stat(beat);
      const { docker } = await connect();
      await expect(docker.getContainer(containerId).inspect()).rejects.toThrow("No such container");
      // Three beats later nothing beats.
      await sleep(300);
      expect((await stat(beat)).mtimeMs).toBe(mtimeMs);
    } finally {
      await session[Symbol.asyncDispose]();
    }
  });

  it("T27 a child that keeps the output open does not hold up the result of a shell that exited", async () => {
    await using session = await EngineSession.open(
      bash({ command: "(sleep 60; echo late) & exit 0", timeout: 30 }, "echo next") + DONE,
    );
    await session.run("Go.");
    expect(statuses(session)).toEqual([
      ["ok", undefined, 0],
      ["ok", undefined, 0],
    ]);
    expect(session.results[0]?.details.duration_ms).toBeLessThan(10_000);
    expect(session.texts[0]).toContain("goes on in the background");
    expect(session.texts[1]).toBe("next\n");
  });

  it("T28 each of the texts that break a shell fed by a prompt has its own exit code and output", async () => {
    const marker = "__GLOVEBOX_DONE_7f3a__";
    const cases: [string, number, string | RegExp][] = [
      ["mkdir deep; cd deep", 0, "(no output)"],
      ['echo "unclosed', 2, /^bash: line 1: unexpected EOF[\s\S]*\n\[exit code 2\]$/],
      ["cat", 0, "(no output)"],
      ["printf no-newline", 0, "no-newline"],
      ["exit 3", 3, "(no output)\n[exit code 3]"],
      [`echo '${marker} 0'; echo '[exit code 0]'; false`, 1, `${marker} 0\n[exit code 0]\n[exit code 1]`],
      ["exec false", 1, /^\(no output\)\n[\s\S]*\[exit code 1\]$/],
      ["cat <<EOF\nbody", 0, /^bash: line \d: warning: here-document[\s\S]*\nbody\n?$/],
      ["pwd; echo last", 0, /\/deep\nlast\n$/],
    ];
    await using session = await EngineSession.open(cases.map(([command]) => bash(command)).join("") + DONE);
    await session.run("Go.");
    expect(statuses(session).map(([, , code]) => code)).toEqual(cases.map(([, code]) => code));
    cases.forEach(([command, , wanted], index) => {
      const text = session.texts[index] ?? "";
      if (typeof wanted === "string") expect(text, command).toBe(wanted);
      else expect(text, command).toMatch(wanted);
    });
  });

  it("T29 directory, variables and functions are kept, also by a call that timed out", async () => {
    const look = 'pwd; echo "$A"; f';
    await using session = await EngineSession.open(
      bash("cd /tmp; export A=1; f(){ echo hi; }", look, { command: "A=2; cd /; sleep 60", timeout: 1 }, look) + DONE,
    );
    await session.run("Go.");
    expect(session.texts[1]).toBe("/tmp\n1\nhi\n");
    expect(session.results[2]?.status).toBe("timed_out");
    expect(session.texts[3]).toBe("/tmp\n1\nhi\n");
  });

  it("T33 a timeout of 0, -1, NaN or 1e12 is refused by name, and nothing is run", async () => {
    const wrong = ["0", "-1", "1e12", '"NaN"', "NaN", "1e999"];
    const items = wrong.map((timeout) => {
      const raw = `{"command":"touch ran","timeout":${timeout}}`;
      return `- calls: [ { bash: {} } ]\n  raw: ${JSON.stringify(raw)}\n`;
    });
    await using session = await EngineSession.open(items.join("") + bash("ls; echo listed") + DONE);
    await session.run("Go.");
    expect(session.results.map(({ status }) => status)).toEqual([...wrong.map(() => "invalid"), "ok"]);
    for (const text of session.texts.slice(0, 4)) expect(text).toContain("timeout: ");
    expect(session.texts.at(-1)).toBe("listed\n");
  });
});
