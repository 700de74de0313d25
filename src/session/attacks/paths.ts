import { join } from "node:path";
import { RUNTIME_PATHS } from "../../sandbox/images/runtime-paths.ts";
import type { Arena } from "./arena.ts";
import type { Attack } from "./attack.ts";
import { attempt, calls, control, DONE, everyTool, harmless, tool } from "./steps.ts";

/** Nothing of the host is at such a path inside, so that a call through it finds nothing or may not. */
const NOT_THERE = "ENOENT ENOTDIR EACCES EROFS ELOOP";
const READS = control(tool("read", { path: "ordinary.txt" }, /^ok: .*ordinary/s));
const WRITES = control(tool("write", { path: "made.txt", content: "made\n" }, DONE));
const ODD_NAMES = [
  "~",
  "~/.ssh/id_ed25519",
  "$HOME",
  "-rf",
  "--help",
  "new\nline",
  "a\0b",
  "x".repeat(5000),
  "",
  "\u202e",
];

/** Ways out of the workspace by the name of a path. */
export const PATH_ATTACKS: Attack[] = [
  {
    id: "FS-01",
    title: "`../` in the arguments of every tool",
    steps: () => [
      READS,
      WRITES,
      ...["../outside/FS-01/canary.txt", "a/../../outside/FS-01/canary.txt", "./.././outside/FS-01/made"].flatMap(
        everyTool,
      ),
    ],
  },
  {
    id: "FS-02",
    title: "An absolute path outside the workspace",
    steps: ({ scene }) => [
      READS,
      WRITES,
      calls(
        NOT_THERE,
        `own openat -100 =${scene.trap("FS-02")}/canary.txt 0`,
        `own openat -100 =${scene.trap("FS-02")}/x 0101 0600`,
      ),
      ...[join(scene.trap("FS-02"), "canary.txt"), scene.trap("FS-02")].flatMap(everyTool),
    ],
  },
  {
    id: "FS-03",
    title: "Names that mean something else: `~`, a NUL, a line break, a dash, thousands of characters",
    steps: () => [READS, WRITES, ...ODD_NAMES.flatMap((name) => everyTool(name).slice(0, 4))],
  },
  ...linkAttacks(),
  {
    id: "FS-09",
    title: "A link that changes its target between check and use",
    steps: ({ scene }) => [
      READS,
      swapping(scene.trap("FS-09")),
      ...Array.from({ length: 8 }, () => everyTool("swap/canary.txt")).flat(),
    ],
  },
  {
    id: "FS-11",
    title: "A hard link across the boundary of what is protected",
    steps: () => [
      control(calls("ok", "own linkat -100 =free/x -100 =free/linked 0; own unlinkat -100 =free/linked 0")),
      calls(
        "EXDEV EROFS EPERM",
        "own linkat -100 =a/b/c.yml -100 =free/hard 0",
        "own linkat -100 =.git/config -100 =free/hard 0",
        "own linkat -100 =free/x -100 =.git/hooks/post-checkout 0",
        "own linkat -100 =free/x -100 =.github/workflows/new.yml 0",
        "own linkat -100 =/etc/passwd -100 =free/hard 0",
      ),
    ],
  },
  {
    id: "FS-12",
    title: "The file system by another name: /proc/self/root, /proc/1/cwd, /dev/fd",
    steps: ({ scene }) => [
      READS,
      ...["/proc/self/root", "/proc/1/root", "/proc/1/cwd", "/proc/self/cwd/..", "/dev/fd/0/.."].flatMap((alias) =>
        everyTool(`${alias}${scene.trap("FS-12")}/canary.txt`),
      ),
      harmless("write", { path: `/proc/self/root${scene.workspace}/.git/config`, content: "harm" }),
    ],
  },
  {
    id: "FS-13",
    title: "A protected folder's name in other letters",
    steps: () => [WRITES, ...[".GIT/config", ".Git/hooks/pre-commit", ".GitHub/workflows/ci.yml"].flatMap(written)],
  },
  {
    id: "FS-14",
    title: "A protected folder's name with characters that some file systems leave out",
    steps: () => [
      WRITES,
      ...[".g\u200cit/config", ".git /config", ".git./config", "git~1/config", ".git\u00ad/x"].flatMap(written),
    ],
  },
];

/** Every use of a path that a planted link leads out of the workspace. */
function linkAttacks(): Attack[] {
  const through = (id: string, title: string, ...names: string[]): Attack => {
    const paths = names.map((name) => `links/${id}/${name}`);
    return {
      id,
      title,
      steps: () => [
        READS,
        control(calls("ok", `own readlinkat -100 =links/${id}/file %0000000000000000 8`)),
        ...paths.map((path) => calls(NOT_THERE, `own openat -100 =${path} 2`, `own fchmodat -100 =${path} 0600`)),
        ...paths.flatMap(everyTool),
      ],
    };
  };
  return [
    {
      id: "FS-04",
      title: "A link out of the workspace: read, write, mkdir, rename, unlink, chmod through it",
      steps: () => [
        READS,
        control(calls("ok", "own readlinkat -100 =links/FS-04/file %0000000000000000 8")),
        calls(
          NOT_THERE,
          "own openat -100 =links/FS-04/file 1",
          "own openat -100 =links/FS-04/file 02001",
          "own mkdirat -100 =links/FS-04/folder/new 0755",
          "own renameat -100 =free/x -100 =links/FS-04/folder/x",
          "own renameat -100 =links/FS-04/folder/canary.txt -100 =free/stolen",
          "own unlinkat -100 =links/FS-04/folder/canary.txt 0",
          "own fchmodat -100 =links/FS-04/file 0777",
          "own symlinkat =x -100 =links/FS-04/folder/new",
          "own mknodat -100 =links/FS-04/folder/new 010644 0",
        ),
        ...["links/FS-04/file", "links/FS-04/folder/canary.txt"].flatMap(everyTool),
      ],
    },
    through("FS-05", "A link to what does not exist yet outside", "dangling"),
    through("FS-06", "A chain of links out of the workspace", "chain/canary.txt"),
    through("FS-07", "A link as a folder on the way", "relative/canary.txt", "folder/folder/canary.txt"),
    through("FS-08", "A link to a folder, with and without a slash", "folder", "folder/"),
    through("FS-10", "A new file below a link", "folder/new/new.txt"),
  ];
}

function written(path: string) {
  return [harmless("write", { path, content: "harm" }), harmless("read", { path: path.slice(0, path.indexOf("/")) })];
}

/** Starts a job that makes `swap` a link to the folder outside and to one inside, hundreds of times. */
function swapping(outside: string) {
  const remove = "'own unlinkat -100 =swap 0'";
  const link = (target: string) => `'own symlinkat =${target} -100 =swap'`;
  const swap = `${RUNTIME_PATHS.attemptPath} ${remove} ${link(outside)} ${remove} ${link("free")}`;
  const loop = `i=0; while [ $i -lt 300 ]; do ${swap}; i=$((i + 1)); done`;
  return control(
    attempt("a job swaps the link", async (arena: Arena) => {
      const { status } = await arena.inside.call("bash", { command: `(${loop}) >/dev/null 2>&1`, background: true });
      return { holds: status === "ok", seen: status };
    }),
  );
}
