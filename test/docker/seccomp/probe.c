/* Makes the system calls that stdin lists and prints what each gave. A line is `abi number argument...`; an argument
   that begins with `=` is text, of which the address is passed. Each call is made by a process of its own, which ends
   with it. Built without -pie, so that the addresses fit the 32-bit convention too. */
#define _GNU_SOURCE

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define X32_BIT 0x40000000L

static char line[4096];

static long i386(long number, const long *a) {
  long result;
  /* Below the red zone, where the compiler may keep variables. */
  __asm__ volatile("sub $128, %%rsp\n\tpush %%rbp\n\tmov %7, %%ebp\n\tint $0x80\n\tpop %%rbp\n\tadd $128, %%rsp"
                   : "=a"(result)
                   : "0"(number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4]), "r"((int)a[5])
                   : "memory", "r8", "r9", "r10", "r11");
  return (int)result;
}

static long x64(long number, const long *a) {
  long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  return result < 0 ? -errno : result;
}

static void probe(char *text) {
  long a[6] = {0};
  char *abi = strtok(text, " \n");
  long number = strtol(strtok(NULL, " \n"), NULL, 0);
  char *word;
  for (int i = 0; i < 6 && (word = strtok(NULL, " \n")); i++)
    a[i] = *word == '=' ? (long)(word + 1) : (long)strtoul(word, NULL, 0);
  pid_t self = getpid();
  long result = !strcmp(abi, "i386") ? i386(number, a) : x64(!strcmp(abi, "x32") ? number | X32_BIT : number, a);
  if (getpid() != self) _exit(0);
  printf("%s\n", result < 0 && result > -4096 ? strerrorname_np(-result) : "ok");
  fflush(stdout);
  _exit(0);
}

int main(void) {
  setvbuf(stdin, NULL, _IONBF, 0);
  while (fgets(line, sizeof line, stdin)) {
    int status;
    pid_t child = fork();
    if (child == 0) probe(line);
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) printf("signal %d\n", WTERMSIG(status));
    fflush(stdout);
  }
  return 0;
}
