// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/mapped_path.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

namespace gpuprof::tracer {
namespace {

// Longer lines than the kernel's longest path makes are none of its.
constexpr uint32_t kBufferBytes = 8192;
constexpr char kDeleted[] = " (deleted)";
constexpr uint32_t kDeletedBytes = sizeof(kDeleted) - 1;

uint64_t HexNumber(const char** at, const char* end) {
  uint64_t value = 0;
  for (; *at < end; ++*at) {
    const char c = **at;
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit && (c < 'a' || c > 'f')) break;
    value = value << 4 | static_cast<uint64_t>(is_digit ? c - '0' : c - 'a' + 10);
  }
  return value;
}

// "start-end rights offset device inode   path"
bool HoldsAddress(const char* line, const char* end, uint64_t address) {
  const uint64_t first = HexNumber(&line, end);
  if (line == end || *line != '-') return false;
  ++line;
  return address >= first && address < HexNumber(&line, end);
}

uint32_t PathOfLine(const char* line, const char* end, char* path, uint32_t capacity) {
  // No field before the path has a slash in it; "[vdso]" and its like have none at all.
  const auto* from = static_cast<const char*>(memchr(line, '/', static_cast<size_t>(end - line)));
  if (from == nullptr) return 0;
  auto bytes = static_cast<uint32_t>(end - from);
  if (bytes > kDeletedBytes && memcmp(end - kDeletedBytes, kDeleted, kDeletedBytes) == 0)
    bytes -= kDeletedBytes;
  if (bytes > capacity) return 0;
  memcpy(path, from, bytes);
  return bytes;
}

}  // namespace

uint32_t MappedPathIn(const char* maps, uint64_t address, char* path, uint32_t capacity) {
  const int fd = open(maps, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char buffer[kBufferBytes];
  uint32_t held = 0;
  uint32_t found = 0;
  for (bool is_done = false; !is_done;) {
    const ssize_t got = read(fd, buffer + held, sizeof(buffer) - held);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    held += static_cast<uint32_t>(got);
    const char* line = buffer;
    const char* const end = buffer + held;
    while (!is_done) {
      const auto* next =
          static_cast<const char*>(memchr(line, '\n', static_cast<size_t>(end - line)));
      if (next == nullptr) break;
      is_done = HoldsAddress(line, next, address);
      if (is_done) found = PathOfLine(line, next, path, capacity);
      line = next + 1;
    }
    held = static_cast<uint32_t>(end - line);
    memmove(buffer, line, held);
    if (held == sizeof(buffer)) break;
  }
  close(fd);
  return found;
}

uint32_t MappedPath(uint64_t address, char* path, uint32_t capacity) {
  return MappedPathIn("/proc/self/maps", address, path, capacity);
}

}  // namespace gpuprof::tracer
