/* Runs a program on a terminal of its own: what comes on stdin is typed there, what it prints goes to stdout. Ends with
   the program's exit code, 128 + n after signal n. When stdin ends the terminal hangs up, as when its window is closed.
   Arguments: the program and its arguments. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CANNOT = 125, ROWS = 40, COLUMNS = 120, DRAIN_MS = 50, DRAIN_ROUNDS = 64 };

static char input[4096];
static char output[65536];
static size_t pending;

static int cannot(const char *what) {
  perror(what);
  return CANNOT;
}

static void noticed(int signal) { (void)signal; }

static int openTerminal(int *terminal) {
  struct winsize size = {.ws_row = ROWS, .ws_col = COLUMNS};
  int keyboard = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (keyboard < 0 || grantpt(keyboard) != 0 || unlockpt(keyboard) != 0) return -1;
  *terminal = open(ptsname(keyboard), O_RDWR | O_NOCTTY);
  if (*terminal < 0 || ioctl(*terminal, TIOCSWINSZ, &size) != 0) return -1;
  return fcntl(keyboard, F_SETFL, O_NONBLOCK) == 0 ? keyboard : -1;
}

static int begin(int terminal, char **words) {
  if (setsid() < 0 || ioctl(terminal, TIOCSCTTY, 0) != 0) return cannot("the terminal cannot be taken");
  for (int descriptor = 0; descriptor < 3; descriptor++) dup2(terminal, descriptor);
  if (terminal > 2) close(terminal);
  execv(words[0], words);
  return cannot(words[0]);
}

/* 1: something was printed, 0: nothing now, -1: nobody can print any more. */
static int show(int keyboard) {
  ssize_t size = read(keyboard, output, sizeof output);
  if (size < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  for (ssize_t at = 0; at < size;) {
    ssize_t written = write(STDOUT_FILENO, output + at, size - at);
    if (written < 0 && errno != EINTR) return -1;
    if (written > 0) at += written;
  }
  return size > 0 ? 1 : -1;
}

/* 0 when stdin has ended. */
static int typeIn(int keyboard, short ready) {
  if (pending == 0) {
    if (!(ready & (POLLIN | POLLHUP | POLLERR))) return 1;
    ssize_t size = read(STDIN_FILENO, input, sizeof input);
    if (size < 0) return errno == EINTR || errno == EAGAIN;
    if (size == 0) return 0;
    pending = size;
  }
  ssize_t typed = write(keyboard, input, pending);
  if (typed <= 0) return 1;
  pending -= typed;
  for (size_t at = 0; at < pending; at++) input[at] = input[at + typed];
  return 1;
}

/* What was printed last is on its way for a moment; who goes on printing is not waited for. */
static void drain(int keyboard) {
  struct pollfd watched = {.fd = keyboard, .events = POLLIN};
  for (int round = 0; round < DRAIN_ROUNDS; round++) {
    if (poll(&watched, 1, DRAIN_MS) <= 0 || show(keyboard) < 0) return;
  }
}

static int codeOf(int status) {
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int relay(int keyboard, pid_t program, const sigset_t *awake) {
  int shows = 1;
  for (int status;;) {
    if (waitpid(program, &status, WNOHANG) == program) {
      if (shows) drain(keyboard);
      return codeOf(status);
    }
    struct pollfd watched[] = {
        {.fd = shows ? keyboard : -1, .events = POLLIN | (pending > 0 ? POLLOUT : 0)},
        {.fd = pending > 0 ? -1 : STDIN_FILENO, .events = POLLIN},
    };
    if (ppoll(watched, 2, NULL, awake) < 0) {
      if (errno == EINTR) continue;
      return cannot("poll");
    }
    if (shows && (watched[0].revents & (POLLIN | POLLHUP | POLLERR)) && show(keyboard) < 0) shows = 0;
    if (!typeIn(keyboard, watched[1].revents)) return 128 + SIGHUP;
  }
}

int main(int count, char **words) {
  int terminal;
  sigset_t awake, asleep;
  if (count < 2) return CANNOT;
  int keyboard = openTerminal(&terminal);
  if (keyboard < 0) return cannot("no terminal can be made");
  sigemptyset(&asleep);
  sigaddset(&asleep, SIGCHLD);
  sigprocmask(SIG_BLOCK, &asleep, &awake);
  signal(SIGCHLD, noticed);
  pid_t program = fork();
  if (program < 0) return cannot("no process can be started");
  if (program == 0) {
    sigprocmask(SIG_SETMASK, &awake, NULL);
    signal(SIGCHLD, SIG_DFL);
    _exit(begin(terminal, words + 1));
  }
  /* Asked to end, the program may still say something; what it leaves undone is ended by force. */
  signal(SIGTERM, SIG_IGN);
  close(terminal);
  return relay(keyboard, program, &awake);
}
