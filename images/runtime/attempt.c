/* Makes the system calls that its arguments list, and prints what each argument came to: `ok`, the name of an
   error or of a signal. It stands for a hostile program, which the image may not have.

   An argument is one or more calls, with `;` between them, made by a process of its own until one fails. A call is an
   ABI (`own`, `i386`, `x32`), a name or a number, and up to six values: a number, `=text` and `%hex` for the address of
   text and bytes, `$1` for what the argument's first call gave. A call that the ABI has not is `absent`. After
   `--from-memory` a copy of this program that is in memory only makes the calls. Not position independent, so that
   addresses fit 32 bits. */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct call {
  const char *name;
  long number;
};
static const struct call OWN[] = {
#include "calls-own.h"
    {0, 0}};
static const struct call I386[] = {
#include "calls-i386.h"
    {0, 0}};

enum { MOST_CALLS = 8, MOST_VALUES = 6 };
#define X32_BIT 0x40000000L

/* Here and not on the stack, which is beyond 32 bits. */
static char text[8192];
static char bytes[4096];
static size_t bytes_used;

static long i386(long number, const long *a) {
#ifdef __x86_64__
  long result;
  /* Below the red zone, where the compiler may keep variables. */
  __asm__ volatile("sub $128, %%rsp\n\tpush %%rbp\n\tmov %7, %%ebp\n\tint $0x80\n\tpop %%rbp\n\tadd $128, %%rsp"
                   : "=a"(result)
                   : "0"(number), "b"(a[0]), "c"(a[1]), "d"(a[2]), "S"(a[3]), "D"(a[4]), "r"((int)a[5])
                   : "memory", "r8", "r9", "r10", "r11");
  return (int)result;
#else
  (void)number, (void)a;
  return -ENOSYS;
#endif
}

static long own(long number, const long *a) {
  long result = syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
  return result < 0 ? -errno : result;
}

static long number_of(const char *abi, const char *name) {
  if (*name >= '0' && *name <= '9') return strtol(name, NULL, 0);
  for (const struct call *call = strcmp(abi, "i386") ? OWN : I386; call->name; call++)
    if (!strcmp(call->name, name)) return call->number;
  puts("absent");
  exit(0);
}

static long value_of(char *word, const long *results) {
  if (*word == '=') return (long)(word + 1);
  if (*word == '$') return results[(word[1] - '1') & (MOST_CALLS - 1)];
  if (*word != '%') return (long)strtoul(word, NULL, 0);
  char *start = bytes + bytes_used;
  unsigned byte;
  for (word++; sscanf(word, "%2x", &byte) == 1 && bytes_used < sizeof bytes; word += 2) bytes[bytes_used++] = (char)byte;
  return (long)start;
}

static long make(char *words, const long *results) {
  char *rest, *word;
  long a[MOST_VALUES] = {0};
  const char *abi = strtok_r(words, " ", &rest);
  const char *name = abi ? strtok_r(NULL, " ", &rest) : NULL;
  if (!name) return -EINVAL;
  long number = number_of(abi, name);
  for (int i = 0; i < MOST_VALUES && (word = strtok_r(NULL, " ", &rest)); i++) a[i] = value_of(word, results);
  if (!strcmp(abi, "i386")) return i386(number, a);
  return own(!strcmp(abi, "x32") ? number | X32_BIT : number, a);
}

static void make_all(const char *argument) {
  long results[MOST_CALLS] = {0}, result = 0;
  pid_t self = getpid();
  char *rest, *words = strtok_r(strncpy(text, argument, sizeof text - 1), ";", &rest);
  for (int i = 0; i < MOST_CALLS && words; i++, words = strtok_r(NULL, ";", &rest)) {
    result = results[i] = make(words, results);
    if (getpid() != self) _exit(0); /* The call made this process. */
    if (result < 0 && result > -4096) break;
  }
  puts(result < 0 && result > -4096 ? strerrorname_np(-(int)result) : "ok");
}

static void go_on_from_memory(char **arguments) {
  int from = open("/proc/self/exe", O_RDONLY), to = memfd_create("attempt", 0);
  while (sendfile(to, from, NULL, 1 << 20) > 0) continue;
  fexecve(to, arguments, (char *[]){NULL});
  puts(strerrorname_np(errno));
  exit(1);
}

int main(int count, char **arguments) {
  if (count > 1 && !strcmp(arguments[1], "--from-memory")) go_on_from_memory(arguments + 1);
  for (int i = 1; i < count; i++) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child < 0) return puts(strerrorname_np(errno)), 1;
    if (child == 0) {
      make_all(arguments[i]);
      exit(0);
    }
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) printf("SIG%s\n", sigabbrev_np(WTERMSIG(status)));
  }
  return 0;
}
