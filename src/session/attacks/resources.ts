import { setTimeout as wait } from "node:timers/promises";
import { textOf } from "../../core/messages.ts";
import { pidsLimit } from "../../sandbox/container-spec.ts";
import { RUNTIME_PATHS } from "../../sandbox/images/runtime-paths.ts";
import type { Arena } from "./arena.ts";
import type { Attack } from "./attack.ts";
import { ALIVE, calls, control, fact, shell } from "./steps.ts";

const { attemptPath, idlePath } = RUNTIME_PATHS;
const MIB = 1024 ** 2;
const GOES_ON = shell("echo next", /^ok: next/, "the next command runs");

/** Ways to take all of something. Small limits keep the machine of whoever tries them out of it. */
export const RESOURCE_ATTACKS: Attack[] = [
  {
    id: "P-30",
    title: "A fork bomb",
    alone: { pids: 128 },
    steps: () => [
      ALIVE,
      fact("processes at its height", heightOfBomb, /^within the limit/),
      GOES_ON,
      fact("processes it left", leftProcesses, /^none/),
    ],
  },
  {
    id: "P-31",
    title: "A command that takes all memory",
    alone: { memoryBytes: 256 * MIB, tmpBytes: 32 * MIB },
    steps: ({ inside }) => [
      ALIVE,
      calls("SIGKILL ENOMEM", `own mmap 0 ${inside.box.plan.spec.limits.memoryBytes * 2} 3 0x8022 -1 0`),
      shell("x=0123456789abcdef; while :; do x=$x$x; done", /^failed.*memory/is, "told as memory"),
      GOES_ON,
    ],
  },
  {
    id: "P-32",
    title: "A command that takes every processor",
    alone: { cpus: 0.25 },
    steps: () => [ALIVE, fact("processor time it got", processorTime, /^within the limit/)],
  },
  {
    id: "P-33",
    title: "A gigabyte of output",
    alone: {},
    seconds: 60,
    steps: () => [ALIVE, fact("what was kept of it", flood, /^cut, and said so/), GOES_ON],
  },
  {
    id: "P-34",
    title: "Processes that leave their command: by `setsid`, by two forks, ignoring SIGHUP",
    alone: {},
    steps: () => [
      ALIVE,
      fact(
        "processes left at the time limit",
        (arena) =>
          leftAtLimit(
            arena,
            `(trap '' HUP; ${idlePath} &); ${attemptPath} 'own setsid; own execve =${idlePath} 0 0' & ( ( ${idlePath} & ) & ); ${idlePath}`,
          ),
        /^none of [4-9]$/,
      ),
      GOES_ON,
    ],
  },
  {
    id: "P-35",
    title: "A command that ignores every signal that can be ignored",
    alone: {},
    steps: () => [
      ALIVE,
      fact(
        "processes left at the time limit",
        (arena) => leftAtLimit(arena, `trap '' TERM INT HUP QUIT; while :; do ${idlePath} & wait; done`),
        /^none of [1-9]$/,
      ),
      GOES_ON,
    ],
  },
  {
    id: "P-37",
    title: "A command that ends the tool host",
    alone: {},
    steps: ({ inside }) => {
      const { containerId } = inside.box.sandbox.facts;
      return [
        ALIVE,
        shell("kill -9 $PPID; sleep 5", /^lost: .*ended the tool host/, "lost"),
        GOES_ON,
        shell("kill -9 -1; sleep 5", /^lost: .*ended the tool host/, "lost"),
        GOES_ON,
        control(fact("the container", async () => inside.box.sandbox.facts.containerId === containerId, /^true$/)),
      ];
    },
  },
];

/** What runs without a command: init, idle and tool host. */
const OWN_PROCESSES = 3;

async function heightOfBomb({ inside }: Arena): Promise<string> {
  const bomb = inside.shell(`exec 2>/dev/null; b(){ b|b& }; b; ${idlePath}`, 3);
  await wait(1_500);
  const height = (await inside.processes()).length;
  await bomb;
  const limit = pidsLimit(inside.box.plan.spec.limits);
  return height > 8 && height <= limit ? `within the limit of ${limit}` : `${height}, and the limit is ${limit}`;
}

async function leftProcesses({ inside }: Arena): Promise<string> {
  const left = (await inside.processes()).length - OWN_PROCESSES;
  return left <= 0 ? "none left" : `${left}`;
}

/** How many of a command's processes outlive its time limit, of how many there were. */
async function leftAtLimit(arena: Arena, command: string): Promise<string> {
  const ending = arena.inside.shell(command, 2);
  await wait(900);
  const during = (await arena.inside.processes()).length - OWN_PROCESSES;
  const { status } = await ending;
  if (status !== "timed_out") return `it ended before, ${status}`;
  const left = await leftProcesses(arena);
  return left === "none left" ? `none of ${during}` : `${left} of ${during}`;
}

/** A busy machine gives less than the limit by itself, so what the engine was told counts too. */
async function processorTime({ inside }: Arena): Promise<string> {
  const { engine, plan, sandbox } = inside.box;
  const { HostConfig } = await engine.docker.getContainer(sandbox.facts.containerId).inspect();
  const { NanoCpus = 0, CpuQuota = 0, CpuPeriod = 1 } = HostConfig;
  const set = NanoCpus > 0 ? NanoCpus / 1e9 : CpuQuota / CpuPeriod;
  const { details } = await inside.shell("(while :; do :; done) & (while :; do :; done) & while :; do :; done", 2);
  const { cpu_seconds: used, duration_ms: duration } = details;
  if (used === undefined || duration === undefined) return "was not measured";
  const share = used / (duration / 1000);
  const limit = plan.spec.limits.cpus;
  const words = `${share.toFixed(2)} of ${set} processors`;
  return used > 0.1 && set === limit && share <= limit * 1.3 ? `within the limit: ${words}` : words;
}

/** One write of untouched memory, which costs the container none. */
async function flood({ inside }: Arena): Promise<string> {
  const write = `own mmap 0 ${1024 * MIB} 1 0x22 -1 0; own write 1 $1 ${1024 * MIB}`;
  const { status, details, content, truncated } = await inside.shell(`${attemptPath} '${write}'`, 45);
  const { output_bytes: bytes = 0 } = details;
  const kept = textOf(content).length;
  const holds = status === "ok" && bytes >= 1024 * MIB && kept < 1024 * 1024 && truncated === true;
  return holds ? `cut, and said so: ${kept} characters` : `${status}: ${kept} characters of ${bytes} bytes`;
}
