import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { figures, interleave, round, timed } from "./measure.mjs";
import { call, openSandbox } from "./place.mjs";

/** A shell as a session has it after a while. */
const ORDINARY_STATE = [
  "for i in $(seq 50); do export VARIABLE_$i=value_$i; done",
  'for i in $(seq 20); do eval "function_$i() { echo $i; }"; done',
].join("\n");

/** Single tool calls, beside one exec of the engine's for each, in the same container. */
export async function calls(place) {
  await writeFile(join(place.workspace, "small.txt"), "a small file\n".repeat(20));
  const sandbox = await openSandbox(place);
  try {
    await call(sandbox, "bash", { command: ORDINARY_STATE });
    const { containerId, uid, gid } = sandbox.facts;
    const container = place.docker.getContainer(containerId);
    const options = { User: `${uid}:${gid}`, WorkingDir: place.workspace, AttachStdout: true, AttachStderr: true };
    const exec = (command) => () => engineExec(container, { ...options, Cmd: command });
    const times = await interleave(
      {
        refused: () => many(() => refused(sandbox)),
        read: () => many(() => call(sandbox, "read", { path: "small.txt" })),
        exec_cat: exec(["/bin/cat", "small.txt"]),
        bash: () => many(() => call(sandbox, "bash", { command: "true" })),
        exec_bash: exec(["/bin/bash", "-c", "true"]),
      },
      { rounds: 40, warmUp: 10 },
    );
    const [channel, read, cat] = [times.refused, times.read, times.exec_cat].map(figures);
    const [bash, execBash] = [times.bash, times.exec_bash].map(figures);
    const readRatio = round(cat.p50 / read.p50, 1);
    const bashRatio = round(execBash.p50 / bash.p50, 1);
    return [
      {
        name: "call through the channel without work of its own; ratio: `read` of a small file",
        ...{ value: channel.p50, unit: "ms", ratio: readRatio },
        limit: "≤ 1 ms, and ≥ 30 × faster than an engine exec",
        holds: channel.p50 <= 1 && readRatio >= 30,
        raw: { channel_ms: channel, read_ms: read, engine_exec_ms: cat },
      },
      {
        name: "`bash true`, 50 variables, 20 functions",
        ...{ value: bash.p50, unit: "ms", ratio: bashRatio },
        limit: "≤ 6 ms, and ≥ 10 × faster than an engine exec",
        holds: bash.p50 <= 6 && bashRatio >= 10,
        raw: { call_ms: bash, engine_exec_ms: execBash },
      },
    ];
  } finally {
    await sandbox.close();
  }
}

const REPEATED = 10;

/** The time of each of a few calls in a row, as a session makes them. */
async function many(action) {
  const times = [];
  for (let count = 0; count < REPEATED; count++) times.push(await timed(action));
  return times;
}

/** A call that the tool host answers without touching a file: what remains is the way there and back. */
async function refused(sandbox) {
  const options = { signal: new AbortController().signal, onOutput: () => undefined };
  const { status } = await sandbox.call({ tool: "read", args: { nothing: true }, deadlineMs: 60_000 }, options);
  if (status !== "invalid") throw new Error(`A call with a wrong argument was ${status}`);
}

/** One command, by its path since the container has no PATH, as engines run it: create, start, read to the end, ask for the exit code. */
async function engineExec(container, options) {
  const exec = await container.exec(options);
  const stream = await exec.start({ hijack: true, stdin: false });
  stream.resume();
  await new Promise((resolve) => stream.on("close", resolve).on("end", resolve));
  const { ExitCode } = await exec.inspect();
  if (ExitCode !== 0) throw new Error(`\`${options.Cmd.join(" ")}\` ended with ${ExitCode}`);
}
