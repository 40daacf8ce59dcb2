// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A disk that from some moment on has room for the name of a new trace file and none for its first
// bytes, and still takes what is added to those that are there: writes of exactly as many bytes as
// begin a trace file fail in every thread. Allocates 1, 2, 3 ... COUNT bytes. Half way it says so
// and waits for a line on stdin; then the disk is full.
//   no_new_files COUNT

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/raw_call.h"

enum { kFirstBytes = 56 };

static int RefuseFirstBytes(void) {
  struct sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kFirstBytes, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
  return RawCall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0) == 0 &&
         RawCall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, (long)&program) ==
             0;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const size_t count = (size_t)atol(argv[1]);
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  usleep(100000);
  for (size_t made = 1; made <= count; ++made) {
    void* volatile block = malloc(made);
    free(block);
    if (made != count / 2) continue;
    puts("half");
    fflush(stdout);
    if (getchar() != '\n') return 1;
    if (!RefuseFirstBytes()) return 1;
  }
  printf("made %zu\n", count);
  return 0;
}
