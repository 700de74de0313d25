/** What becomes of a system call: carried out, refused (`EPERM`, `EACCES`), or said not to exist (`ENOSYS`). */
export type Verdict = "allow" | "EPERM" | "EACCES" | "ENOSYS";

/** System calls that share a verdict for one reason. */
export type CallGroup = {
  /** What programs use them for, or what they would open. */
  why: string;
  /** Names as in the kernel's `unistd.h` of any architecture, separated by white space. */
  calls: string;
};
