import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

/** A folder of `src`: what it may import, values and types, and which npm packages are its own. */
type Room = { layer: number; imports: string[]; types?: string[]; packages: string[] };

/** The map of `docs/architecture.md`, executable. A new folder or package is a deliberate change here. */
const ROOMS: Record<string, Room> = {
  core: { layer: 0, imports: [], packages: [] },
  protocol: { layer: 1, imports: ["core"], packages: ["zod"] },
  tools: { layer: 1, imports: ["core"], packages: ["zod"] },
  policy: { layer: 1, imports: ["core"], packages: ["zod", "yaml", "tldts"] },
  toolhost: { layer: 2, imports: ["core", "protocol", "tools"], packages: ["tar-stream"] },
  gate: { layer: 2, imports: ["core", "policy"], packages: [] },
  egress: { layer: 2, imports: ["core", "policy", "protocol"], packages: ["@peculiar/x509", "reflect-metadata"] },
  model: { layer: 2, imports: ["core"], packages: ["openai", "@anthropic-ai/sdk", "zod", "yaml"] },
  workspace: { layer: 2, imports: ["core", "policy", "protocol"], packages: ["tar-fs"] },
  sandbox: { layer: 2, imports: ["core", "protocol"], packages: ["dockerode", "tar-fs", "tar-stream", "execa"] },
  agent: { layer: 3, imports: ["core", "tools"], types: ["gate", "model", "sandbox"], packages: [] },
  session: {
    layer: 4,
    imports: ["core", "protocol", "tools", "policy", "gate", "egress", "model", "workspace", "sandbox", "agent"],
    packages: ["zod", "yaml", "execa", "tar-stream"],
  },
  batch: { layer: 5, imports: ["core", "session"], packages: ["zod", "yaml"] },
  cli: {
    layer: 6,
    imports: ["core", "policy", "session", "batch"],
    types: ["protocol", "tools", "gate", "egress", "model", "workspace", "sandbox", "agent"],
    packages: ["commander"],
  },
  "index.ts": {
    layer: 6,
    imports: ["core", "session", "batch"],
    types: ["protocol", "tools", "policy", "gate", "egress", "model", "workspace", "sandbox", "agent"],
    packages: [],
  },
};

type Import = { from: string; to: string; typeOnly: boolean; line: number };

const SRC = join(import.meta.dirname, "../src");
const FILES = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const IMPORTS = FILES.flatMap(importsOf);

function importsOf(file: string): Import[] {
  const text = readFileSync(join(SRC, file), "utf8");
  const pattern =
    /^\s*(?:import|export)\s+(type\s)?[^;"']*?from\s*"([^"]+)"|^\s*import\s+"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm;
  return [...text.matchAll(pattern)].map((match) => ({
    from: file,
    to: match[2] ?? match[3] ?? match[4] ?? "",
    typeOnly: match[1] !== undefined || isTypeQuery(text, match.index),
    line: text.slice(0, match.index).split("\n").length,
  }));
}

/** `typeof import("x")` names types and loads nothing. */
function isTypeQuery(text: string, index: number): boolean {
  return /typeof\s*$/.test(text.slice(Math.max(0, index - 10), index));
}

function roomOf(file: string): string {
  return file.split("/")[0] ?? "";
}

function targetOf({ from, to }: Import): string {
  return relative(SRC, join(SRC, dirname(from), to));
}

function packageOf(specifier: string): string {
  return specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/");
}

const show = ({ from, line, to }: Import): string => `${from}:${line} imports ${to}`;

describe("the architecture", () => {
  it("has a place in the table for every folder of src", () => {
    const rooms = new Set(FILES.map(roomOf));
    expect([...rooms].filter((room) => !(room in ROOMS))).toEqual([]);
  });

  it("finds the imports it is about to judge", () => {
    expect(IMPORTS.length).toBeGreaterThan(FILES.length);
    expect(IMPORTS.some(({ to }) => to === "zod")).toBe(true);
  });

  it("lets imports go down only, by the table", () => {
    const wrong = IMPORTS.filter((item) => item.to.startsWith(".")).filter((item) => {
      const [from, to] = [roomOf(item.from), roomOf(targetOf(item))];
      if (from === to) return false;
      const room = ROOMS[from];
      return !(room?.imports.includes(to) || (item.typeOnly && room?.types?.includes(to)));
    });
    expect(wrong.map(show)).toEqual([]);
  });

  it("lets a package be imported by its owners only", () => {
    const wrong = IMPORTS.filter(({ to }) => !to.startsWith(".") && !to.startsWith("node:")).filter(
      ({ from, to }) => !ROOMS[roomOf(from)]?.packages.includes(packageOf(to)),
    );
    expect(wrong.map(show)).toEqual([]);
  });

  it("has a table that itself goes down", () => {
    const wrong = Object.entries(ROOMS).flatMap(([name, { layer, imports, types = [] }]) =>
      [...imports, ...types].filter((to) => (ROOMS[to]?.layer ?? 99) >= layer).map((to) => `${name} → ${to}`),
    );
    expect(wrong).toEqual([]);
  });

  it("has no cycle between files, types included", () => {
    const graph = new Map<string, string[]>();
    for (const item of IMPORTS.filter(({ to }) => to.startsWith("."))) {
      graph.set(item.from, [...(graph.get(item.from) ?? []), targetOf(item)]);
    }
    expect(cycleIn(graph)).toEqual([]);
  });

  it("imports zod as a namespace, which a bundler can shake", () => {
    const wrong = FILES.filter((file) =>
      /import\s+\{[^}]*\bz\b[^}]*\}\s+from\s+"zod"/.test(readFileSync(join(SRC, file), "utf8")),
    );
    expect(wrong).toEqual([]);
  });
});

/** The files of one cycle, or none. */
function cycleIn(graph: ReadonlyMap<string, string[]>): string[] {
  const done = new Set<string>();
  const path: string[] = [];
  const visit = (file: string): string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    path.push(file);
    for (const next of graph.get(file) ?? []) {
      const cycle = visit(next);
      if (cycle.length > 0) return cycle;
    }
    path.pop();
    done.add(file);
    return [];
  };
  for (const file of graph.keys()) {
    const cycle = visit(file);
    if (cycle.length > 0) return cycle;
  }
  return [];
}
