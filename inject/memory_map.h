// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The process's address space as the kernel tells it in /proc/self/maps. No heap, no lock; any
// thread. Other threads may change what was read.

#pragma once

#include <fcntl.h>
#include <stddef.h>

#include <cstdint>

#include "inject/raw_syscall.h"

namespace gpuprof::inject {

// Reads the hexadecimal number at `*p` and moves `*p` behind it.
inline uint64_t HexField(const char** p) {
  uint64_t value = 0;
  for (;; ++*p) {
    const char c = **p;
    if (c >= '0' && c <= '9') {
      value = value << 4 | static_cast<uint64_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      value = value << 4 | static_cast<uint64_t>(c - 'a' + 10);
    } else {
      return value;
    }
  }
}

// Feeds /proc/self/maps line by line; `line` returns false to stop.
template <typename Line>
void ForEachMapping(Line line) {
  const long fd =
      raw::Call(SYS_openat, AT_FDCWD, raw::Arg("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return;
  char buffer[2048];
  size_t used = 0;
  for (bool more = true; more;) {
    const long n = raw::Call(SYS_read, fd, raw::Arg(buffer + used),
                             static_cast<long>(sizeof(buffer) - 1 - used));
    if (n <= 0) break;
    used += static_cast<size_t>(n);
    size_t start = 0;
    for (size_t i = 0; i < used && more; ++i) {
      if (buffer[i] != '\n') continue;
      buffer[i] = 0;
      more = line(buffer + start);
      start = i + 1;
    }
    if (start == 0 && used == sizeof(buffer) - 1)
      used = 0;  // a line longer than the buffer: skip it
    __builtin_memmove(buffer, buffer + start, used - start);
    used -= start;
  }
  raw::Call(SYS_close, fd);
}

// The parts that can be written, in order.
class MemoryMap {
 public:
  MemoryMap() = default;
  ~MemoryMap();
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

  // Reads the map. False: the kernel does not show the map.
  bool Read() noexcept;
  bool is_empty() const { return count_ == 0; }
  // Returns whether the page of the address could be written when the map was read.
  bool IsWritable(uintptr_t address) const noexcept;

 private:
  struct Part {
    uintptr_t begin, end;
  };
  Part* parts_ = nullptr;
  uint32_t count_ = 0;
  uint32_t room_ = 0;
};

}  // namespace gpuprof::inject
