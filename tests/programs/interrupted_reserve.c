// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A forked child in which fallocate(2) of more than 64 KiB is interrupted each time, as on tmpfs of
// older kernels where a timer's signals come too fast for it. It makes COUNT allocations of 7007
// bytes and kills itself.

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/programs/raw_call.h"

static void* volatile g_kept;

static int InterruptFallocate(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fallocate, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3])),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, 65536, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINTR),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
  return RawCall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) == 0 &&
         RawCall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, (long)&program) == 0;
}

static void Child(long count) {
  if (!InterruptFallocate()) _exit(1);
  for (long i = 0; i < count; ++i) g_kept = malloc(7007);
  kill(getpid(), SIGKILL);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const pid_t child = fork();
  if (child < 0) return 1;
  if (child == 0) Child(atol(argv[1]));
  int status = 0;
  if (waitpid(child, &status, 0) != child || !WIFSIGNALED(status)) return 1;
  printf("killed by %d\n", WTERMSIG(status));
  return 0;
}
