import type { CallGroup } from "./verdict.ts";

/** What programs do with processes and memory. `clone` and `personality` are in `conditions.ts`. */
export const ALLOWED_PROCESSES: readonly CallGroup[] = [
  {
    why: "start, end and wait for processes",
    calls: `fork vfork execve execveat exit exit_group wait4 waitid waitpid getpid getppid gettid getpgid getpgrp
      setpgid getsid setsid pidfd_open pidfd_send_signal`,
  },
  {
    why: "threads",
    calls: `set_tid_address set_robust_list get_robust_list futex futex_time64 futex_waitv rseq membarrier
      arch_prctl set_thread_area get_thread_area getcpu restart_syscall`,
  },
  {
    why: "signals",
    calls: `kill tkill tgkill rt_sigaction rt_sigprocmask rt_sigpending rt_sigqueueinfo rt_tgsigqueueinfo rt_sigreturn
      rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 sigaltstack sigaction signal sigpending sigprocmask
      sigreturn sigsuspend sgetmask ssetmask pause signalfd signalfd4`,
  },
  {
    why: "memory of the own process",
    calls: `brk mmap mmap2 munmap mremap mprotect madvise mincore mlock mlock2 mlockall munlock munlockall
      remap_file_pages pkey_alloc pkey_free pkey_mprotect`,
  },
  {
    why: "order among processes; raising it needs a capability",
    calls: `nice getpriority setpriority ioprio_get ioprio_set sched_yield sched_getaffinity sched_setaffinity
      sched_getattr sched_setattr sched_getparam sched_setparam sched_getscheduler sched_setscheduler
      sched_get_priority_max sched_get_priority_min sched_rr_get_interval sched_rr_get_interval_time64`,
  },
  {
    why: "own limits and use",
    calls: "getrlimit ugetrlimit setrlimit prlimit64 getrusage times",
  },
  {
    why: "own user, group and capabilities, of which there are none to gain",
    calls: `getuid getuid32 geteuid geteuid32 getgid getgid32 getegid getegid32 getresuid getresuid32 getresgid
      getresgid32 getgroups getgroups32 setuid setuid32 setgid setgid32 setreuid setreuid32 setregid setregid32
      setresuid setresuid32 setresgid setresgid32 setfsuid setfsuid32 setfsgid setfsgid32 setgroups setgroups32
      capget capset`,
  },
  {
    why: "close oneself in further: such rules can be added, never taken away",
    calls: "prctl seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self",
  },
];
