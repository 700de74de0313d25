import { type Comparison, equals, masked } from "./compare.ts";

/** PER_LINUX, PER_LINUX32, both with UNAME26, of `linux/personality.h`: what `uname` says, and nothing else. */
const HARMLESS = [0, 0x0000_0008, 0x0002_0000, 0x0002_0008];
/** Asks without changing. */
const QUERY = 0xffff_ffff;
/** Set in QUERY; means nothing else. */
const TOP = 0x8000_0000;
/**
 * What weakens the address space: ADDR_NO_RANDOMIZE, MMAP_PAGE_ZERO, ADDR_COMPAT_LAYOUT, READ_IMPLIES_EXEC,
 * ADDR_LIMIT_32BIT, ADDR_LIMIT_3GB.
 */
const WEAKENING = [0x0004_0000, 0x0010_0000, 0x0020_0000, 0x0040_0000, 0x0080_0000, 0x0800_0000];

/** Any other value is left to the default, which refuses too: to name each bit would cost every start 8 ms. */
export const PERSONALITY: { allow: Comparison[][]; refuse: Comparison[][] } = {
  allow: [...HARMLESS, QUERY].map((value) => [equals(0, value)]),
  refuse: WEAKENING.map((bit) => [masked(0, TOP + bit, bit)]),
};
