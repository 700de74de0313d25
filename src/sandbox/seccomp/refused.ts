import type { CallGroup } from "./verdict.ts";

/** What debuggers need of it: gdb traces, strace also reads. */
export const TRACING: readonly string[] = ["ptrace", "process_vm_readv", "process_vm_writev"];

/** Refused with `EPERM`, as the kernel itself refuses what a capability is missing for (capabilities(7)). */
export const REFUSED: readonly CallGroup[] = [
  {
    why: "mounts and roots",
    calls: `mount umount umount2 pivot_root chroot move_mount open_tree fsopen fsconfig fsmount fspick mount_setattr
      swapon swapoff quotactl quotactl_fd nfsservctl`,
  },
  { why: "namespaces: a user namespace gives every capability inside it", calls: "unshare setns" },
  {
    why: "other processes' memory, files and execution",
    calls: `ptrace process_vm_readv process_vm_writev process_madvise process_mrelease pidfd_getfd kcmp`,
  },
  {
    why: "large parts of the kernel that run on input of the caller's",
    calls: "bpf perf_event_open userfaultfd lookup_dcookie",
  },
  { why: "keys, which no namespace divides", calls: "add_key request_key keyctl" },
  {
    why: "another kernel, or code in this one",
    calls: `kexec_load kexec_file_load init_module finit_module delete_module create_module query_module
      get_kernel_syms`,
  },
  {
    why: "files by handle, and events of whole file systems",
    calls: `name_to_handle_at open_by_handle_at fanotify_init
      fanotify_mark`,
  },
  {
    why: "the machine's clock, name, log, terminals and life",
    calls: `settimeofday stime clock_settime clock_settime64 adjtimex clock_adjtime clock_adjtime64 sethostname
      setdomainname syslog vhangup acct reboot`,
  },
  { why: "the processor's ports and old modes", calls: "iopl ioperm modify_ldt vm86 vm86old" },
  {
    why: "memory of a machine with several nodes",
    calls: "mbind get_mempolicy set_mempolicy set_mempolicy_home_node migrate_pages move_pages",
  },
];

/**
 * Refused with `EACCES` (socket(2)). libseccomp makes a rule for `socketcall` of each rule for `socket`, `connect` and
 * so on, without their arguments, and every family would be allowed. A rule without conditions wins over those, unless
 * its outcome is the default's, for then it is dropped: so it is neither `EPERM` nor `ENOSYS`, which engines take.
 */
export const REFUSED_MULTIPLEXER: readonly CallGroup[] = [
  { why: "all of sockets in one call, on 32-bit x86: its arguments are behind a pointer", calls: "socketcall" },
];
