// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Walks a folder of /proc without libc's streams, which allocate. Any thread.

#pragma once

#include <fcntl.h>

#include <cstdint>

#include "inject/raw_syscall.h"

namespace gpuprof::inject {

// Calls visit(name, folder) for each entry until it answers false. Entries that begin with a dot
// are left out. `folder` is the descriptor that the walk itself has open. False: the folder cannot
// be read whole.
template <typename Visit>
bool ForEachEntry(const char* path, Visit visit) {
  struct Entry {
    uint64_t inode;
    int64_t offset;
    uint16_t bytes;
    uint8_t type;
    char name[];
  };
  const long folder =
      raw::Call(SYS_openat, AT_FDCWD, raw::Arg(path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  alignas(Entry) char buffer[2048];
  bool more = true;
  long n = 0;
  while (more && (n = raw::Call(SYS_getdents64, folder, raw::Arg(buffer), sizeof(buffer))) > 0) {
    for (long at = 0; at < n && more;) {
      const auto* entry = reinterpret_cast<const Entry*>(buffer + at);
      at += entry->bytes;
      if (entry->name[0] != '.') more = visit(entry->name, folder);
    }
  }
  raw::Call(SYS_close, folder);
  return n >= 0;
}

}  // namespace gpuprof::inject
