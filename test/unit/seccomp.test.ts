import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Comparison } from "../../src/sandbox/seccomp/compare.ts";
import { seccompOption } from "../../src/sandbox/seccomp/option.ts";
import { type ProfileRule, seccompJson, seccompProfile } from "../../src/sandbox/seccomp/profile.ts";
import { callsOf } from "../support/call-numbers.ts";

const NO_TRACING = { ptrace: false };
const JSON_TEXT = seccompJson(NO_TRACING);
const { syscalls, ...rest } = seccompProfile(NO_TRACING);
const ARCHITECTURES = ["x86_64", "i386", "arm64"] as const;
/** The newest call of the table; naming a newer one would make `EPERM` of those between. */
const HIGHEST = 456;

function rulesOf(call: string): ProfileRule[] {
  return syscalls.filter(({ names }) => names.includes(call));
}

function holds({ index, value, valueTwo, op }: Comparison, args: readonly number[]): boolean {
  const argument = BigInt(args[index] ?? 0);
  switch (op) {
    case "SCMP_CMP_EQ":
      return argument === BigInt(value);
    case "SCMP_CMP_NE":
      return argument !== BigInt(value);
    case "SCMP_CMP_GT":
      return argument > BigInt(value);
    case "SCMP_CMP_MASKED_EQ":
      return (argument & BigInt(value)) === BigInt(valueTwo);
  }
}

/** All outcomes of a call; a filter is clear where there is one. */
function outcomes(call: string, args: readonly number[] = []): string[] {
  const matching = rulesOf(call).filter((rule) => (rule.args ?? []).every((comparison) => holds(comparison, args)));
  return [...new Set(matching.map((rule) => String(rule.errnoRet ?? "allow")))];
}

const [ALLOW, EPERM, ENOSYS] = [["allow"], ["1"], ["38"]];

describe("the seccomp profile", () => {
  it.each(ARCHITECTURES)("names every call of %s up to the highest it names", (architecture) => {
    const calls = callsOf(architecture);
    expect([...calls.values()].filter((call) => rulesOf(call).length === 0)).toEqual([]);
    expect(Math.max(...calls.keys())).toBe(HIGHEST);
  });

  it("names nothing that its tables do not have, so no call above the highest", () => {
    const known = new Set(ARCHITECTURES.flatMap((architecture) => [...callsOf(architecture).values()]));
    const unknown = syscalls.flatMap(({ names }) => names).filter((name) => !known.has(name));
    expect(unknown).toEqual([]);
  });

  it("says of each call without conditions one outcome, and the error of each refusal", () => {
    const plain = syscalls.filter(({ args }) => !args).flatMap(({ names }) => names);
    expect(plain.filter((name) => rulesOf(name).length !== 1)).toEqual([]);
    const refusals = syscalls.filter(({ action }) => action === "SCMP_ACT_ERRNO");
    expect(refusals.filter(({ errnoRet }) => errnoRet === undefined)).toEqual([]);
    expect(syscalls.filter(({ action, errnoRet }) => action === "SCMP_ACT_ALLOW" && errnoRet !== undefined)).toEqual(
      [],
    );
  });

  it("puts no two conditions of a rule on one argument, which engines would take for alternatives", () => {
    const twice = syscalls.filter(({ args = [] }) => new Set(args.map(({ index }) => index)).size !== args.length);
    expect(twice).toEqual([]);
  });

  it("does not exist for other architectures, and unknown calls do not exist", () => {
    expect(rest).toEqual({
      defaultAction: "SCMP_ACT_ERRNO",
      defaultErrnoRet: 38,
      archMap: [
        { architecture: "SCMP_ARCH_X86_64", subArchitectures: ["SCMP_ARCH_X86"] },
        { architecture: "SCMP_ARCH_AARCH64", subArchitectures: [] },
      ],
    });
  });

  it("is the same each time, and short enough for every start", () => {
    expect(JSON.parse(JSON_TEXT)).toEqual(seccompProfile(NO_TRACING));
    expect(JSON_TEXT.length).toBeLessThan(32 * 1024);
  });

  it.each([
    [
      "P-06",
      "mount umount umount2 pivot_root chroot unshare setns move_mount open_tree fsopen fsconfig fsmount fspick",
    ],
    ["P-06", "mount_setattr swapon swapoff quotactl quotactl_fd nfsservctl name_to_handle_at open_by_handle_at"],
    ["P-08", "ptrace kcmp pidfd_getfd process_madvise"],
    ["P-09", "process_vm_readv process_vm_writev"],
    ["P-11", "bpf"],
    ["P-12", "userfaultfd"],
    ["P-13", "perf_event_open lookup_dcookie"],
    ["P-14", "keyctl add_key request_key"],
    ["P-19", "kexec_load kexec_file_load init_module finit_module delete_module create_module query_module syslog"],
    ["P-19", "reboot acct settimeofday clock_settime clock_settime64 stime iopl ioperm vhangup fanotify_init"],
  ])("%s refuses %s", (_, calls) => {
    const names = calls.split(" ");
    expect(names.map((name) => outcomes(name))).toEqual(names.map(() => EPERM));
  });

  it("P-10 has no clone3, openat2, fchmodat2 and io_uring", () => {
    const names = ["clone3", "openat2", "fchmodat2", "io_uring_setup", "io_uring_enter", "io_uring_register"];
    expect(names.map((name) => outcomes(name))).toEqual(names.map(() => ENOSYS));
  });

  it("P-20 refuses all of sockets in one call by an error that is no engine's default", () => {
    expect(outcomes("socketcall")).toEqual(["13"]);
  });

  it.each([0, 7, 17, 25, 26, 27, 28, 29, 30])("P-07 refuses clone with the namespace flag 2^%i only", (bit) => {
    const isNamespace = bit === 17 || (bit >= 25 && bit <= 30);
    expect(outcomes("clone", [2 ** bit + 17])).toEqual(isNamespace ? EPERM : ALLOW);
  });

  it("FS-46 refuses every mode with a setuid or setgid bit and allows every other", () => {
    const at = { chmod: 1, fchmod: 1, fchmodat: 2, creat: 1 };
    const wrong = Object.entries(at).flatMap(([call, index]) =>
      Array.from({ length: 0o10_000 }, (_, mode) => mode).filter((mode) => {
        const seen = outcomes(call, [...Array<number>(index).fill(0xffff), mode]);
        return seen.join() !== (mode & 0o6000 ? "1" : "allow");
      }),
    );
    expect(wrong).toEqual([]);
  });

  it("FS-46 looks at the mode of open and openat where a file is made", () => {
    const flags = [0, 0o1, 0o100, 0o101, 0o20_200_002, 0o20_000_100, 0o2_000_000];
    const modes = [0, 0o644, 0o1777, 0o2644, 0o4755, 0o6755, 0xdead_beef];
    for (const flag of flags)
      for (const mode of modes) {
        const expected = flag & 0o20_000_100 && mode & 0o6000 ? EPERM : ALLOW;
        expect([flag, mode, outcomes("open", [0, flag, mode])]).toEqual([flag, mode, expected]);
        expect([flag, mode, outcomes("openat", [0, 0, flag, mode])]).toEqual([flag, mode, expected]);
      }
  });

  it("FS-46 lets mknod make files, FIFOs and sockets without such bits, and nothing else", () => {
    const modes = Array.from({ length: 0o20 * 8 }, (_, n) => Math.floor(n / 8) * 0o10_000 + (n % 8) * 0o1000 + 0o644);
    const allowed = [0, 0o10_000, 0o100_000, 0o140_000].flatMap((type) => [type + 0o644, type + 0o1644]);
    expect(modes.filter((mode) => outcomes("mknod", [0, mode]).join() === "allow")).toEqual(allowed);
    expect(modes.filter((mode) => outcomes("mknodat", [0, 0, mode]).join() === "allow")).toEqual(allowed);
    expect(modes.filter((mode) => outcomes("mknod", [0, mode]).length !== 1)).toEqual([]);
  });

  it.each(["socket", "socketpair"])("P-16 lets %s speak to this machine by four families", (call) => {
    const families = Array.from({ length: 64 }, (_, family) => family);
    expect(families.filter((family) => outcomes(call, [family, 1, 0]).join() === "allow")).toEqual([1, 2, 10, 16]);
    expect([...families, 2 ** 32 + 1].filter((family) => outcomes(call, [family, 1, 1]).length !== 1)).toEqual([]);
    expect(outcomes(call, [16, 3, 4])).toEqual(EPERM);
  });

  it("refuses personalities that weaken the address space", () => {
    const allowed = [0, 0x8, 0x2_0000, 0x2_0008, 0xffff_ffff];
    const refused = [0x4_0000, 0x40_0000, 0x10_0000, 0x20_0000, 0x80_0000, 0x800_0000, 0x4_0008];
    expect(allowed.map((value) => outcomes("personality", [value]))).toEqual(allowed.map(() => ALLOW));
    expect(refused.map((value) => outcomes("personality", [value]))).toEqual(refused.map(() => EPERM));
    expect(outcomes("personality", [0x6])).toEqual([]);
  });

  it("lets debuggers trace where a policy says so, and opens nothing else", () => {
    const changed = (({ syscalls: traced }) =>
      syscalls.flatMap(({ names }, index) => {
        const other = new Set(traced[index]?.names);
        return names.filter((name) => !other.has(name));
      }))(seccompProfile({ ptrace: true }));
    expect(changed.toSorted()).toEqual(["process_vm_readv", "process_vm_writev", "ptrace"]);
  });

  it("goes to Docker as text, and to Podman as the path of a file with it", async () => {
    const cache = await mkdtemp(join(tmpdir(), "glovebox-seccomp-"));
    const path = await seccompOption({ isPodman: true }, NO_TRACING, cache);
    expect(await seccompOption({ isPodman: false }, NO_TRACING, cache)).toBe(JSON_TEXT);
    expect(await readFile(path, "utf8")).toBe(JSON_TEXT);
    await rm(cache, { recursive: true });
  });
});
