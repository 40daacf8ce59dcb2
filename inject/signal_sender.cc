// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/signal_sender.h"

#include <fcntl.h>

#include <atomic>

#include "inject/obstacle.h"
#include "inject/raw_syscall.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/text.h"

namespace gpuprof::inject {
namespace {

// The latest children. One may have sent its signal, ended and been waited for before the
// handler runs.
constexpr uint32_t kChildren = 64;
std::atomic<int> g_children[kChildren];
std::atomic<uint32_t> g_next_child{0};

bool IsChild(int pid) {
  for (const std::atomic<int>& child : g_children)
    if (child.load(std::memory_order_relaxed) == pid) return true;
  return false;
}

// The latest senders that are recorded. To look takes a tenth of a millisecond, and the same few
// processes send again and again.
constexpr uint32_t kKnown = 8;
std::atomic<int> g_known[kKnown];

// Searches a process's table of mappings for our bundle's ring, or for our object at the offset of
// dormant processes.
// Static: a handler's stack may be small.
class MapsSearch {
 public:
  // Reads line by line. The end of a line that is too long is left out.
  bool Run(int pid) {
    Text ring(ring_, sizeof(ring_));
    ring.Add(g_settings.bundle).Add("/p").Number(pid).Add("-");
    char path[64];
    Text(path, sizeof(path)).Add("/proc/").Number(pid).Add("/maps");
    const long fd = raw::Call(SYS_openat, AT_FDCWD, raw::Arg(path), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    length_ = 0;
    bool found = false;
    for (long n; !found && (n = raw::Call(SYS_read, fd, raw::Arg(buffer_), sizeof(buffer_))) > 0;) {
      for (long i = 0; i < n && !found; ++i) found = Take(buffer_[i]);
    }
    raw::Call(SYS_close, fd);
    return found;
  }

 private:
  bool Take(char c) {
    if (c != '\n') {
      if (length_ + 1 < sizeof(line_)) line_[length_++] = c;
      return false;
    }
    line_[length_] = 0;
    const bool found = Contains(ring_) || (Contains(proto::kInjectObject) && IsDormantOffset());
    length_ = 0;
    return found;
  }

  bool Contains(const char* text) const {
    const size_t bytes = Length(text);
    for (size_t at = 0; at + bytes <= length_; ++at)
      if (__builtin_memcmp(line_ + at, text, bytes) == 0) return true;
    return false;
  }

  // "BEGIN-END PERMISSIONS OFFSET ...", in hexadecimal.
  bool IsDormantOffset() const {
    size_t at = 0;
    for (int spaces = 0; at < length_ && spaces < 2; ++at) spaces += line_[at] == ' ' ? 1 : 0;
    uint64_t offset = 0;
    for (; at < length_ && line_[at] != ' '; ++at) {
      const char c = line_[at];
      offset = offset * 16 + static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return offset > proto::kDormantOffset;
  }

  char ring_[600];
  char buffer_[1024];
  char line_[1024];
  size_t length_;
};
MapsSearch g_search;
std::atomic<uint32_t> g_is_searching{0};

struct Relation {
  int parent;     // 0: nothing is known of the process
  bool is_ended;  // it is ending or has ended, and its parent has not waited for it yet
};

Relation RelationOf(int pid) {
  constexpr uint64_t kIsExiting = 4;  // PF_EXITING
  char path[64];
  char text[256];
  Text(path, sizeof(path)).Add("/proc/").Number(pid).Add("/stat");
  const long fd = raw::Call(SYS_openat, AT_FDCWD, raw::Arg(path), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  long n = raw::Call(SYS_read, fd, raw::Arg(text), sizeof(text) - 1);
  raw::Call(SYS_close, fd);
  if (n <= 0) return {};
  text[n] = 0;
  // "PID (NAME) STATE PARENT ...": a name may hold parentheses, so the last counts.
  while (n > 0 && text[n - 1] != ')') --n;
  if (n <= 0 || text[n] != ' ') return {};
  const bool is_zombie = text[n + 1] == 'Z';
  const char* at = text + n + 3;
  uint64_t parent = 0, flags = 0;
  if (!ParseNumber(&at, &parent)) return {};
  // Then come group, session, terminal, its group, and the flags of the kernel.
  for (int spaces = 0; spaces < 5 && *at != 0; ++at) spaces += *at == ' ' ? 1 : 0;
  const bool is_exiting = ParseNumber(&at, &flags) && (flags & kIsExiting) != 0;
  return {static_cast<int>(parent), is_zombie || is_exiting};
}

// Whether `gpuprof run` started the process, directly or by others: shells and tools that are not
// recorded, too.
bool IsOfRun(int pid) {
  constexpr int kMostAncestors = 64;
  const int launcher = LauncherPid();
  for (int i = 0; launcher > 0 && i < kMostAncestors && pid > 1; ++i) {
    pid = RelationOf(pid).parent;
    if (pid == launcher) return true;
  }
  return false;
}

bool IsRecorded(int pid) {
  std::atomic<int>& known = g_known[static_cast<uint32_t>(pid) % kKnown];
  if (known.load(std::memory_order_relaxed) == pid) return true;
  if (g_is_searching.exchange(1, std::memory_order_acquire) != 0) return false;  // another thread's
  const bool is_recorded = g_search.Run(pid);
  g_is_searching.store(0, std::memory_order_release);
  if (is_recorded) known.store(pid, std::memory_order_relaxed);
  return is_recorded;
}

}  // namespace

bool IsProgramsOwn(const siginfo_t* info, bool has_handler) noexcept {
  switch (info->si_code) {
    case SI_USER:
    case SI_TKILL:
    case SI_QUEUE:
      break;
    default:
      return true;  // a timer, a message queue, asynchronous input: set up by the program
  }
  // 0: from outside this process's namespace.
  if (info->si_pid <= 0) return false;
  if (info->si_pid == g_process.pid || IsChild(info->si_pid) || IsRecorded(info->si_pid))
    return true;
  if (has_handler && IsOfRun(info->si_pid)) return true;
  // A child that has sent its signal and ended: mappings end before the process is a zombie.
  const Relation sender = RelationOf(info->si_pid);
  const int parent = sender.is_ended ? sender.parent : 0;
  return parent > 0 && (parent == g_process.pid || IsRecorded(parent));
}

void NoteChild(int pid) noexcept {
  const uint32_t slot = g_next_child.fetch_add(1, std::memory_order_relaxed);
  g_children[slot % kChildren].store(pid, std::memory_order_relaxed);
}

void ForgetSenders() noexcept {
  for (std::atomic<int>& child : g_children) child.store(0, std::memory_order_relaxed);
  for (std::atomic<int>& known : g_known) known.store(0, std::memory_order_relaxed);
  g_is_searching.store(0);
}

}  // namespace gpuprof::inject
