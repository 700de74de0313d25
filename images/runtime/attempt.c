/* Makes the system calls that its arguments list, and prints what each argument came to: `ok`, the name of an
   error or of a signal. It stands for a hostile program, which the image may not have.

   An argument is one or more calls, with `;` between them, made by a process of its own until one fails. A call is an
   ABI (`own`, `i386`, `x32`), a name or a number, and up to six values: a number, `=text` and `%hex` for the address of
   text and bytes, `$1` for what the argument's first call gave. A call that the ABI has not is `absent`. The ABI `net`
   has what takes several calls: `name TYPE NAME` asks the container's name server and gives an IPv4 address as a number,
   `connect ADDRESS PORT` a connection to one, `hear FD` how many bytes have come on it. After
   `--from-memory` a copy of this program that is in memory only makes the calls. Not position independent, so that
   addresses fit 32 bits. */
#define _GNU_SOURCE

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
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

static int open_to(int type, uint32_t address, int port) {
  struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(address)};
  struct timeval patience = {.tv_sec = 5};
  int fd = socket(AF_INET, type, 0);
  if (fd < 0) return -errno;
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  return connect(fd, (struct sockaddr *)&to, sizeof to) < 0 ? -errno : fd;
}

static long hear(int fd, void *buffer, size_t size) {
  ssize_t count = recv(fd, buffer, size, 0);
  if (count > 0) return count;
  return count == 0 ? -ENODATA : errno == EAGAIN ? -ETIMEDOUT : -errno;
}

/* RFC 1035, 4.1. A label is written as long as it is, also where none may be. */
static size_t question_for(unsigned char *to, int type, const char *name) {
  static const unsigned char head[12] = {0x67, 0x62, 1, 0, 0, 1};
  unsigned char *at = (unsigned char *)memcpy(to, head, sizeof head) + sizeof head;
  for (const char *label = name; *label;) {
    size_t length = strcspn(label, ".");
    *at++ = (unsigned char)length;
    memcpy(at, label, length);
    at += length;
    label += length + (label[length] == '.');
  }
  memcpy(at, (unsigned char[5]){0, 0, (unsigned char)type, 0, 1}, 5);
  return at + 5 - to;
}

/* The first address of an answer whose question takes `from` bytes with its head; owners of records are pointers. */
static long address_in(const unsigned char *answer, long size, long from) {
  int code = answer[3] & 15;
  if (code != 0) return code == 3 ? -ENOENT : -EBADMSG;
  for (const unsigned char *at = answer + from; at + 16 <= answer + size; at += 12 + at[10] * 256 + at[11])
    if (at[3] == 1) return (long)at[12] << 24 | at[13] << 16 | at[14] << 8 | at[15];
  return -ENODATA;
}

static long look_up(int type, const char *name) {
  static unsigned char message[4096];
  if (strlen(name) > 2048) return -E2BIG;
  size_t asked = question_for(message, type, name);
  int fd = open_to(SOCK_DGRAM, INADDR_LOOPBACK, 53);
  if (fd < 0) return fd;
  if (send(fd, message, asked, 0) < 0) return -errno;
  long size = hear(fd, message, sizeof message);
  close(fd);
  return size < 12 ? (size < 0 ? size : -EBADMSG) : address_in(message, size, (long)asked);
}

static long net(const char *name, const long *a) {
  static char heard[4096];
  if (!strcmp(name, "name")) return look_up((int)a[0], (const char *)a[1]);
  if (!strcmp(name, "connect")) return open_to(SOCK_STREAM, (uint32_t)a[0], (int)a[1]);
  return strcmp(name, "hear") ? -EINVAL : hear((int)a[0], heard, sizeof heard);
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
  int is_net = !strcmp(abi, "net");
  long number = is_net ? 0 : number_of(abi, name);
  for (int i = 0; i < MOST_VALUES && (word = strtok_r(NULL, " ", &rest)); i++) a[i] = value_of(word, results);
  if (is_net) return net(name, a);
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
