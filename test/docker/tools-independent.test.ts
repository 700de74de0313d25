import { chmod, mkdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/core/json.ts";
import type { ToolResult } from "../../src/core/tool-result.ts";
import { type Opened, openSandbox, Place } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

const NAMES = ["rg", "grep", "find", "ls", "cat", "node", "git", "sed", "sh", "stat"];

/** What a tool must find as it was, whatever the shell did before it. */
const CALLS: readonly [string, JsonObject][] = [
  ["bash", { command: 'echo "said: $((6 * 7))"; (exit 3)' }],
  ["write", { path: "made/new.txt", content: "one\ntwo\n" }],
  ["edit", { path: "made/new.txt", edits: [{ oldText: "two", newText: "three" }] }],
  ["read", { path: "tree/plain.txt" }],
  ["read", { path: "~/note.txt" }],
  ["ls", { path: "tree" }],
  ["grep", { pattern: "needle", path: "tree" }],
  ["grep", { pattern: "needle", path: "./tree/plain.txt" }],
  ["find", { pattern: "*.txt", path: "tree" }],
];

/** All that a shell can leave behind for later calls, in its state, in files and in the environment. */
const WORST = `
mkdir -p /tmp/evil /tmp/evilhome /tmp/marks "$HOME" 2>/dev/null
for name in ${NAMES.join(" ")}; do
  printf '#!/bin/bash\\n: >/tmp/marks/%s\\necho evil program\\n' $name >/tmp/evil/$name
  chmod 755 /tmp/evil/$name
done
echo 'require("fs").writeFileSync("/tmp/marks/required", "")' >/tmp/evil/first.cjs
for home in "$HOME" /tmp/evilhome; do
  echo ': >/tmp/marks/profile' | tee $home/.bashrc $home/.profile $home/.bash_profile $home/.bash_aliases >$home/.zshenv
  printf -- '--pre=/tmp/evil/rg\\n--files-with-matches\\n' >$home/.ripgreprc
  echo '*' >$home/.ignore
  printf '[core]\\nfsmonitor = /tmp/evil/git\\npager = /tmp/evil/git\\nexcludesFile = /tmp/evil/ignored\\n' >$home/.gitconfig
  mkdir -p $home/.config/git $home/.config/ripgrep; echo '*' >$home/.config/git/ignore
done
echo evil >/tmp/evilhome/note.txt
echo '*' | tee /tmp/evil/ignored >/tmp/.gitignore
echo '*' >"$ROOT/.ignore"
cp $HOME/.ripgreprc "$ROOT/.ripgreprc"
(mkdir -p "$ROOT/.git/hooks" && cp $HOME/.gitconfig "$ROOT/.git/config") 2>/dev/null
export PATH=/tmp/evil:"$ROOT/tree":/usr/bin:/bin HOME=/tmp/evilhome ENV=/tmp/evilhome/.profile BASH_ENV=/tmp/evilhome/.profile
export LD_PRELOAD=/tmp/evil.so NODE_OPTIONS='--require /tmp/evil/first.cjs' NODE_PATH=/tmp/evil
export RIPGREP_CONFIG_PATH=/tmp/evilhome/.ripgreprc GIT_DIR=/tmp/evil/dir GIT_WORK_TREE=/ GIT_CONFIG_COUNT=1
export GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0=/tmp/evil/git GIT_CONFIG_GLOBAL=/tmp/evilhome/.gitconfig
export GIT_PAGER=/tmp/evil/git PAGER=/tmp/evil/cat LC_ALL=C IFS=/ CDPATH=/tmp TMPDIR=/nowhere
for name in ${NAMES.join(" ")}; do
  eval "alias $name='builtin echo evil alias'; function $name { builtin echo evil function; }"
done
umask 077
cd /tmp
`;
const PRELOADED = `#include <fcntl.h>
__attribute__((constructor)) static void mark(void) { open("/tmp/marks/preloaded", O_CREAT | O_WRONLY, 0600); }`;
/** What would keep the state from being saved as well. */
const LAST =
  "umask 777; exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -f 0; ulimit -n 5; exec >/dev/null 2>&1 </dev/null; set -eu";

describe("tools know nothing of the agent's shell", () => {
  let place: Place;
  let opened: Opened;
  const run = (tool: string, args: JsonObject): Promise<ToolResult> => call(opened.sandbox, tool, args);
  const sh = (command: string): Promise<ToolResult> => run("bash", { command });
  const worst = async (): Promise<void> => {
    await sh(
      `unset LD_PRELOAD; PATH=/usr/bin:/bin; unset -f ${NAMES.join(" ")}; unalias -a; IFS=$' \\t\\n'; umask 022`,
    );
    await sh(`HOME=/home/glovebox; ROOT='${place.root}'${WORST}`);
    await sh(LAST);
  };

  beforeAll(async () => {
    place = await Place.create();
    await mkdir(join(place.root, "tree/deep"), { recursive: true });
    await mkdir(join(place.root, "made"));
    for (const folder of ["", "tree", "tree/deep", "made"]) await chmod(join(place.root, folder), 0o777);
    await writeFile(join(place.root, "tree/plain.txt"), "a\nthe needle is here\n");
    await writeFile(join(place.root, "tree/deep/.hidden.txt"), "needle\n");
    await writeFile(join(place.root, "tree/deep/ignored.txt"), "needle\n");
    await writeFile(join(place.root, ".gitignore"), "ignored.txt\n");
    for (const name of NAMES) {
      await writeFile(join(place.root, "tree", name), `#!/bin/bash\n: >/tmp/marks/tree-${name}\necho evil\n`);
      await chmod(join(place.root, "tree", name), 0o755);
    }
    opened = await openSandbox(place.root);
    await sh("echo 'mine, the needle' >~/note.txt; mkdir -p /tmp/marks; first_node=$(command -v node)");
    await sh(`gcc -shared -fPIC -o /tmp/evil.so -xc - <<'END'\n${PRELOADED}\nEND`);
  });
  afterAll(async () => {
    await opened[Symbol.asyncDispose]();
    await place[Symbol.asyncDispose]();
  });

  it("O-FIND-01: each result is byte for byte what it was, and no program of the agent's has run", async () => {
    // Twice, so that `write` replaces in the run that is compared, too.
    for (const [tool, args] of CALLS) await run(tool, args);
    const before = await inTurn(CALLS, ([tool, args]) => run(tool, args));
    await worst();
    const control = words(
      await sh(String.raw`ls; \ls; command ls; command rg; command git; "$first_node" -e 0; builtin echo "$HOME"`),
    );
    expect(control).toContain("evil alias\nevil function");
    expect(control).toContain("evil program");
    expect(control).toContain("/tmp/evilhome");
    expect(await marks()).toEqual(expect.arrayContaining(["git", "ls", "preloaded", "required", "rg"]));
    const after = await inTurn(CALLS, async ([tool, args]) => {
      await worst();
      await sh("builtin cd /tmp; PATH=/usr/bin:/bin; LD_PRELOAD= command -p rm -f /tmp/marks/*");
      const result = await run(tool, args);
      expect([tool, await marks()]).toEqual([tool, []]);
      return result;
    });
    expect(after.map(seen)).toEqual(before.map(seen));
  });

  it("what `write` makes has the mode of the tool host, not of the shell's umask", async () => {
    await worst();
    await rm(join(place.root, "made/new.txt"), { force: true });
    expect((await run("write", { path: "made/deep/new.txt", content: "x" })).status).toBe("ok");
    expect((await stat(join(place.root, "made/deep/new.txt"))).mode & 0o777).toBe(0o644);
  });

  it("paths begin at the workspace also after a `cd` into a folder with the same names", async () => {
    await worst();
    await sh("builtin cd /tmp; builtin echo evil >plain.txt");
    expect(words(await run("read", { path: "tree/plain.txt" }))).toBe("a\nthe needle is here\n");
    expect((await run("read", { path: "plain.txt" })).status).toBe("failed");
  });

  /** Read by the tool under test's own side: the shell's programs are not to be trusted here. */
  async function marks(): Promise<string[]> {
    const listed = words(await run("ls", { path: "/tmp/marks" }));
    return listed.startsWith("[The directory is empty]")
      ? []
      : listed.split("\n").map((line) => line.split("\t")[2] ?? "");
  }
});

async function inTurn<From, To>(list: readonly From[], act: (item: From) => Promise<To>): Promise<To[]> {
  const results: To[] = [];
  for (const item of list) results.push(await act(item));
  return results;
}

/** A result without what is measured. */
function seen({ status, content, details, truncated }: ToolResult): unknown {
  const { duration_ms, cpu_seconds, peak_memory_bytes, ...rest } = details;
  return { status, content, truncated, details: rest };
}
