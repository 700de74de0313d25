/* Tries to open each path it is given and prints those it could, and whether it could open its own memory. It stands for
   a hostile command in the self-test: an image's own programs could lie. Nothing is read and nothing waits. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int opens(const char *path, int flags) {
  int descriptor = open(path, flags | O_NONBLOCK | O_CLOEXEC);
  if (descriptor >= 0) close(descriptor);
  return descriptor >= 0;
}

int main(int count, char **paths) {
  if (opens("/proc/self/mem", O_RDONLY)) puts("self");
  for (int index = 1; index < count; index++) {
    if (opens(paths[index], O_RDONLY) || opens(paths[index], O_WRONLY)) puts(paths[index]);
  }
  return 0;
}
