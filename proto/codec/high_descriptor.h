// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Descriptors of ours in a foreign process. Any thread.

#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace gpuprof::codec {

// Not the library's fstat: its symbol is younger than the oldest system we load on.
inline bool Stat(int fd, struct stat* status) { return syscall(SYS_fstat, fd, status) == 0; }

// Programs close or count on low descriptors: ours goes high, but not beyond the table that every
// process begins with. To make it larger the kernel lets the caller wait for all processors where
// threads share it, and others that open something wait along.
inline int MoveHigh(int fd) {
  constexpr int kHighDescriptors[] = {60, 40, 20};
  for (const int lowest : kHighDescriptors) {
    const int high = fcntl(fd, F_DUPFD_CLOEXEC, lowest);
    if (high < 0) continue;
    close(fd);
    return high;
  }
  return fd;
}

}  // namespace gpuprof::codec
