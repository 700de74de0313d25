import { block, type Comparison, differs, equals, exceeds, hasAny, lacks, masked } from "./compare.ts";
import { PERSONALITY } from "./personality.ts";

/** A call that is judged by its arguments: allowed where all comparisons of one list hold, refused likewise. */
export type ConditionalCall = { call: string; allow: Comparison[][]; refuse: Comparison[][] };

/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET of `linux/sched.h`. NEWTIME is `clone3`'s only. */
const NAMESPACES = 0x7e02_0000;
/** S_ISUID and S_ISGID of `linux/stat.h`: such a file in the workspace would be one on the host. */
const SET_ID = 0o6000;
/** O_CREAT and the kernel's own bit of O_TMPFILE, the same on x86 and arm64 (`asm-generic/fcntl.h`). */
const MAKES_FILE = 0o100 + 0o20_000_000;
/** S_IFMT of `linux/stat.h`, and what `mknod` may make: a file (also without a type), a FIFO, a socket. */
const TYPE = 0o170_000;
const MAKEABLE = [0, 0o100_000, 0o010_000, 0o140_000];
/** AF_UNIX, AF_INET, AF_INET6 of `linux/socket.h`. AF_VSOCK, for one, leads past network namespaces. */
const FAMILIES = [1, 2, 10];
const AF_NETLINK = 16;
/** The other families below AF_NETLINK in blocks: each rule costs a start 0.2 ms on engines that have to be told. */
const OTHER_FAMILIES = [
  block(0, 0, 1),
  block(0, 3, 1),
  block(0, 4, 4),
  block(0, 8, 2),
  block(0, 11, 1),
  block(0, 12, 4),
];
/** NETLINK_ROUTE of `linux/netlink.h`, with which programs list interfaces. */
const NETLINK_ROUTE = 0;

/** For each call every combination of arguments is in `allow` or in `refuse`, but for odd personalities. */
export const CONDITIONAL: readonly ConditionalCall[] = [
  { call: "clone", ...withoutBits(0, NAMESPACES) },
  { call: "chmod", ...withoutBits(1, SET_ID) },
  { call: "fchmod", ...withoutBits(1, SET_ID) },
  { call: "fchmodat", ...withoutBits(2, SET_ID) },
  { call: "creat", ...withoutBits(1, SET_ID) },
  { call: "open", ...opening({ flags: 1, mode: 2 }) },
  { call: "openat", ...opening({ flags: 2, mode: 3 }) },
  { call: "mknod", ...making({ mode: 1 }) },
  { call: "mknodat", ...making({ mode: 2 }) },
  { call: "socket", ...speaking() },
  { call: "socketpair", ...speaking() },
  { call: "personality", ...PERSONALITY },
];

type Outcome = Omit<ConditionalCall, "call">;

function withoutBits(index: number, bits: number): Outcome {
  return { allow: [[lacks(index, bits)]], refuse: hasAny(index, bits).map((bit) => [bit]) };
}

/** The mode counts only where a file is made; else its register holds anything. */
function opening({ flags, mode }: { flags: number; mode: number }): Outcome {
  return {
    allow: [[lacks(flags, MAKES_FILE)], [lacks(mode, SET_ID)]],
    refuse: hasAny(flags, MAKES_FILE).flatMap((flag) => hasAny(mode, SET_ID).map((bit) => [flag, bit])),
  };
}

/** Not even the device 0:0, a whiteout of overlay file systems, which the kernel lets everybody make. */
function making({ mode }: { mode: number }): Outcome {
  const types = Array.from({ length: 16 }, (_, type) => type * 0o010_000);
  const others = types.filter((type) => !MAKEABLE.includes(type)).map((type) => masked(mode, TYPE, type));
  return {
    allow: MAKEABLE.map((type) => [masked(mode, TYPE + SET_ID, type)]),
    refuse: [...hasAny(mode, SET_ID), ...others].map((comparison) => [comparison]),
  };
}

function speaking(): Outcome {
  const [family, protocol] = [0, 2];
  return {
    allow: [
      ...FAMILIES.map((number) => [equals(family, number)]),
      [equals(family, AF_NETLINK), equals(protocol, NETLINK_ROUTE)],
    ],
    refuse: [
      ...OTHER_FAMILIES.map((comparison) => [comparison]),
      [equals(family, AF_NETLINK), differs(protocol, NETLINK_ROUTE)],
      [exceeds(family, AF_NETLINK)],
    ],
  };
}
