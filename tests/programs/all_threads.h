// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Lists all threads of the process, the recorder's too: by system calls, which no hook looks into.

#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

// Fills `tids` with at most `most` numbers. Returns how many threads there are, or -1.
static inline int AllThreads(int* tids, int most) {
  struct Entry {
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
  };
  _Alignas(8) char buffer[4096];
  const int folder =
      (int)syscall(SYS_openat, AT_FDCWD, "/proc/self/task", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (folder < 0) return -1;
  int count = 0;
  for (long n; (n = syscall(SYS_getdents64, folder, buffer, sizeof(buffer))) > 0;) {
    for (long at = 0; at < n;) {
      const struct Entry* entry = (const struct Entry*)(buffer + at);
      at += entry->bytes;
      if (entry->name[0] == '.') continue;
      if (count < most) tids[count] = atoi(entry->name);
      ++count;
    }
  }
  syscall(SYS_close, folder);
  return count;
}
