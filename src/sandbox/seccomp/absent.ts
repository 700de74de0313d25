import type { CallGroup } from "./verdict.ts";

/** Answered with `ENOSYS`, upon which callers take the older way. */
export const ABSENT: readonly CallGroup[] = [
  {
    why: "arguments behind a pointer, which no filter sees: the namespaces of `clone3`, the modes of `openat2`",
    calls: "clone3 openat2",
  },
  { why: "sets modes, and is newer than most engines' tables", calls: "fchmodat2" },
  {
    why: "runs other calls past the filter",
    calls: "io_uring_setup io_uring_enter io_uring_register",
  },
  {
    why: "too new to be needed",
    calls: "memfd_secret cachestat map_shadow_stack futex_wake futex_wait futex_requeue",
  },
  {
    why: "what kernels no longer have or never had (syscalls(2), unimplemented(2))",
    calls: `_sysctl sysfs ustat uselib bdflush afs_syscall break ftime getpmsg putpmsg gtty stty idle lock mpx prof
      profil security tuxcall ulimit vserver epoll_ctl_old epoll_wait_old`,
  },
];
