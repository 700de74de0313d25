/**
 * A condition on one argument (counted from 0) as engines take it: `SCMP_CMP_MASKED_EQ` is `argument & value ==
 * valueTwo` (seccomp_rule_add(3)). The conditions of one rule must all hold, and an argument may be in it once.
 */
export type Comparison = {
  index: number;
  value: number;
  valueTwo: number;
  op: "SCMP_CMP_EQ" | "SCMP_CMP_NE" | "SCMP_CMP_GT" | "SCMP_CMP_MASKED_EQ";
};

export function equals(index: number, value: number): Comparison {
  return { index, value, valueTwo: 0, op: "SCMP_CMP_EQ" };
}

export function differs(index: number, value: number): Comparison {
  return { index, value, valueTwo: 0, op: "SCMP_CMP_NE" };
}

export function exceeds(index: number, value: number): Comparison {
  return { index, value, valueTwo: 0, op: "SCMP_CMP_GT" };
}

export function masked(index: number, mask: number, value: number): Comparison {
  return { index, value: mask, valueTwo: value, op: "SCMP_CMP_MASKED_EQ" };
}

/** One of `size` numbers from `first` on; a power of two, and `first` a multiple of it. */
export function block(index: number, first: number, size: number): Comparison {
  return masked(index, 0xffff_ffff - (size - 1), first);
}

/** None of the bits is set. */
export function lacks(index: number, bits: number): Comparison {
  return masked(index, bits, 0);
}

/** One comparison for each bit of `bits`, of which at least one holds where any bit is set. */
export function hasAny(index: number, bits: number): Comparison[] {
  return bitsOf(bits).map((bit) => masked(index, bit, bit));
}

/** The single bits of a number of up to 32 bits, lowest first. */
function bitsOf(bits: number): number[] {
  return Array.from({ length: 32 }, (_, at) => 2 ** at).filter((bit) => Math.floor(bits / bit) % 2 === 1);
}
