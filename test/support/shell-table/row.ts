import type { JsonObject } from "../../../src/core/json.ts";
import type { ToolStatus } from "../../../src/core/tool-result.ts";

/** The three kinds of image: ours; busybox and its applets; `dash` as `sh`, and no other program at all. */
export const IMAGES = ["base", "busybox", "sh"] as const;
export type ImageName = (typeof IMAGES)[number];

/** One command and what must be seen of it. Placeholders stand for what differs from image to image, see {@link fill}. */
export type Variant = {
  command: string;
  /** Arguments beside the command. */
  with?: JsonObject;
  /** Omitted: the one that fits the exit code. */
  status?: ToolStatus;
  /** Omitted: 0; null: none is known. */
  code?: number | null;
  /** What the model reads, with pids, numbers of jobs and of files as N; a pattern where it cannot be said exactly. */
  text: string | RegExp;
  /** Where the shell is afterwards; omitted: where it was. */
  leavesIn?: string;
  /** What the container ran out of; omitted: nothing. */
  limits?: ("memory" | "processes")[];
  /** What the next command is told of it, in lines. */
  said?: string;
  /** What it left may still have been in the way of the next command, which is then told so. */
  isInTheWay?: boolean;
  /** What it started is to go on, until the test ends it as the result says. */
  goesOn?: boolean;
  /** Takes back, after the probe, what it did to the shell. */
  tidy?: string;
};

/** A row of the table: the same everywhere but for what `on` says of an image. */
export type Row = Variant & {
  /** Cases and number in the table of the specification, then a fact. */
  title: string;
  on?: Partial<Record<ImageName, Partial<Variant>>>;
  /** It runs until it is cancelled or its time is up. */
  isLong?: boolean;
  /** Only there, because it is about the tool host and not about the image. */
  only?: ImageName;
};

export type Placed = { root: string; image: ImageName };

const WORDS: Record<ImageName, Record<string, string>> = {
  base: { wait: "sleep 60", line: "bash: line N", name: "bash", none: "command not found" },
  busybox: { wait: "sleep 60", line: "sh: line N", name: "sh", none: "not found" },
  // The master of a terminal nobody opened: reading waits, without a program that the image lacks.
  sh: { wait: "read -r nothing <>/dev/ptmx", line: "sh: N", name: "sh", none: "not found" },
};

/**
 * `{wait}` waits for ever, `{line 3}` begins a message of the shell about that line, `{name}` is the shell's name,
 * `{none}` what it says of a program it cannot find, `{root}` the workspace.
 */
export function fill(text: string, { root, image }: Placed): string {
  return text.replace(/\{(root|wait|name|none|line (\d+))\}/g, (_, key: string, line: string | undefined) => {
    if (key === "root") return root;
    const word = WORDS[image][line === undefined ? key : "line"] ?? "";
    return line === undefined ? word : word.replace("N", line);
  });
}

/** The row as it is on that image, filled in. */
export function rowOn(row: Row, placed: Placed): Variant {
  const { on, ...all } = row;
  const variant: Variant = { ...all, ...on?.[placed.image] };
  const { command, text, leavesIn, tidy, said } = variant;
  return {
    ...variant,
    command: fill(command, placed),
    text: typeof text === "string" ? fill(text, placed) : text,
    ...(leavesIn !== undefined && { leavesIn: fill(leavesIn, placed) }),
    ...(said !== undefined && { said: fill(said, placed) }),
    ...(tidy !== undefined && { tidy: fill(tidy, placed) }),
  };
}

/** A text with the numbers that nobody can know as N. */
export function anonymous(text: string): string {
  return text
    .replace(/\bpid \d+ \((?:[^()]|\([^()]*\))*\)/g, "pid N")
    .replace(/\bpid \d+/g, "pid N")
    .replace(/\{"job": \d+/g, '{"job": N')
    .replace(/\bafter \d+ s;/g, "after N s;")
    .replace(/\bjob \d+/g, "job N")
    .replace(/\/(outputs|jobs)\/\d+/g, "/$1/N");
}
