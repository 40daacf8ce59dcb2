// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/own_memory.h"

#include <fcntl.h>
#include <unistd.h>

namespace gpuprof::tracer {

OwnMemory::OwnMemory() : descriptor_(open("/proc/self/mem", O_RDONLY | O_CLOEXEC)) {}

OwnMemory::~OwnMemory() {
  if (descriptor_ >= 0) close(descriptor_);
}

uint32_t OwnMemory::Read(const void* address, void* to, uint32_t bytes) const {
  if (descriptor_ < 0) return 0;
  const ssize_t n = pread64(descriptor_, to, bytes, reinterpret_cast<off64_t>(address));
  return n > 0 ? static_cast<uint32_t>(n) : 0;
}

}  // namespace gpuprof::tracer
