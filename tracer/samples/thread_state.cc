// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/samples/thread_state.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "tracer/thread_list.h"

namespace gpuprof::tracer {
namespace {

int OpenOf(int32_t tid, const char* file) {
  char path[64];
  TaskPath(tid, file, path);
  return open(path, O_RDONLY | O_CLOEXEC);
}

uint64_t HexAt(const char* text) {
  uint64_t value = 0;
  if (text[0] == '0' && text[1] == 'x') text += 2;
  for (;; ++text) {
    const char letter = *text;
    if (letter >= '0' && letter <= '9') {
      value = value << 4 | static_cast<uint64_t>(letter - '0');
    } else if (letter >= 'a' && letter <= 'f') {
      value = value << 4 | static_cast<uint64_t>(letter - 'a' + 10);
    } else {
      return value;
    }
  }
}

}  // namespace

bool ThreadState::Open(int32_t tid) {
  Close();
  descriptor_ = OpenOf(tid, "syscall");
  is_stat_ = false;
  if (descriptor_ >= 0 && Read()) return true;
  Close();
  descriptor_ = OpenOf(tid, "stat");
  is_stat_ = true;
  return descriptor_ >= 0 && Read();
}

void ThreadState::Close() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
}

bool ThreadState::Read() {
  if (descriptor_ < 0) return false;
  char text[512];
  const ssize_t bytes = pread64(descriptor_, text, sizeof(text) - 1, 0);
  if (bytes <= 0) return false;
  text[bytes] = 0;
  place_ = futex_ = 0;
  if (is_stat_) {
    // The name is in parentheses, and may have some.
    const char* end = std::strrchr(text, ')');
    runs_ = end != nullptr && end[1] == ' ' && end[2] == 'R';
    return true;
  }
  runs_ = text[0] == 'r';  // "running"
  if (runs_) return true;
  uint64_t hash = 0xcbf29ce484222325u;
  for (ssize_t i = 0; i < bytes; ++i)
    hash = (hash ^ static_cast<unsigned char>(text[i])) * 0x100000001b3u;
  place_ = hash | 1;
  long number = 0;
  const char* at = text;
  for (; *at >= '0' && *at <= '9'; ++at) number = number * 10 + (*at - '0');
  if (number == SYS_futex && *at == ' ') futex_ = HexAt(at + 1);
  return true;
}

}  // namespace gpuprof::tracer
