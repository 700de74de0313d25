import { copyFile, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callsOf } from "../support/call-numbers.ts";
import { connect, type Opened, openSandbox, Place } from "../support/engine.ts";
import { call, words } from "../support/sandbox-contract.ts";

const isX86 = (await connect()).architecture === "x64";
let place: Place;
let opened: Opened;

async function sh(command: string): Promise<string> {
  return words(await call(opened.sandbox, "bash", { command }))
    .trim()
    .replace("(no output)", "");
}

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

beforeAll(async () => {
  place = await Place.create();
  opened = await openSandbox(place.root);
  await copyFile(join(import.meta.dirname, "seccomp/probe.c"), join(place.root, "probe.c"));
  expect(await sh(`${isX86 ? "gcc -Wall -no-pie -o probe probe.c" : "true"}; touch file; mkdir folder`)).toBe("");
});
afterAll(async () => {
  await opened?.sandbox.close();
  await place?.[Symbol.asyncDispose]();
});

const NUMBERS = {
  x86_64: numbersOf("x86_64"),
  i386: numbersOf("i386"),
};

function numbersOf(architecture: "x86_64" | "i386"): Map<string, number> {
  return new Map([...callsOf(architecture)].map(([number, name]) => [name, number]));
}

/** What one system call gives, made by the convention of `abi`: an error's name, `ok` or `signal N`. */
function probe(abi: string, number: number, args = ""): Promise<string> {
  return sh(`echo '${abi} ${number} ${args}' | ./probe`);
}

/** The attack, the call, its arguments, and what it gives by the conventions that have it. */
type Attempt = [id: string, name: string, args: string, gives: string];

const AT_FDCWD = "-100";
const REFUSALS: Attempt[] = [
  ...many("P-06", "EPERM", "mount umount2 pivot_root chroot setns move_mount open_tree fsopen fsconfig fsmount"),
  ...many("P-06", "EPERM", "fspick mount_setattr umount swapon swapoff quotactl quotactl_fd nfsservctl"),
  ...many("P-06", "EPERM", "name_to_handle_at open_by_handle_at"),
  ["P-07", "unshare", "0x10000000", "EPERM"],
  ["P-07", "unshare", "0", "EPERM"],
  ...[0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000].map(
    (flag): Attempt => ["P-07", "clone", `0x${(flag + 17).toString(16)}`, "EPERM"],
  ),
  ["P-07", "clone", "0x11", "ok"],
  ["P-07", "clone3", "0 0", "ENOSYS"],
  ...many("P-08", "EPERM", "ptrace kcmp pidfd_getfd process_madvise process_mrelease"),
  ...many("P-09", "EPERM", "process_vm_readv process_vm_writev"),
  ...many("P-10", "ENOSYS", "io_uring_setup io_uring_enter io_uring_register"),
  ...many("P-11", "EPERM", "bpf"),
  ...many("P-12", "EPERM", "userfaultfd"),
  ...many("P-13", "EPERM", "perf_event_open lookup_dcookie"),
  ...many("P-14", "EPERM", "keyctl add_key request_key"),
  ...["1 1 0", "2 1 0", "10 2 0", "16 3 0"].map((args): Attempt => ["P-16", "socket", args, "ok"]),
  ...["16 3 4", "17 3 0", "40 1 0", "38 5 0", "31 3 0", "44 2 0", "0 1 0", "2 3 1"].map(
    (args): Attempt => ["P-16", "socket", args, "EPERM"],
  ),
  ["P-16", "socketpair", "40 1 0 0", "EPERM"],
  ["P-16", "socketpair", "1 1 0 0", "EFAULT"],
  ...many("P-19", "EPERM", "init_module finit_module delete_module create_module query_module get_kernel_syms"),
  ...many("P-19", "EPERM", "kexec_load kexec_file_load syslog reboot acct settimeofday clock_settime clock_adjtime"),
  ...many("P-19", "EPERM", "stime vhangup sethostname setdomainname iopl ioperm modify_ldt fanotify_init"),
  ["P-19", "personality", "0x40000", "EPERM"],
  ["P-19", "personality", "0xffffffff", "ok"],
  ...Array.from({ length: 20 }, (_, at): Attempt => ["P-20", "socketcall", `${at + 1} 0`, "EACCES"]),
  ...["04755", "02755", "06755", "0xdead04755"].map((mode): Attempt => ["FS-46", "chmod", `=file ${mode}`, "EPERM"]),
  ["FS-46", "chmod", "=file 01755", "ok"],
  ["FS-46", "fchmod", "0 04755", "EPERM"],
  ["FS-46", "fchmodat", `${AT_FDCWD} =file 02755`, "EPERM"],
  ["FS-46", "fchmodat", `${AT_FDCWD} =file 0755`, "ok"],
  ["FS-46", "fchmodat2", `${AT_FDCWD} =file 04755 0`, "ENOSYS"],
  ["FS-46", "creat", "=new1 04755", "EPERM"],
  ["FS-46", "open", "=new2 0101 04755", "EPERM"],
  ["FS-46", "open", "=new3 0101 0755", "ok"],
  ["FS-46", "open", "=file 0 04755", "ok"],
  ["FS-46", "openat", `${AT_FDCWD} =new4 0101 02755`, "EPERM"],
  ["FS-46", "openat", `${AT_FDCWD} =. 020200002 04755`, "EPERM"],
  ["FS-46", "openat", `${AT_FDCWD} =. 020200002 0755`, "ok"],
  ["FS-46", "openat2", `${AT_FDCWD} =new5 0 0`, "ENOSYS"],
  ["FS-46", "mknod", "=new6 0104755 0", "EPERM"],
  ["FS-46", "mknod", "=new7 020666 0x103", "EPERM"],
  ["FS-46", "mknod", "=new8 060666 0x800", "EPERM"],
  ["FS-46", "mknod", "=new9 020666 0", "EPERM"],
  ["FS-46", "mknodat", `${AT_FDCWD} =new10 012755 0`, "EPERM"],
  ["FS-46", "mkdir", "=new11 06755", "ok"],
];

/** Calls without arguments that count. */
function many(id: string, gives: string, names: string): Attempt[] {
  return names.split(" ").map((name) => [id, name, "", gives]);
}

describe.runIf(isX86)("a system call from inside (on x86 engines, whose conventions the probe speaks)", () => {
  it.each(REFUSALS)("%s %s %s gives %s", async (_, name, args, gives) => {
    const known = Object.entries(NUMBERS).flatMap(([abi, numbers]) => {
      const number = numbers.get(name);
      return number === undefined ? [] : [{ abi, number }];
    });
    expect(known).not.toEqual([]);
    await sh("rm -rf new3 new11");
    for (const { abi, number } of known) {
      expect([abi, await probe(abi, number, args)]).toEqual([abi, gives]);
      await sh("rm -rf new3 new11");
    }
  });

  it.each(["x86_64", "i386"] as const)("P-20 is answered by %s for what is allowed", async (abi) => {
    const numbers = NUMBERS[abi];
    expect(await probe(abi, numbers.get("getpid") ?? 0)).toBe("ok");
    expect(await probe(abi, numbers.get("chdir") ?? 0, "=absent")).toBe("ENOENT");
    expect(await probe(abi, numbers.get("mkdir") ?? 0, "=folder 0755")).toBe("EEXIST");
  });

  it.each([
    ["getpid", 39],
    ["ptrace", 521],
    ["mount", 165],
    ["socket", 41],
  ])("P-20 ends whoever tries %s by the x32 convention", async (_, number) => {
    expect(await probe("x32", number)).toBe("signal 31");
  });

  it.each(["x86_64", "i386"])("P-20 has no call of %s above its table", async (abi) => {
    const seen = await Promise.all([457, 460, 467, 512, 521, 546, 600, 9999].map((number) => probe(abi, number)));
    expect([...new Set(seen)]).toEqual(["ENOSYS"]);
  });

  it("FS-46 leaves no setuid or setgid file and no device in the workspace", async () => {
    const tools = ["chmod u+s file", "chmod g+s folder", "install -m 4755 file new12", "mknod new13 c 1 3"];
    expect(
      await sh(
        tools
          .map((tool) => `${tool} 2>/dev/null && echo "done: ${tool}"`)
          .join("; ")
          .concat("; true"),
      ),
    ).toBe("");
    expect(await sh("mkfifo fifo && chmod 1777 folder && echo control")).toBe("control");
    const entries = await Promise.all(
      (await readdir(place.root)).map(async (name) => ({ name, info: await stat(join(place.root, name)) })),
    );
    const bad = entries.filter(({ info }) => (info.mode & 0o6000) !== 0 || info.isCharacterDevice());
    expect(bad.map(({ name }) => name)).toEqual([]);
    expect(entries.length).toBeGreaterThan(3);
  });
});

describe("a command from inside", () => {
  it.each([
    ["P-06", "mount -t tmpfs x /tmp"],
    ["P-06", "chroot / true"],
    ["P-06", "nsenter -t 1 -m true"],
    ["P-07", "unshare -U true"],
    ["P-07", "unshare -r -m true"],
    ["P-16", "python3 -c 'import socket; socket.socket(socket.AF_VSOCK)'"],
    ["P-19", "echo x > /proc/sys/kernel/hostname"],
    ["P-19", "echo x > /sys/kernel/mm/ksm/run"],
    ["P-19", "cat /dev/kmsg"],
    ["P-19", "dmesg"],
  ])("%s fails: %s", async (_, command) => {
    expect(await sh(`(${command}) >/dev/null 2>&1 && echo done || echo refused; echo control`)).toBe(
      "refused\ncontrol",
    );
  });

  it("P-15 may run a program that is in memory only, as it may one in /tmp, and has gained nothing", async () => {
    const script = `import os
fd = os.memfd_create("x")
os.write(fd, open("/bin/grep", "rb").read())
os.execve(fd, ["grep", "-E", "^(CapEff|NoNewPrivs|Seccomp):", "/proc/self/status"], {})`;
    expect((await sh(`python3 -c '${script}'`)).replaceAll("\t", " ")).toBe(
      "CapEff: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2",
    );
  });
});
