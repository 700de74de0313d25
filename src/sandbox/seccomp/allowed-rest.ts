import type { CallGroup } from "./verdict.ts";

/** Time, network, messages between processes, facts. `socket` and `socketpair` are in `conditions.ts`. */
export const ALLOWED_REST: readonly CallGroup[] = [
  {
    why: "read clocks, sleep, timers",
    calls: `time gettimeofday clock_gettime clock_gettime64 clock_getres clock_getres_time64 clock_nanosleep
      clock_nanosleep_time64 nanosleep alarm getitimer setitimer timer_create timer_delete timer_getoverrun
      timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create timerfd_gettime timerfd_gettime64
      timerfd_settime timerfd_settime64`,
  },
  {
    why: "use a socket that could be made",
    calls: `bind listen accept accept4 connect shutdown getsockname getpeername getsockopt setsockopt sendto sendmsg
      sendmmsg recvfrom recvmsg recvmmsg recvmmsg_time64`,
  },
  {
    why: "System V and POSIX messages, semaphores and shared memory, in a namespace of the container's own",
    calls: `ipc msgget msgsnd msgrcv msgctl semget semop semtimedop semtimedop_time64 semctl shmget shmat shmdt shmctl
      mq_open mq_unlink mq_timedsend mq_timedsend_time64 mq_timedreceive mq_timedreceive_time64 mq_notify
      mq_getsetattr`,
  },
  {
    why: "facts and random numbers",
    calls: "uname olduname oldolduname sysinfo getrandom",
  },
];
