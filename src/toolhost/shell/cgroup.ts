import { join } from "node:path";
import { readSmallFile } from "./small-file.ts";

/** Counters of the container's cgroup, each undefined where the kernel or the engine does not show it. */
export type CgroupReading = {
  /** Processes killed because memory ran out. */
  oomKills: number | undefined;
  /** Forks refused because of the limit on processes. */
  forksRefused: number | undefined;
  cpuSeconds: number | undefined;
};

type Source = { file: string; pattern: RegExp; scale: number };

// Version 2 first; then version 1 as it is mounted in a container without a cgroup namespace (kernel docs, cgroup-v1).
const SOURCES: Record<keyof CgroupReading, Source[]> = {
  oomKills: [
    { file: "memory.events", pattern: /^oom_kill (\d+)/m, scale: 1 },
    { file: "memory/memory.oom_control", pattern: /^oom_kill (\d+)/m, scale: 1 },
  ],
  forksRefused: [
    { file: "pids.events", pattern: /^max (\d+)/m, scale: 1 },
    { file: "pids/pids.events", pattern: /^max (\d+)/m, scale: 1 },
  ],
  cpuSeconds: [
    { file: "cpu.stat", pattern: /^usage_usec (\d+)/m, scale: 1e-6 },
    { file: "cpuacct/cpuacct.usage", pattern: /^(\d+)/, scale: 1e-9 },
    { file: "cpu,cpuacct/cpuacct.usage", pattern: /^(\d+)/, scale: 1e-9 },
  ],
};

// What processes hold, and files in memory (/tmp, HOME, kept outputs). The counters of all usage have the cached files of
// every command before in them, and the kernel's own peak is of the container's whole life: nobody can reset it from inside.
const MEMORY: MemorySource[] = [
  { file: "memory.stat", held: /^anon (\d+)/m, files: /^shmem (\d+)/m },
  { file: "memory/memory.stat", held: /^total_rss (\d+)/m, files: /^total_shmem (\d+)/m },
];
type MemorySource = { file: string; held: RegExp; files: RegExp };
type MemoryReading = { held: number; files: number };

/** A reading takes 0.07 ms, so a watched command pays 0.3 %. */
const SAMPLE_EVERY_MS = 25;

export type Cgroup = {
  read(): CgroupReading;
  /**
   * Looks at the container's memory until it is stopped, which gives the most bytes that it saw in processes, jobs and
   * the tool host included, and in files that were not there at its start. A shorter peak is missed.
   */
  watchMemory(): () => number | undefined;
};

/** Looks once for what there is to read. `root` is other than `/sys/fs/cgroup` in tests only. */
export function openCgroup(root = "/sys/fs/cgroup"): Cgroup {
  const find = (key: keyof CgroupReading): Source | undefined =>
    SOURCES[key]
      .map((source) => ({ ...source, file: join(root, source.file) }))
      .find((source) => readNumber(source) !== undefined);
  const oomKills = find("oomKills");
  const forksRefused = find("forksRefused");
  const cpuSeconds = find("cpuSeconds");
  const memory = MEMORY.map((source) => ({ ...source, file: join(root, source.file) })).find(
    (source) => readMemory(source) !== undefined,
  );
  return {
    read: () => ({
      oomKills: readNumber(oomKills),
      forksRefused: readNumber(forksRefused),
      cpuSeconds: readNumber(cpuSeconds),
    }),
    watchMemory() {
      let most: number | undefined;
      const before = memory && readMemory(memory);
      const sample = (): void => {
        const now = memory && readMemory(memory);
        if (before && now) most = Math.max(most ?? 0, now.held + Math.max(0, now.files - before.files));
      };
      let timer: NodeJS.Timeout | undefined = setInterval(sample, SAMPLE_EVERY_MS);
      return () => {
        if (timer !== undefined) sample();
        clearInterval(timer);
        timer = undefined;
        return most;
      };
    },
  };
}

/** What happened between two readings. */
export type CgroupChange = { oomKills: number; forksRefused: number; cpuSeconds?: number };

export function cgroupChange(before: CgroupReading, after: CgroupReading): CgroupChange {
  const grown = (key: keyof CgroupReading): number => Math.max(0, (after[key] ?? 0) - (before[key] ?? after[key] ?? 0));
  return {
    oomKills: grown("oomKills"),
    forksRefused: grown("forksRefused"),
    ...(after.cpuSeconds !== undefined && { cpuSeconds: Math.round(grown("cpuSeconds") * 1000) / 1000 }),
  };
}

function readMemory({ file, held, files }: MemorySource): MemoryReading | undefined {
  const text = readSmallFile(file) ?? "";
  const [inProcesses, inFiles] = [held, files].map((pattern) => pattern.exec(text)?.[1]);
  if (inProcesses === undefined || inFiles === undefined) return undefined;
  return { held: Number(inProcesses), files: Number(inFiles) };
}

function readNumber(source: Source | undefined): number | undefined {
  if (source === undefined) return undefined;
  const found = source.pattern.exec(readSmallFile(source.file) ?? "")?.[1];
  return found === undefined ? undefined : Number(found) * source.scale;
}
