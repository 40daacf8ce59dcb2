// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/private_files.h"

#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdint.h>

#include "inject/raw_syscall.h"

namespace gpuprof::inject {
namespace {

constexpr long kCloseRange = 436;  // younger than the oldest headers we build with
constexpr long kUnshare = 2;

struct DirectoryEntry {
  uint64_t inode;
  int64_t offset;
  uint16_t bytes;
  uint8_t type;
  char name[];
};

long NumberOf(const char* name) {
  long number = 0;
  for (; *name >= '0' && *name <= '9'; ++name) number = number * 10 + (*name - '0');
  return *name == 0 ? number : -1;
}

// Kernels before 5.9. Entries that are closed while the folder is read may hide others: once more,
// until there is nothing left to close.
void CloseOneByOne() {
  for (bool closed = true; closed;) {
    closed = false;
    const long folder = raw::Call(SYS_openat, AT_FDCWD, raw::Arg("/proc/thread-self/fd"),
                                  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    alignas(DirectoryEntry) char buffer[2048];
    long n = 0;
    while ((n = raw::Call(SYS_getdents64, folder, raw::Arg(buffer), sizeof(buffer))) > 0) {
      for (long at = 0; at < n;) {
        const auto* entry = reinterpret_cast<const DirectoryEntry*>(buffer + at);
        at += entry->bytes;
        const long number = entry->name[0] == '.' ? -1 : NumberOf(entry->name);
        if (number < 0 || number == folder) continue;
        closed = raw::Call(SYS_close, number) == 0 || closed;
      }
    }
    raw::Call(SYS_close, folder);
  }
}

}  // namespace

bool LeaveProgramsFiles() noexcept {
  if (raw::Call(kCloseRange, 0, static_cast<long>(~0u), kUnshare) == 0) return true;
  if (raw::Call(SYS_unshare, CLONE_FILES) != 0) return false;
  CloseOneByOne();
  return true;
}

}  // namespace gpuprof::inject
