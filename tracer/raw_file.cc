// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/raw_file.h"

#include <fcntl.h>
#include <unistd.h>

namespace gpuprof::tracer {

std::vector<char> ReadSmallFile(const char* path, uint32_t most) {
  std::vector<char> bytes(most);
  const uint32_t used = ReadSmallFile(path, bytes.data(), most);
  bytes.resize(used);
  return bytes;
}

uint32_t ReadSmallFile(const char* path, char* buffer, uint32_t capacity) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  uint32_t used = 0;
  while (used + 1 < capacity) {
    const ssize_t n = read(fd, buffer + used, capacity - 1 - used);
    if (n <= 0) break;
    used += static_cast<uint32_t>(n);
  }
  close(fd);
  buffer[used] = 0;
  return used;
}

}  // namespace gpuprof::tracer
