// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/last_thread.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>

#include "inject/folder.h"
#include "inject/own_threads.h"
#include "inject/raw_syscall.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

constexpr char kOurNames[] = "gpuprof-";

std::atomic<bool> g_main_left{false};

long ReadFile(const char* path, char* buffer, size_t capacity) {
  const long fd = raw::Call(SYS_openat, AT_FDCWD, raw::Arg(path), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return fd;
  const long n = raw::Call(SYS_read, fd, raw::Arg(buffer), static_cast<long>(capacity - 1));
  raw::Call(SYS_close, fd);
  buffer[n > 0 ? n : 0] = 0;
  return n;
}

// Threads and those that are gone but not waited for, as the folder's links tell; 0: not known.
uint64_t CountTasks() {
  struct stat status;
  const bool is_known = raw::Call(SYS_stat, raw::Arg("/proc/self/task"), raw::Arg(&status)) == 0;
  return is_known && status.st_nlink > 2 ? status.st_nlink - 2 : 0;
}

}  // namespace

// "pid (name) Z ...": a name may hold parentheses, so the last one counts. A thread that has gone
// has no memory and so no executable: asked first, because that takes no descriptor.
bool MainThreadIsGone() noexcept {
  char text[512];
  if (raw::Call(SYS_readlink, raw::Arg("/proc/self/exe"), raw::Arg(text), sizeof(text)) > 0)
    return false;
  const long n = ReadFile("/proc/self/stat", text, sizeof(text));
  for (long i = n - 1; i >= 0; --i) {
    if (text[i] == ')') return text[i + 1] == ' ' && text[i + 2] == 'Z';
  }
  return false;
}

void NoteMainThreadLeft() noexcept { g_main_left.store(true); }
bool MainThreadLeft() noexcept { return g_main_left.load(); }
void ForgetMainThreadLeft() noexcept { g_main_left.store(false); }

bool IsOurThread(const char* tid) noexcept {
  char path[64];
  char name[32];
  Text(path, sizeof(path)).Add("/proc/self/task/").Add(tid).Add("/comm");
  if (ReadFile(path, name, sizeof(name)) < 0) return true;  // it ended meanwhile
  return __builtin_strncmp(name, kOurNames, sizeof(kOurNames) - 1) == 0;
}

bool OnlyOursRemain() noexcept {
  // One call tells it of most processes: the main thread is one more.
  const uint64_t tasks = CountTasks();
  if (tasks > CountOwnThreads() + 1 || !MainThreadIsGone()) return false;
  char main_tid[16];
  Text(main_tid, sizeof(main_tid)).Number(raw::GetPid());
  bool only = true;
  const bool whole = ForEachEntry("/proc/self/task", [&](const char* tid, long) {
    return only = Equal(tid, main_tid) || IsOurThread(tid);
  });
  return whole && only;
}

}  // namespace gpuprof::inject
