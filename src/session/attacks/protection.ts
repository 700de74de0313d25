import { lstat, mkdir, readdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { toGloveboxError } from "../../core/errors.ts";
import type { Policy } from "../../policy/policy.ts";
import { temporarySizes } from "../../sandbox/container-spec.ts";
import { RUNTIME_ROOT } from "../../sandbox/places.ts";
import type { Arena } from "./arena.ts";
import type { Attack, Step } from "./attack.ts";
import { digestOf } from "./digest.ts";
import { ALIVE, attempt, calls, control, DONE, deniedBy, fact, harmless, tool } from "./steps.ts";

const REFUSED = /^WORKSPACE_REFUSED$/;
const BUSY = "EBUSY EXDEV EROFS";
const MOVES = control(calls("ok", "own renameat -100 =free/x -100 =free/y; own renameat -100 =free/y -100 =free/x"));
const EXCHANGES = control(
  calls("ok", "own renameat2 -100 =free -100 =spare 2; own renameat2 -100 =free -100 =spare 2"),
);

/** Ways to change what the policy protects, and what lies around the workspace. */
export const PROTECTION_ATTACKS: Attack[] = [
  {
    id: "FS-15",
    title: "A protected file or folder is moved away",
    steps: () => [
      MOVES,
      calls(BUSY, ...[".git", ".glovebox", ".github", "a/b/c.yml"].map((path) => rename(path, "free/15"))),
    ],
  },
  {
    id: "FS-16",
    title: "The folder above a protected path is moved away and made anew",
    steps: () => [
      MOVES,
      calls(BUSY, `${rename("a/b", "x16")}; own mkdirat -100 =a/b 0755; own openat -100 =a/b/c.yml 0101 0644`),
      tool("write", { path: "a/b/c.yml", content: "harm" }, deniedBy("attack/workspace.readonly[1]")),
    ],
  },
  { id: "FS-17", title: "The same, two folders above", steps: () => [MOVES, calls(BUSY, rename("a", "x17"))] },
  {
    id: "FS-18",
    title: "Moved, edited, moved back",
    steps: () => [
      MOVES,
      calls(BUSY, `${rename("a/b", "x18")}; own unlinkat -100 =x18/c.yml 0; ${rename("x18", "a/b")}`),
    ],
  },
  {
    id: "FS-19",
    title: "The folder above is removed",
    steps: () => [
      control(calls("ok", "own mkdirat -100 =free/19 0755; own unlinkat -100 =free/19 0x200")),
      calls(
        "EBUSY EROFS ENOTEMPTY",
        "own unlinkat -100 =a/b/c.yml 0",
        "own unlinkat -100 =a/b 0x200",
        "own unlinkat -100 =a 0x200",
        "own unlinkat -100 =.git 0x200",
        "own unlinkat -100 =.git/config 0",
        "own unlinkat -100 =.github/workflows/ci.yml 0",
      ),
      harmless("bash", { command: "rm -rf a .git .github .glovebox" }),
    ],
  },
  {
    id: "FS-20",
    title: "The folder above is exchanged with another",
    steps: () => [
      EXCHANGES,
      calls(BUSY, ...["a/b", "a", ".git", ".github"].map((path) => `own renameat2 -100 =${path} -100 =spare 2`)),
    ],
  },
  {
    id: "FS-21",
    title: "A file in place of a folder, another file over a protected one",
    steps: () => [
      MOVES,
      calls(
        "EBUSY EXDEV EROFS ENOTEMPTY",
        rename("free/x", "a/b/c.yml"),
        rename("free/x", ".git/config"),
        "own unlinkat -100 =a/b 0x200; own openat -100 =a/b 0101 0644",
        "own unlinkat -100 =.git 0x200; own symlinkat =free -100 =.git",
      ),
      calls(
        "EROFS",
        "own openat -100 =a/b/c.yml 1",
        "own openat -100 =.git/config 02001",
        "own openat -100 =.git/hooks/x 0101 0755",
      ),
    ],
  },
  {
    id: "FS-22",
    title: "A mount over what is protected, or its mount taken away",
    steps: () => [
      control(calls("ok", "own openat -100 =.git/config 0")),
      calls(
        "EPERM",
        "own mount =free =.git =none 0x1000 0",
        "own mount =none =.git =tmpfs 0 0",
        "own mount =none =.git =none 0x1020 0",
        "own umount2 =.git 0",
        "own umount2 =.git 2",
        "own move_mount -100 =free -100 =.git 0",
        "own mount_setattr -100 =.git 0 %00000000000000000100000000000000 32",
      ),
    ],
  },
  {
    id: "FS-38",
    title: "A path that a rule protects is a link",
    steps: (arena) => [
      control(openingWith(arena, undefined, /^opened$/)),
      openingWith(arena, { path: "locked", to: arena.scene.outside, rule: "locked" }, REFUSED),
      openingWith(arena, { path: "locked", to: "absent", rule: "locked" }, REFUSED),
    ],
  },
  {
    id: "FS-41",
    title: "What protects a workspace leaves something behind in it",
    seconds: 60,
    steps: (arena) => [
      control(openingWith(arena, undefined, /^opened$/)),
      fact("the workspace after a session is as before", () => ghosts(arena), /^nothing$/),
    ],
  },
  {
    id: "FS-42",
    title: "A folder that is protected by default is a link to one of the host, to be mounted from there",
    steps: (arena) => [
      control(openingWith(arena, undefined, /^opened$/)),
      openingWith(arena, { path: ".git", to: arena.scene.outside }, REFUSED),
    ],
  },
  {
    id: "FS-43",
    title: "A link on the way to a protected path",
    steps: (arena) => [
      control(openingWith(arena, undefined, /^opened$/)),
      openingWith(arena, { path: "a", to: arena.scene.outside, rule: "a/b" }, REFUSED),
      openingWith(arena, { path: "a", to: "/etc", rule: "a/passwd" }, REFUSED),
    ],
  },
  {
    id: "FS-45",
    title: "The image's own files and the runtime's changed",
    steps: () => [
      control(calls("ok", "own openat -100 =/tmp/45 0101 0644; own unlinkat -100 =/tmp/45 0")),
      calls(
        "EROFS EACCES ENOENT",
        "own openat -100 =/usr/45 0101 0644",
        "own openat -100 =/bin/45 0101 0644",
        "own mkdirat -100 =/45 0755",
        "own openat -100 =/etc/passwd 1",
        "own openat -100 =/etc/group 1",
        "own openat -100 =/etc/hosts 1",
        `own openat -100 =${RUNTIME_ROOT}/bin/45 0101 0755`,
        `own openat -100 =${RUNTIME_ROOT}/host/gbx-h 1`,
        `own unlinkat -100 =${RUNTIME_ROOT}/host/gbx-m.mjs 0`,
        `own fchmodat -100 =${RUNTIME_ROOT}/host/gbx-h 0755`,
      ),
    ],
  },
  {
    id: "FS-49",
    title: "The temporary file systems, which are memory, filled beyond their size",
    steps: ({ policy }) => {
      const { tmp, home, run, shm } = temporarySizes(policy.limits);
      const fill = (path: string, bytes: number): string =>
        `own openat -100 =${path}/49 0101 0600; own fallocate $1 0 0 ${bytes}`;
      return [
        control(calls("ok", fill("/tmp", 4096), "own unlinkat -100 =/tmp/49 0")),
        calls(
          "ENOSPC",
          fill("/tmp", tmp + 1_048_576),
          fill("/home/glovebox", home + 1_048_576),
          fill("/run", run + 1_048_576),
          fill("/dev/shm", shm + 1_048_576),
        ),
      ];
    },
  },
  {
    id: "FS-50",
    title: "Files made inside belong to somebody else on the host, or have a mode of their own",
    steps: () => [
      control(tool("write", { path: "owned.txt", content: "x" }, DONE)),
      calls("EPERM", "own fchownat -100 =owned.txt 12345 12345 0", "own fchownat -100 =owned.txt 0 54321 0"),
      fact("the owner and mode on the host", ownership, /^as the workspace, \d+$/),
    ],
  },
  {
    id: "FS-51",
    title: "The controller's own folder: keys, policy, logs",
    steps: ({ surroundings, scene }) => [
      control(calls("ok", `own faccessat -100 =${scene.workspace} 4`)),
      calls(
        "ENOENT EACCES ENOTDIR",
        ...["", "/policy.yaml", "/trust.yaml", "/auth.yaml", "/sessions", "/cache"].map(
          (path) => `own faccessat -100 =${surroundings.home.root}${path} 4`,
        ),
      ),
    ],
  },
  {
    id: "FS-52",
    title: "Another session's workspace",
    steps: (arena) => [ALIVE, attempt("the neighbour's secret is read", () => readNeighbour(arena))],
  },
];

function rename(from: string, to: string): string {
  return `own renameat -100 =${from} -100 =${to}`;
}

/** What a session with every kind of protection leaves in a workspace that was not there before. */
async function ghosts(arena: Arena): Promise<string> {
  const root = await arena.scene.neighbour("41", arena.user);
  await mkdir(join(root, ".git"));
  const before = await digestOf(root);
  const inside = await arena.enter(root, builtInOnly(arena));
  const { status } = await inside.call("ls", {});
  await inside.close();
  const after = await digestOf(root);
  await rm(root, { recursive: true });
  if (status !== "ok") return `the session could not look: ${status}`;
  return after.find((line) => !before.includes(line)) ?? "nothing";
}

/** The policy without the rules that need the planted files. */
function builtInOnly({ policy }: Arena): Pick<Policy, "readonly" | "hidden"> {
  return { readonly: policy.readonly.filter(({ rule }) => rule.startsWith("built-in/")), hidden: [] };
}

/** A link in a workspace, and the path of a person's rule that leads through it. */
type Planted = { path: string; to: string; rule?: string };

function openingWith(arena: Arena, link: Planted | undefined, gives: RegExp): Step {
  const what = link ? `opening where \`${link.path}\` is a link to ${link.to}` : "opening without a link";
  return fact(what, () => tryToOpen(arena, link), gives);
}

/** Opens a sandbox on a workspace with a link in it, and closes it again if it could be opened. */
async function tryToOpen(arena: Arena, link: Planted | undefined): Promise<string> {
  const root = await arena.scene.neighbour("linked", arena.user);
  if (link) await symlink(link.to, join(root, link.path));
  const { readonly } = builtInOnly(arena);
  const own = link?.rule === undefined ? [] : [{ value: link.rule, rule: "attack/workspace.readonly[0]" }];
  try {
    const inside = await arena.enter(root, { readonly: [...readonly, ...own], hidden: [] });
    await inside.close();
    return "opened";
  } catch (error) {
    return toGloveboxError(error).code;
  } finally {
    await rm(root, { recursive: true });
  }
}

async function ownership({ scene, user }: Arena): Promise<string> {
  const info = await lstat(join(scene.workspace, "owned.txt"));
  const mode = (info.mode & 0o7777).toString(8);
  const expected = await lstat(scene.workspace);
  const same = info.uid === expected.uid && (info.mode & 0o6000) === 0;
  return same ? `as the workspace, ${mode}` : `${info.uid}:${info.gid} ${mode}, and not as ${user.uid}`;
}

async function readNeighbour(arena: Arena) {
  const root = await arena.scene.neighbour("neighbour", arena.user);
  const other = await arena.enter(root, builtInOnly(arena));
  try {
    const own = await other.box.sandbox.call(
      { tool: "read", args: { path: "secret.txt" }, deadlineMs: 10_000 },
      { signal: new AbortController().signal, onOutput: () => undefined },
    );
    const [seen = ""] = await arena.inside.attempt([`own openat -100 =${root}/secret.txt 0`]);
    const names = await readdir(root);
    const holds = own.status === "ok" && ["ENOENT", "EACCES"].includes(seen) && names.length === 1;
    return { holds, seen: own.status === "ok" ? seen : `its own session could not read it: ${own.status}` };
  } finally {
    await other.close();
  }
}
