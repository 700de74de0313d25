import { bitsOf, type Comparison, equals, masked } from "./compare.ts";

/** PER_LINUX32 and UNAME26 of `linux/personality.h`: what `uname` says, and nothing else. */
const HARMLESS = 0x0000_0008 + 0x0002_0000;
/** Asks without changing. */
const QUERY = 0xffff_ffff;
/** Set in QUERY; of the bits that mean something it is none. */
const TOP = 0x8000_0000;

/**
 * Allowed are the harmless ones and the question. Refused is every other bit, most of which weaken the address space
 * (ADDR_NO_RANDOMIZE, READ_IMPLIES_EXEC). A value with the top bit that is not the question means nothing to the
 * kernel, and is left to the default, which refuses too.
 */
export const PERSONALITY: { allow: Comparison[][]; refuse: Comparison[][] } = {
  allow: [...[0, 0x0000_0008, 0x0002_0000, HARMLESS, QUERY].map((value) => [equals(0, value)])],
  refuse: bitsOf(TOP - 1 - HARMLESS).map((bit) => [masked(0, TOP + bit, bit)]),
};
