// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Shuts itself into a filter of system calls that kills for all that it does not need itself, as
// daemons do before they look at what comes from outside, and ends. 77 where there is none to be
// had. killing_filter [prctl|syscall|forked|threads [MILLISECONDS]]: by which call; in a forked
// child; or with a filter that ends only the thread that makes the call.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const int kNeeded[] = {
    SYS_read,   SYS_write,   SYS_exit_group,      SYS_exit,        SYS_futex,
    SYS_getpid, SYS_gettid,  SYS_clock_nanosleep, SYS_brk,         SYS_mmap,
    SYS_munmap, SYS_madvise, SYS_rt_sigprocmask,  SYS_rt_sigreturn};
enum { kCount = sizeof(kNeeded) / sizeof(kNeeded[0]) };

// Some milliseconds of work, in which a recording has long begun.
static void Work(int milliseconds) {
  for (int i = 0; i < milliseconds; ++i) {
    for (int j = 0; j < 100; ++j) free(malloc((size_t)j));
    usleep(1000);
  }
}

// 0: shut in.
static int ShutIn(int by_syscall, unsigned action) {
  struct sock_filter filter[2 * kCount + 2];
  int n = 0;
  filter[n++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < kCount; ++i) {
    filter[n++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)kNeeded[i], 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, action);
  const struct sock_fprog program = {(unsigned short)n, filter};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return by_syscall ? (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
                    : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static int InTheFilter(const char* way, int milliseconds) {
  Work(milliseconds);
  const unsigned action =
      strcmp(way, "threads") == 0 ? SECCOMP_RET_KILL_THREAD : SECCOMP_RET_KILL_PROCESS;
  if (ShutIn(strcmp(way, "syscall") == 0, action) != 0) return 77;
  for (int i = 0; i < 1000; ++i) free(malloc((size_t)i));
  puts("and another");
  fflush(stdout);
  return 0;
}

int main(int argc, char** argv) {
  const char* way = argc > 1 ? argv[1] : "prctl";
  const int milliseconds = argc > 2 ? atoi(argv[2]) : 0;
  puts("a line");
  fflush(stdout);
  if (strcmp(way, "forked") != 0) return InTheFilter(way, milliseconds);
  const pid_t child = fork();
  if (child == 0) return InTheFilter(way, milliseconds);
  int status = 0;
  waitpid(child, &status, 0);
  printf("the child ended with %d\n", status);
  return 0;
}
