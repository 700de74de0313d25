import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { Policy } from "../../policy/policy.ts";
import { TRACING } from "../../sandbox/seccomp/refused.ts";
import type { Arena } from "./arena.ts";
import type { Attack } from "./attack.ts";
import { calls, control, DONE, fact, tool } from "./steps.ts";

/** A system call with its arguments, and what it comes to; by the conventions of its architecture's 32 bits too. */
type KernelCall = { name: string; args: string; gives: string };

/** What is asked of the kernel: what is to be refused, and what is to work beside it. */
const KERNEL_CALLS: Record<string, { title: string; refused: KernelCall[]; works: KernelCall[] }> = {
  "P-06": {
    title: "Mounts, another root, another process's namespaces",
    refused: [
      ...bare("EPERM", "mount umount2 pivot_root chroot setns move_mount open_tree fsopen fsconfig fsmount fspick"),
      ...bare("EPERM", "mount_setattr umount swapon swapoff quotactl quotactl_fd nfsservctl"),
      ...bare("EPERM", "name_to_handle_at open_by_handle_at"),
    ],
    works: [one("chdir", "=.", "ok")],
  },
  "P-07": {
    title: "A user namespace of its own, by `unshare`, `clone` or `clone3`",
    refused: [
      one("unshare", "0x10000000", "EPERM"),
      one("unshare", "0", "EPERM"),
      ...[0x0002_0000, 0x0200_0000, 0x0400_0000, 0x0800_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000].map((flag) =>
        one("clone", `0x${(flag + 17).toString(16)}`, "EPERM"),
      ),
      one("clone3", "0 0", "ENOSYS"),
    ],
    works: [one("clone", "0x11", "ok")],
  },
  "P-08": {
    title: "`ptrace` and its relatives",
    refused: bare("EPERM", "ptrace kcmp pidfd_getfd process_madvise process_mrelease"),
    works: [one("getpid", "", "ok")],
  },
  "P-09": {
    title: "Another process's memory read or written",
    refused: bare("EPERM", "process_vm_readv process_vm_writev"),
    works: [one("getpid", "", "ok")],
  },
  "P-10": {
    title: "Calls past the filter by `io_uring`",
    refused: bare("ENOSYS", "io_uring_setup io_uring_enter io_uring_register"),
    works: [one("getpid", "", "ok")],
  },
  "P-11": {
    title: "Programs for the kernel by `bpf`",
    refused: bare("EPERM", "bpf"),
    works: [one("getpid", "", "ok")],
  },
  "P-12": {
    title: "Faults of the kernel held up by `userfaultfd`",
    refused: bare("EPERM", "userfaultfd"),
    works: [one("getpid", "", "ok")],
  },
  "P-13": {
    title: "Counters of the machine by `perf_event_open`",
    refused: bare("EPERM", "perf_event_open lookup_dcookie"),
    works: [one("getpid", "", "ok")],
  },
  "P-14": {
    title: "Keys of the host's user in the kernel's keyrings",
    refused: bare("EPERM", "keyctl add_key request_key"),
    works: [one("getpid", "", "ok")],
  },
  "P-16": {
    title: "Sockets of other families: to the hypervisor, of packets, of the kernel's ciphers, of netlink",
    refused: [
      ...["16 3 4", "17 3 0", "40 1 0", "38 5 0", "31 3 0", "44 2 0", "0 1 0", "2 3 1"].map((args) =>
        one("socket", args, "EPERM"),
      ),
      one("socketpair", "40 1 0 0", "EPERM"),
    ],
    works: [
      ...["1 1 0", "2 1 0", "10 2 0", "16 3 0"].map((args) => one("socket", args, "ok")),
      one("socketpair", "1 1 0 0", "EFAULT"),
    ],
  },
  "P-19": {
    title: "Kernel modules, another kernel, the machine's clock, name, log and settings",
    refused: [
      ...bare("EPERM", "init_module finit_module delete_module create_module query_module get_kernel_syms"),
      ...bare("EPERM", "kexec_load kexec_file_load syslog reboot acct settimeofday clock_settime clock_adjtime"),
      ...bare("EPERM", "stime vhangup sethostname setdomainname iopl ioperm modify_ldt fanotify_init"),
      one("personality", "0x40000", "EPERM"),
      ...[
        "/proc/sys/kernel/core_pattern",
        "/proc/sysrq-trigger",
        "/sys/kernel/mm/ksm/run",
        "/dev/kmsg",
        "/dev/mem",
      ].map((path) => one("openat", `-100 =${path} 1`, "EROFS EACCES EPERM ENOENT")),
    ],
    works: [one("personality", "0xffffffff", "ok"), one("openat", "-100 =/dev/null 1", "ok")],
  },
  "FS-46": {
    title: "A setuid or setgid file, a device or a FIFO left in the workspace for the host",
    refused: [
      ...["04755", "02755", "06755", "0xdead04755"].map((mode) => one("chmod", `=file ${mode}`, "EPERM")),
      one("fchmod", "0 04755", "EPERM"),
      one("fchmodat", "-100 =file 02755", "EPERM"),
      one("fchmodat2", "-100 =file 04755 0", "ENOSYS"),
      one("creat", "=new1 04755", "EPERM"),
      one("open", "=new2 0101 04755", "EPERM"),
      one("openat", "-100 =new4 0101 02755", "EPERM"),
      one("openat", "-100 =. 020200002 04755", "EPERM"),
      one("openat2", "-100 =new5 0 0", "ENOSYS"),
      one("mknod", "=new6 0104755 0", "EPERM"),
      one("mknod", "=new7 020666 0x103", "EPERM"),
      one("mknod", "=new8 060666 0x800", "EPERM"),
      one("mknod", "=new9 020666 0", "EPERM"),
      one("mknodat", "-100 =new10 012755 0", "EPERM"),
      one("mknodat", "-100 =new11 020666 0x103", "EPERM"),
      one("mkdir", "=new12 06755", "ok EEXIST"),
    ],
    works: [
      one("chmod", "=file 01755", "ok"),
      one("fchmodat", "-100 =file 0755", "ok"),
      one("open", "=new3 0101 0755", "ok"),
      one("open", "=file 0 04755", "ok"),
      one("openat", "-100 =. 020200002 0755", "ok"),
    ],
  },
};

/** Calls without arguments that count. */
function bare(gives: string, names: string): KernelCall[] {
  return names.split(" ").map((name) => ({ name, args: "", gives }));
}

function one(name: string, args: string, gives: string): KernelCall {
  return { name, args, gives };
}

/** A call as a line for the runtime's program. Names that its headers do not know yet go by number. */
function lineOf(abi: "own" | "i386", { name, args }: KernelCall): string {
  return `${abi} ${name === "fchmodat2" ? "452" : name} ${args}`.trimEnd();
}

function refusedBy({ sandbox }: Policy, list: readonly KernelCall[]): KernelCall[] {
  return list.filter(({ name }) => !(sandbox.ptrace && TRACING.includes(name)));
}

const FILE = control(tool("write", { path: "file", content: "x" }, DONE));

/** What a process may ask of the kernel, by the machine's own convention. */
const OWN_CONVENTION: Attack[] = Object.entries(KERNEL_CALLS).map(([id, { title, refused, works }]) => ({
  id,
  title,
  impossible: ({ policy }) =>
    refusedBy(policy, refused).length === 0 ? "the policy allows it: `sandbox.ptrace`" : undefined,
  steps: ({ policy }) => [
    ...(id === "FS-46" ? [FILE] : []),
    ...grouped(works).map(([gives, list]) => control(calls(gives, ...list.map((call) => lineOf("own", call))))),
    ...grouped(refusedBy(policy, refused)).map(([gives, lines]) =>
      calls(gives, ...lines.map((call) => lineOf("own", call))),
    ),
    ...(id === "FS-46" ? LEFT_FOR_THE_HOST : []),
  ],
}));

/** By the other conventions that x86 has, which a filter must know too. */
const OTHER_CONVENTIONS: Attack = {
  id: "P-20",
  title: "The same calls by the conventions of 32-bit x86 and x32, and calls newer than the list",
  impossible: ({ inside }) =>
    inside.box.engine.architecture === "x64" ? undefined : "this processor has one convention only",
  steps: ({ policy }) => [
    FILE,
    control(calls(`ok ${NO_I386}`, "i386 getpid", "i386 chdir =.", "i386 clone 0x11")),
    control(calls(`ENOENT ${NO_I386}`, "i386 chdir =absent")),
    ...grouped(Object.values(KERNEL_CALLS).flatMap(({ refused }) => refusedBy(policy, refused))).map(([gives, list]) =>
      calls(`${gives} ${NO_I386}`, ...list.map((call) => lineOf("i386", call))),
    ),
    calls(`EACCES ${NO_I386}`, ...Array.from({ length: 20 }, (_, index) => `i386 socketcall ${index + 1} 0`)),
    calls("SIGSYS", "x32 39", "x32 521", "x32 165", "x32 41"),
    calls(`ENOSYS ${NO_I386}`, ...NEWER.flatMap((number) => [`own ${number}`, `i386 ${number}`])),
  ],
};

/** What a kernel built without that convention does to who uses it. */
const NO_I386 = "SIGSEGV";
const NEWER = [457, 460, 467, 512, 521, 546, 600, 9999];

/** One step for all that come to the same. */
function grouped(list: readonly KernelCall[]): [string, KernelCall[]][] {
  const groups = new Map<string, KernelCall[]>();
  for (const call of list) groups.set(call.gives, [...(groups.get(call.gives) ?? []), call]);
  return [...groups];
}

export const KERNEL_ATTACKS: Attack[] = [...OWN_CONVENTION, OTHER_CONVENTIONS];

const LEFT_FOR_THE_HOST = [
  fact("no file with such a bit, and no device, is there", dangerousFiles, /^none of [1-9]\d*$/),
  control(calls("ok EEXIST", "own mknodat -100 =pipe 010644 0")),
  tool("read", { path: "pipe" }, /^failed/),
  tool("edit", { path: "pipe", edits: [{ oldText: "x", newText: "y" }] }, /^failed/),
  control(tool("grep", { pattern: "x" }, /^ok/)),
  control(calls("ok", "own unlinkat -100 =pipe 0")),
];

async function dangerousFiles({ scene }: Arena): Promise<string> {
  const names = await readdir(scene.workspace);
  const infos = await Promise.all(
    names.map(async (name) => ({ name, info: await lstat(join(scene.workspace, name)) })),
  );
  const bad = infos.filter(
    ({ info }) => (info.mode & 0o6000) !== 0 || info.isCharacterDevice() || info.isBlockDevice(),
  );
  return bad[0]?.name ?? `none of ${names.length}`;
}
