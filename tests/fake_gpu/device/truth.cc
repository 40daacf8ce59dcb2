// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The file of truth.h: a mapping over more than the file, which grows ahead of what is written.

#include "tests/fake_gpu/truth.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "tests/fake_gpu/device/clock.h"

namespace fake_gpu {
namespace {

constexpr size_t kMost = size_t{8} << 30;
constexpr size_t kStep = size_t{4} << 20;

struct TruthFile {
  // Not its descriptor: that is nothing, or another file, to a thread with a table of its own.
  std::string path;
  char* base = nullptr;
  std::atomic<size_t> used{0};
  std::atomic<size_t> backed{0};
  std::mutex growing;
  pid_t owner = 0;
};

TruthFile* Open() {
  const char* given = getenv("FAKE_GPU_TRUTH");
  if (given == nullptr || given[0] == 0) return nullptr;
  std::string path = given;
  const std::string pid = std::to_string(getpid());
  if (const size_t at = path.find("%p"); at != std::string::npos) path.replace(at, 2, pid);
  int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (descriptor < 0) {
    path += "." + pid;
    descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  }
  if (descriptor < 0) {
    fprintf(stderr, "fake_gpu: FAKE_GPU_TRUTH: cannot write %s\n", path.c_str());
    _exit(97);
  }
  auto* file = new TruthFile;
  // Chosen by a relative name: where the program was then.
  char* whole = realpath(path.c_str(), nullptr);
  file->path = whole != nullptr ? whole : path;
  free(whole);
  void* base =
      mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  close(descriptor);
  if (base == MAP_FAILED) _exit(97);
  file->base = static_cast<char*>(base);
  file->owner = getpid();
  return file;
}

TruthFile* TheFile() {
  static TruthFile* const file = Open();  // never destroyed: written to by exit handlers
  return file;
}

void Append(TruthFile* file, const char* text, size_t size) {
  const size_t at = file->used.fetch_add(size, std::memory_order_relaxed);
  if (at + size > kMost) return;
  if (at + size > file->backed.load(std::memory_order_acquire)) {
    const std::lock_guard lock(file->growing);
    while (file->backed.load(std::memory_order_relaxed) < at + size) {
      const size_t next = file->backed.load(std::memory_order_relaxed) + kStep;
      if (truncate(file->path.c_str(), static_cast<off_t>(next)) != 0) {
        fprintf(stderr, "fake_gpu: FAKE_GPU_TRUTH: cannot grow %s\n", file->path.c_str());
        _exit(97);
      }
      file->backed.store(next, std::memory_order_release);
    }
  }
  memcpy(file->base + at, text, size);
}

void AtExit() {
  TruthFile* file = TheFile();
  if (file->owner != getpid()) return;
  TruthLine("{\"t\":\"exit\"}");
  // Threads may still write: the file keeps room for them, its reader stops at the first zero.
}

void First(TruthFile* file) {
  char line[128];
  const int size =
      snprintf(line, sizeof line, "{\"t\":\"process\",\"pid\":%d,\"realtime_offset\":%ld}\n",
               getpid(), static_cast<long>(ToolTime() - Monotonic()));
  Append(file, line, static_cast<size_t>(size));
  atexit(AtExit);
}

}  // namespace

bool TruthWanted() {
  static const bool wanted = TheFile() != nullptr;
  return wanted;
}

void TruthLine(const char* format, ...) {
  TruthFile* file = TheFile();
  // A forked child shares the mapping and must not write over its parent.
  if (file == nullptr || file->owner != getpid()) return;
  static std::once_flag first;
  std::call_once(first, First, file);
  char line[4096];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(line, sizeof line - 1, format, arguments);
  va_end(arguments);
  if (size < 0) return;
  if (static_cast<size_t>(size) > sizeof line - 2) size = sizeof line - 2;
  line[size] = '\n';
  Append(file, line, static_cast<size_t>(size) + 1);
}

}  // namespace fake_gpu
