import * as z from "zod";

/** Raised whenever a message changes shape; a controller and a tool host of different versions refuse each other. */
export const PROTOCOL_VERSION = 2;

const id = z.int().min(1).max(0x7fffffff);

const port = z.int().min(1).max(65_535);
const ruledPath = z.strictObject({ path: z.string(), rule: z.string() });

/** Facts the tool host needs and must not take from an environment or argv that the agent could see or set. */
export const Hello = z.strictObject({
  type: z.literal("hello"),
  protocol: z.int(),
  /** Absolute path of the workspace inside the container. */
  root: z.string(),
  home: z.string(),
  /**
   * Pid, inside, of the tool host that was here before. If it lives it is ended at once, since it would end us; a state
   * that is not found now was taken away.
   */
  previousPid: z.int().min(2).optional(),
  /** Folder for shell state, outputs and job logs; survives a restart of the tool host, not the container. */
  state: z.string(),
  /** The whole environment of commands; nothing is inherited. */
  env: z.record(z.string(), z.string()),
  umask: z.int().min(0).max(0o777),
  /** Absolute paths of the runtime's own programs; `bash` is the image's, `sh` where it has none. */
  programs: z.strictObject({
    rg: z.string(),
    /** Runs a program on a terminal of its own. */
    terminal: z.string(),
    shell: z.string(),
    shellKind: z.enum(["bash", "sh"]),
  }),
  /** Workspace-relative paths mounted read-only and the rule that says so, for clear words only. */
  readonly: z.array(ruledPath),
  /** The same for paths that are covered. */
  hidden: z.array(ruledPath),
  /** For the command line that brings back what was moved out of the workspace. */
  session: z.string(),
  /** Absolute paths of the mounts of the workspace, itself included; one that goes away was replaced on the host. */
  mounts: z.array(z.string()),
  /** Workspace-relative paths and patterns at which nothing may appear: moved out after the call, or after the run. */
  guarded: z.array(z.strictObject({ path: z.string(), rule: z.string(), until: z.enum(["call", "end"]) })),
  /** Absent where nothing leaves and no names are answered. */
  egress: z
    .strictObject({
      /** Ports to listen on at 127.0.0.1, each for a service the host forwards to. */
      forwards: z.array(port),
      /** Certificates (PEM) that programs are to trust beside the image's own. */
      certificates: z.string().optional(),
    })
    .optional(),
  /** The most bytes a command may leave in its output file. */
  maxOutputFileBytes: z.int().min(0),
  /** The most of a command's output that a result shows; 1 MiB, as it stands at most in a policy, is far below a message. */
  shownOutputBytes: z
    .int()
    .min(1)
    .max(1024 * 1024),
  /** Seconds without any frame after which the tool host ends itself. */
  idleSeconds: z.number().gt(0),
});

export const Call = z.strictObject({
  type: z.literal("call"),
  id,
  tool: z.string(),
  args: z.record(z.string(), z.json()),
});
export const Cancel = z.strictObject({ type: z.literal("cancel"), id });
/** What the container is meant to be, for a tool host to compare with what it sees from inside. */
const Expectation = z.strictObject({
  uid: z.int(),
  gid: z.int(),
  pidsMax: z.int(),
  memoryMaxBytes: z.int(),
  /** Absolute paths. */
  readonly: z.array(z.string()),
  writable: z.array(z.string()),
  /** Mount points whose content cannot be seen. */
  hidden: z.array(z.string()),
  /** Folders that are mount points so that they cannot be moved away. */
  pinned: z.array(z.string()),
  /** The runtime's program that tries to open paths, as a hostile command would. */
  probe: z.string(),
  /** SHA-256 of secrets of ours, never the secrets: an environment value that hashes to one is a leak. */
  secretHashes: z.array(z.string()),
});
export type SelfTestExpectation = z.infer<typeof Expectation>;
export const SelfTest = z.strictObject({ type: z.literal("self_test"), id, expect: Expectation });
/** Ends every process of the session and then the tool host. */
export const Shutdown = z.strictObject({ type: z.literal("shutdown") });

/** Asks for the files of the workspace that have names outside it. */
export const ScanLinks = z.strictObject({ type: z.literal("scan_links"), id });
/** Packs, hands over and removes what is at these paths, with nothing else running. */
export const Sweep = z.strictObject({
  type: z.literal("sweep"),
  id,
  paths: z.array(z.strictObject({ path: z.string(), rule: z.string(), kind: z.enum(["appeared", "git"]) })),
});
/** Unpacks the tar archive on `stream`, all of it at or below `path`, where nothing is yet. */
export const Restore = z.strictObject({ type: z.literal("restore"), id, path: z.string(), stream: z.int().min(1) });
/** The answer to `name`. Without an address there is none; the ports are those that some rule may admit. */
export const Named = z.strictObject({
  type: z.literal("named"),
  id,
  admitted: z.strictObject({ address: z.ipv4(), ports: z.array(port).max(1000) }).optional(),
});
/** The answer to `quarantine`: stored for good, or why not. */
export const Kept = z.strictObject({ type: z.literal("kept"), id, problem: z.string().optional() });

export const ToToolHost = z.discriminatedUnion("type", [
  Hello,
  Call,
  Cancel,
  SelfTest,
  ScanLinks,
  Sweep,
  Restore,
  Kept,
  Named,
  Shutdown,
]);
export type ToToolHost = z.infer<typeof ToToolHost>;
export type Hello = z.infer<typeof Hello>;

const Part = z.discriminatedUnion("type", [
  z.strictObject({ type: z.literal("text"), text: z.string() }),
  z.strictObject({
    type: z.literal("image"),
    mime: z.enum(["image/png", "image/jpeg", "image/gif", "image/webp"]),
    data: z.base64(),
  }),
]);

const count = z.number().min(0);
const Details = z.strictObject({
  exit_code: z.int().optional(),
  signal: z.string().max(20).optional(),
  duration_ms: count.optional(),
  diff: z.string().optional(),
  added: count.optional(),
  removed: count.optional(),
  path: z.string().optional(),
  bytes: count.optional(),
  lines: count.optional(),
  matches: count.optional(),
  output_bytes: count.optional(),
  output_path: z.string().optional(),
  job_id: z.int().optional(),
  limits_reached: z.array(z.enum(["memory", "processes"])).optional(),
  cpu_seconds: count.optional(),
  peak_memory_bytes: count.optional(),
});

/** What a handler can say of its call; everything else is said by the controller. */
export const Outcome = z.strictObject({
  status: z.enum(["ok", "failed", "invalid", "denied", "timed_out", "cancelled"]),
  content: z.array(Part).min(1),
  details: Details,
  truncated: z.boolean().optional(),
  denial: z.strictObject({ by: z.literal("containment"), rule: z.string(), enable_with: z.string() }).optional(),
});
export type Outcome = z.infer<typeof Outcome>;

export const Control = z.strictObject({
  control: z.string(),
  holds: z.boolean(),
  /** What was seen. */
  evidence: z.string(),
});
export type Control = z.infer<typeof Control>;

export const Ready = z.strictObject({ type: z.literal("ready"), protocol: z.int(), pid: z.int(), node: z.string() });
/** Opens the stream on which a running call shows its output as it comes, for people. */
export const Output = z.strictObject({ type: z.literal("output"), id, stream: z.int().min(1) });
/** What was refused inside while a call ran, by the kernel or the tool host itself. */
const Refused = z.strictObject({
  unreachable: count,
  other_questions: count,
  taken: z.array(z.strictObject({ name: z.string().max(260), port, process: z.string().max(200) })).max(20),
  held_ports: z.array(port).max(100),
});
export const Result = z.strictObject({
  type: z.literal("result"),
  id,
  outcome: Outcome,
  /** Absent when nothing was. */
  refused: Refused.optional(),
});
/** Which call a question or a connection is of: the `id` of one that runs or left a job behind; null for neither. */
const origin = { call: id.nullable(), assumed: z.boolean() };
/** Asks whether a name may have an address; answered by `named`. */
export const Name = z.strictObject({ type: z.literal("name"), id, name: z.string().max(260), ...origin });
/** A connection a process made, its bytes on `stream`: to a name by one of its ports, or to a forwarded port. */
export const Connect = z.strictObject({
  type: z.literal("connect"),
  stream: z.int().min(1),
  to: z.discriminatedUnion("type", [
    z.strictObject({ type: z.literal("name"), name: z.string().max(260), port }),
    z.strictObject({ type: z.literal("forward"), listen: port }),
  ]),
  ...origin,
});
export const SelfTested = z.strictObject({ type: z.literal("self_tested"), id, controls: z.array(Control) });
/** `folders`: what to protect; `skipped` of the `entries` could not be looked at; not `complete` when there are too many. */
export const Links = z.strictObject({
  type: z.literal("links"),
  id,
  folders: z.array(z.string()),
  files: count,
  skipped: count,
  complete: z.boolean(),
});
export type Links = z.infer<typeof Links>;
/** Announces a tar archive on `stream`; it is stored, and said to be, before the tool host goes on. */
export const Quarantine = z.strictObject({
  type: z.literal("quarantine"),
  id,
  stream: z.int().min(1),
  item: z.strictObject({
    path: z.string().max(4096),
    rule: z.string().max(1000),
    kind: z.enum(["appeared", "git", "before", "after"]),
    entries: count,
    cut: z.array(z.string().max(1000)).max(20),
  }),
});
/** What could not be moved out, and why. */
export const Swept = z.strictObject({ type: z.literal("swept"), id, problems: z.array(z.string()) });
export const Restored = z.strictObject({ type: z.literal("restored"), id, problem: z.string().optional() });
/** Every process stands still: mounts of the workspace are gone. No call begins any more; `running` had begun. */
export const MountsChanged = z.strictObject({
  type: z.literal("mounts_changed"),
  paths: z.array(z.string()),
  /** What was not kept of them, in words. */
  notes: z.array(z.string()),
  running: z.array(id),
});
export type MountsChanged = z.infer<typeof MountsChanged>;
/** The last word of a tool host: how many processes of the session were left after the kill. */
export const Bye = z.strictObject({ type: z.literal("bye"), left: z.int() });

export const ToController = z.discriminatedUnion("type", [
  Ready,
  Output,
  Result,
  SelfTested,
  Links,
  Quarantine,
  Swept,
  Restored,
  MountsChanged,
  Name,
  Connect,
  Bye,
]);
export type ToController = z.infer<typeof ToController>;
export type Ready = z.infer<typeof Ready>;
