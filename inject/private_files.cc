// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/private_files.h"

#include <sched.h>

#include "inject/folder.h"
#include "inject/raw_syscall.h"

namespace gpuprof::inject {
namespace {

constexpr long kCloseRange = 436;  // younger than the oldest headers we build with
constexpr long kUnshare = 2;

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
    ForEachEntry("/proc/thread-self/fd", [&](const char* name, long folder) {
      const long number = NumberOf(name);
      if (number < 0 || number == folder) return true;
      closed = raw::Call(SYS_close, number) == 0 || closed;
      return true;
    });
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
