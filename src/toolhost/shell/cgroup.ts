import { join } from "node:path";
import { readSmallFile } from "./small-file.ts";

/** Counters of the container's cgroup, each undefined where the kernel or the engine does not show it. */
export type CgroupReading = {
  /** Processes killed because memory ran out. */
  oomKills: number | undefined;
  /** Forks refused because of the limit on processes. */
  forksRefused: number | undefined;
  cpuSeconds: number | undefined;
  /** The most memory ever used, not only since the last reading. */
  peakMemoryBytes: number | undefined;
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
  peakMemoryBytes: [
    { file: "memory.peak", pattern: /^(\d+)/, scale: 1 },
    { file: "memory/memory.max_usage_in_bytes", pattern: /^(\d+)/, scale: 1 },
  ],
};

export type Cgroup = { read(): CgroupReading };

/** Looks once for what there is to read. `root` is other than `/sys/fs/cgroup` in tests only. */
export function openCgroup(root = "/sys/fs/cgroup"): Cgroup {
  const find = (key: keyof CgroupReading): Source | undefined =>
    SOURCES[key]
      .map((source) => ({ ...source, file: join(root, source.file) }))
      .find((source) => readNumber(source) !== undefined);
  const oomKills = find("oomKills");
  const forksRefused = find("forksRefused");
  const cpuSeconds = find("cpuSeconds");
  const peakMemoryBytes = find("peakMemoryBytes");
  return {
    read: () => ({
      oomKills: readNumber(oomKills),
      forksRefused: readNumber(forksRefused),
      cpuSeconds: readNumber(cpuSeconds),
      peakMemoryBytes: readNumber(peakMemoryBytes),
    }),
  };
}

/** What happened between two readings. The peak is told only when it rose, because nobody can reset it from inside. */
export type CgroupChange = { oomKills: number; forksRefused: number; cpuSeconds?: number; peakMemoryBytes?: number };

export function cgroupChange(before: CgroupReading, after: CgroupReading): CgroupChange {
  const grown = (key: keyof CgroupReading): number => Math.max(0, (after[key] ?? 0) - (before[key] ?? after[key] ?? 0));
  return {
    oomKills: grown("oomKills"),
    forksRefused: grown("forksRefused"),
    ...(after.cpuSeconds !== undefined && { cpuSeconds: Math.round(grown("cpuSeconds") * 1000) / 1000 }),
    ...(after.peakMemoryBytes !== undefined &&
      grown("peakMemoryBytes") > 0 && { peakMemoryBytes: after.peakMemoryBytes }),
  };
}

function readNumber(source: Source | undefined): number | undefined {
  if (source === undefined) return undefined;
  const found = source.pattern.exec(readSmallFile(source.file) ?? "")?.[1];
  return found === undefined ? undefined : Number(found) * source.scale;
}
