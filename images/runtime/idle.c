/* Keeps a container up and does nothing; ends on SIGTERM also when it is process 1, where the default is to ignore it. */
#include <signal.h>
#include <unistd.h>

static void end(int signal) { _exit(128 + signal); }

int main(void) {
  signal(SIGTERM, end);
  signal(SIGINT, end);
  signal(SIGCHLD, SIG_IGN);
  for (;;) pause();
}
