import type { CallGroup } from "./verdict.ts";

/** What programs do with files. Those that could set a mode's high bits or make a device are in `conditions.ts`. */
export const ALLOWED_FILES: readonly CallGroup[] = [
  {
    why: "read and write what is open",
    calls: `read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek _llseek close close_range
      dup dup2 dup3 fcntl fcntl64 flock ioctl sendfile sendfile64 splice tee vmsplice copy_file_range`,
  },
  {
    why: "sizes, blocks and what is on the disk",
    calls: `truncate truncate64 ftruncate ftruncate64 fallocate fadvise64 fadvise64_64 readahead fsync fdatasync sync
      syncfs sync_file_range msync`,
  },
  {
    why: "what a name is",
    calls: `stat stat64 fstat fstat64 lstat lstat64 newfstatat fstatat64 statx oldstat oldfstat oldlstat access
      faccessat faccessat2 statfs statfs64 fstatfs fstatfs64 readlink readlinkat`,
  },
  {
    why: "folders and names",
    calls: `getdents getdents64 readdir getcwd chdir fchdir mkdir mkdirat rmdir link linkat symlink symlinkat unlink
      unlinkat rename renameat renameat2 umask`,
  },
  {
    why: "owners, times and attributes; the kernel lets nobody without a capability give files away",
    calls: `chown chown32 fchown fchown32 lchown lchown32 fchownat utime utimes futimesat utimensat utimensat_time64
      getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr removexattr
      lremovexattr fremovexattr`,
  },
  {
    why: "wait for several files, and watch folders",
    calls: `select _newselect pselect6 pselect6_time64 poll ppoll ppoll_time64 epoll_create epoll_create1 epoll_ctl
      epoll_wait epoll_pwait epoll_pwait2 inotify_init inotify_init1 inotify_add_watch inotify_rm_watch`,
  },
  {
    why: "asynchronous reads and writes of databases",
    calls: "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents io_pgetevents_time64",
  },
  {
    why: "files that are no paths: what they hold counts as memory, and /tmp runs programs too",
    calls: "memfd_create eventfd eventfd2 pipe pipe2",
  },
];
