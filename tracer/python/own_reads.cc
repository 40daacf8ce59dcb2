// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/own_reads.h"

#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>

namespace gpuprof::tracer {

OwnReads::OwnReads() : pid_(getpid()) {}

bool OwnReads::Read(uint64_t address, void* to, uint32_t bytes) {
  const Part part = {address, to, bytes};
  return ReadParts(&part, 1) == 1;
}

uint32_t OwnReads::ReadParts(const Part* parts, uint32_t count) {
  constexpr uint32_t kMost = 64;
  uint32_t done = 0;
  while (done < count && !is_refused_) {
    iovec local[kMost], remote[kMost];
    const uint32_t some = std::min(count - done, kMost);
    for (uint32_t i = 0; i < some; ++i) {
      const Part& part = parts[done + i];
      local[i] = {part.to, part.bytes};
      remote[i] = {reinterpret_cast<void*>(part.address), part.bytes};
    }
    ssize_t left = process_vm_readv(pid_, local, some, remote, some, 0);
    if (left < 0 && (errno == EPERM || errno == ENOSYS || errno == EACCES)) {
      is_refused_ = true;
      break;
    }
    uint32_t whole = 0;
    for (; whole < some && left >= static_cast<ssize_t>(parts[done + whole].bytes); ++whole)
      left -= static_cast<ssize_t>(parts[done + whole].bytes);
    done += whole;
    if (whole < some) return done;
  }
  for (; done < count; ++done) {
    const Part& part = parts[done];
    if (memory_.Read(reinterpret_cast<const void*>(part.address), part.to, part.bytes) !=
        part.bytes)
      break;
  }
  return done;
}

}  // namespace gpuprof::tracer
