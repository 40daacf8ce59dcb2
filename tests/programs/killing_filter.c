// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Shuts itself into a filter of system calls that kills for all that it does not need itself, as
// daemons do before they look at what comes from outside, and ends. 77 where there is none to be
// had.

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const int kNeeded[] = {
    SYS_read,   SYS_write,   SYS_exit_group,      SYS_exit,        SYS_futex,
    SYS_getpid, SYS_gettid,  SYS_clock_nanosleep, SYS_brk,         SYS_mmap,
    SYS_munmap, SYS_madvise, SYS_rt_sigprocmask,  SYS_rt_sigreturn};
enum { kCount = sizeof(kNeeded) / sizeof(kNeeded[0]) };

int main(void) {
  struct sock_filter filter[2 * kCount + 2];
  int n = 0;
  filter[n++] =
      (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
  for (int i = 0; i < kCount; ++i) {
    filter[n++] =
        (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)kNeeded[i], 0, 1);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  }
  filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
  const struct sock_fprog program = {(unsigned short)n, filter};
  puts("a line");
  fflush(stdout);
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
    return 77;
  for (int i = 0; i < 1000; ++i) free(malloc((size_t)i));
  puts("and another");
  return 0;
}
