// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See descriptors.h. Kernels before 5.9 and some filters of system calls have no close_range. There
// the kernel's list of what is open is gone through, for the limit on numbers may be a thousand
// million; where no /proc is mounted, the numbers that programs use.

#include "launcher/base/descriptors.h"

#include <dirent.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace gpuprof::launcher {
namespace {

constexpr long kCloseRange = 436;  // of x86-64 and arm64 alike; younger than some headers
constexpr long kMostNumbers = 65'536;

// As getdents64 has it.
struct Entry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[1];
};

// -1: "." and "..".
int NumberOf(const char* name) {
  int number = 0;
  for (; *name >= '0' && *name <= '9'; ++name) number = number * 10 + (*name - '0');
  return *name == 0 ? number : -1;
}

// The kernel goes through the numbers in their order, so that what was closed moves nothing.
bool CloseListed(int first) {
  const int folder = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(Entry) char buffer[4096];
  long got;
  while ((got = syscall(SYS_getdents64, folder, buffer, sizeof buffer)) > 0) {
    for (long at = 0; at < got;) {
      uint16_t bytes;
      memcpy(&bytes, buffer + at + offsetof(Entry, bytes), sizeof bytes);
      const int number = NumberOf(buffer + at + offsetof(Entry, name));
      if (number >= first && number != folder) close(number);
      at += bytes;
    }
  }
  close(folder);  // its number was free
  return got == 0;
}

}  // namespace

void CloseFrom(int first) {
  if (syscall(kCloseRange, first, ~0u, 0) == 0 || CloseListed(first)) return;
  const long limit = sysconf(_SC_OPEN_MAX);
  const long end = limit < 0 ? kMostNumbers : std::min(limit, kMostNumbers);
  for (int fd = first; fd < end; ++fd) close(fd);
}

}  // namespace gpuprof::launcher
