import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Opened, openSandbox, Place } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

let place: Place;
let opened: Opened;

beforeAll(async () => {
  place = await Place.create();
  opened = await openSandbox(place.root);
});
afterAll(async () => {
  await opened?.sandbox.close();
  await place?.[Symbol.asyncDispose]();
});

/** A tool, a program for it, and the last line it prints. */
const PROGRAMS: [what: string, command: string, last: string][] = [
  [
    "node with worker threads",
    `cat > worker.mjs <<'END'
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";
if (isMainThread) {
  const one = (n) => new Promise((done) => new Worker(new URL(import.meta.url), { workerData: n }).on("message", done));
  const squares = await Promise.all([1, 2, 3, 4].map(one));
  console.log(squares.join());
} else parentPort.postMessage(workerData ** 2);
END
node worker.mjs`,
    "1,4,9,16",
  ],
  [
    "npm install from a local tarball",
    `mkdir -p package app && cd package && echo '{"name":"local-thing","version":"1.0.0","main":"i.js"}' > package.json &&
echo 'module.exports = 42' > i.js && npm pack --silent --pack-destination .. && cd ../app && echo '{}' > package.json &&
npm install --offline --no-audit --no-fund --silent ../local-thing-1.0.0.tgz && node -p 'require("local-thing")'`,
    "42",
  ],
  [
    "python with threads and a pool of processes",
    `cat > pool.py <<'END'
import multiprocessing, threading
def square(n): return n * n
if __name__ == "__main__":
    seen = []
    threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(8)]
    for thread in threads: thread.start()
    for thread in threads: thread.join()
    with multiprocessing.Pool(2) as pool:
        print(len(seen), pool.map(square, range(4)))
END
python3 pool.py`,
    "8 [0, 1, 4, 9]",
  ],
  [
    "venv, and pip install from a local wheel",
    `cat > wheel.py <<'END'
import zipfile
info = "local_thing-1.0.dist-info"
with zipfile.ZipFile("local_thing-1.0-py3-none-any.whl", "w") as wheel:
    wheel.writestr("local_thing.py", "answer = 42")
    wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: local-thing\\nVersion: 1.0\\n")
    wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
    wheel.writestr(info + "/RECORD", "")
END
python3 wheel.py && python3 -m venv venv && venv/bin/pip install -q --no-index ./local_thing-1.0-py3-none-any.whl &&
venv/bin/python -c 'import local_thing; print(local_thing.answer)'`,
    "42",
  ],
  [
    "gcc with pthread, by make",
    `cat > threads.c <<'END'
#include <pthread.h>
#include <stdio.h>
static void *run(void *n) { return n; }
int main(void) {
  pthread_t threads[8];
  long sum = 0;
  for (long n = 0; n < 8; n++) if (pthread_create(&threads[n], 0, run, (void *)n)) return 1;
  for (int n = 0; n < 8; n++) { void *seen; pthread_join(threads[n], &seen); sum += (long)seen; }
  printf("%ld\\n", sum);
}
END
printf 'threads: threads.c\\n\\tgcc -O2 -pthread -o $@ $<\\n' > Makefile && make -s -j2 && ./threads`,
    "28",
  ],
  [
    "git: commit, gc, worktree, clone",
    `export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q -b main repo && cd repo && echo 1 > file && git add file && git commit -qm one &&
for n in 1 2 3; do echo $n >> file; git commit -qam $n; done && git gc -q && git worktree add -q ../tree &&
git -C ../tree commit -q --allow-empty -m two && git clone -q . ../copy && git -C ../copy fsck && git log --all --oneline | wc -l`,
    "5",
  ],
  [
    "a program that starts many others",
    `python3 -c '
import subprocess
print(sum(int(subprocess.run(["sh", "-c", f"echo {n} | cat"], capture_output=True).stdout) for n in range(150)))'`,
    "11175",
  ],
  [
    "a socket of this machine",
    `python3 -c '
import socket, threading
server = socket.create_server(("::1", 0), family=socket.AF_INET6)
threading.Thread(target=lambda: server.accept()[0].sendall(b"hello")).start()
print(socket.create_connection(server.getsockname()[:2]).recv(9).decode())'`,
    "hello",
  ],
  ["interfaces, which are listed by netlink", `node -p 'Object.keys(os.networkInterfaces()).join()'`, "lo"],
];

describe("under the system call filter works", () => {
  it.each(PROGRAMS)("%s", async (_, command, last) => {
    const result = await call(opened.sandbox, "bash", { command: `(${command}\n)` });
    const lines = words(result).trim().split("\n");
    expect([result.status, lines.at(-1)?.trim(), result.status === "ok" || lines]).toEqual(["ok", last, true]);
  });
});

describe("`sandbox.ptrace`", () => {
  const TRACE = `python3 - <<'END'
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if pid == 0:
    os._exit(libc.ptrace(0, 0, 0, 0) != 0)
print("own child:", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
shell = os.getppid()
host = int(next(line for line in open(f"/proc/{shell}/status") if line.startswith("PPid:")).split()[1])
print("tool host:", os.strerror(ctypes.get_errno()) if libc.ptrace(16, host, 0, 0) else "traced")
END`;

  it.each([
    [true, "own child: 0\ntool host: Operation not permitted\n"],
    [false, "own child: 1\ntool host: Operation not permitted\n"],
  ])("P-08 %s: a program's own processes, and never the tool host", async (ptrace, seen) => {
    await using folder = await Place.create();
    await using sealed = await openSandbox(folder.root, { sandbox: { ptrace, runtime: undefined } });
    expect(words(await call(sealed.sandbox, "bash", { command: TRACE }))).toBe(seen);
  });
});
