import type { Comparison } from "./compare.ts";
import { CONDITIONAL } from "./conditions.ts";
import { TRACING } from "./refused.ts";
import { NAMES } from "./table.ts";
import type { Verdict } from "./verdict.ts";

/** A rule as the engine reads it. `errnoRet` is said in each: engines differ in what they take for it. */
export type ProfileRule = {
  names: readonly string[];
  action: "SCMP_ACT_ALLOW" | "SCMP_ACT_ERRNO";
  errnoRet?: number;
  args?: readonly Comparison[];
};

/** Docker's own format of a profile (its documentation, "Seccomp security profiles"). */
export type SeccompProfile = {
  defaultAction: "SCMP_ACT_ERRNO";
  defaultErrnoRet: number;
  archMap: { architecture: string; subArchitectures: string[] }[];
  syscalls: ProfileRule[];
};

/** Of `asm-generic/errno-base.h` and `asm-generic/errno.h`, the same on x86 and arm64. */
const ERRNO = { EPERM: 1, EACCES: 13, ENOSYS: 38 } as const;

/** What of the profile a policy decides. */
export type SeccompChoice = {
  /** Debuggers: a program may trace its own processes. The tool host cannot be traced whatever is said here. */
  ptrace: boolean;
};

/** What a container's processes may ask of the kernel. Pure. */
export function seccompProfile({ ptrace }: SeccompChoice): SeccompProfile {
  const refused = ptrace ? NAMES.EPERM.filter((name) => !TRACING.includes(name)) : NAMES.EPERM;
  return {
    defaultAction: "SCMP_ACT_ERRNO",
    // Engine 20.10 does not know it and takes EPERM, but for calls above the highest one named, which get ENOSYS.
    defaultErrnoRet: ERRNO.ENOSYS,
    // A call by another convention ends its thread: so does each of x32, which nothing in common use is built for, and
    // whose table would make every start and exec 5 ms slower (measured with runc 1.1).
    archMap: [
      { architecture: "SCMP_ARCH_X86_64", subArchitectures: ["SCMP_ARCH_X86"] },
      { architecture: "SCMP_ARCH_AARCH64", subArchitectures: [] },
    ],
    syscalls: [
      rule("allow", ptrace ? [...NAMES.allow, ...TRACING] : NAMES.allow),
      rule("EPERM", refused),
      rule("EACCES", NAMES.EACCES),
      rule("ENOSYS", NAMES.ENOSYS),
      ...CONDITIONAL.flatMap(({ call, allow, refuse }) => [
        ...allow.map((args) => rule("allow", [call], args)),
        ...refuse.map((args) => rule("EPERM", [call], args)),
      ]),
    ],
  };
}

/** The profile as text; some 20 kB. */
export function seccompJson(choice: SeccompChoice): string {
  return JSON.stringify(seccompProfile(choice));
}

function rule(verdict: Verdict, names: readonly string[], args?: readonly Comparison[]): ProfileRule {
  const action =
    verdict === "allow"
      ? { action: "SCMP_ACT_ALLOW" as const }
      : { action: "SCMP_ACT_ERRNO" as const, errnoRet: ERRNO[verdict] };
  return { names, ...action, ...(args && { args }) };
}
