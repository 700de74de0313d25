/** What tests set otherwise. Times in milliseconds. */
export type CarryOptions = {
  /** How long a program may say nothing before the first byte of a connection that is looked at. */
  firstBytesMs: number;
  /** How long a hello, a banner or the head of a request may take from its first byte on. */
  headMs: number;
  /** How long what has been answered may still read the answer. */
  lingerMs: number;
  /** Certificates (PEM) that upstream servers may be signed by, beside those that Node trusts. */
  authorities: readonly string[];
};

/**
 * 10 s: a program that has said nothing by then waits for the server. 30 s: what browsers and servers wait for a handshake
 * or a head; see Apache's `RequestReadTimeout`.
 */
export const CARRY_OPTIONS: CarryOptions = {
  firstBytesMs: 10_000,
  headMs: 30_000,
  lingerMs: 1000,
  authorities: [],
};
