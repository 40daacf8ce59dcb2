// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/own_room.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <atomic>

#include "inject/departure.h"
#include "inject/own_threads.h"
#include "inject/raw_syscall.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/text.h"
#include "proto/contract.h"

namespace gpuprof::inject {
namespace {

// Outside the pages that the kernel wipes in a forked child: what is mapped is inherited.
std::atomic<int64_t> g_private{0};
std::atomic<int64_t> g_shared{0};
std::atomic<int64_t> g_objects{0};  // gpuprof's libraries; 0: not looked at yet

// What a limit may have to be raised by later: rings, the recorder's memory, stacks.
constexpr uint64_t kLaterBytes = uint64_t{1} << 20 << 10;

struct Limit {
  int resource;
  std::atomic<uint32_t> is_set;  // by the program, and raised by us
  std::atomic<uint64_t> wanted;  // what the program has set
  std::atomic<uint64_t> wanted_max;
  std::atomic<uint64_t> raised;  // what the kernel has
};
constinit Limit g_limits[] = {{RLIMIT_AS, 0, 0, 0, 0},
                              {RLIMIT_DATA, 0, 0, 0, 0},
                              {RLIMIT_MEMLOCK, 0, 0, 0, 0},
                              {RLIMIT_NPROC, 0, 0, 0, 0}};

Limit* Find(int resource) {
  for (Limit& limit : g_limits)
    if (limit.resource == resource) return &limit;
  return nullptr;
}

uint64_t Plus(uint64_t limit, uint64_t more) {
  uint64_t sum;
  return limit == RLIM_INFINITY || __builtin_add_overflow(limit, more, &sum) ? RLIM_INFINITY : sum;
}

uint64_t HexField(const char** p) {
  uint64_t value = 0;
  for (;; ++*p) {
    const char c = **p;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return value;
    value = value << 4 | static_cast<uint64_t>(digit);
  }
}

// Whether a line of /proc/self/maps is of one of gpuprof's libraries, or of the zeroed data behind
// one: an unnamed mapping that begins where the library's last one ends.
bool IsOfObject(const char* line, uint64_t begin, uint64_t previous_end) {
  if (__builtin_strstr(line, "/libgpuprof_") != nullptr) return true;
  return begin == previous_end && __builtin_strchr(line, '/') == nullptr &&
         __builtin_strchr(line, '[') == nullptr;
}

// The sizes of the mappings of gpuprof's libraries.
int64_t BytesOfObjects() {
  const long fd =
      raw::Call(SYS_openat, AT_FDCWD, raw::Arg("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  char buffer[2048];
  size_t used = 0;
  int64_t sum = 0;
  uint64_t end_of_object = 0;
  for (long n; (n = raw::Call(SYS_read, fd, raw::Arg(buffer + used),
                              static_cast<long>(sizeof(buffer) - 1 - used))) > 0;) {
    used += static_cast<size_t>(n);
    buffer[used] = 0;
    char* line = buffer;
    for (char* end; (end = __builtin_strchr(line, '\n')) != nullptr; line = end + 1) {
      *end = 0;
      const char* p = line;
      const uint64_t begin = HexField(&p);
      if (*p++ != '-') continue;
      const uint64_t end_of_mapping = HexField(&p);
      if (!IsOfObject(line, begin, end_of_object)) continue;
      sum += static_cast<int64_t>(end_of_mapping - begin);
      end_of_object = end_of_mapping;
    }
    used -= static_cast<size_t>(line - buffer);
    if (used == sizeof(buffer) - 1) used = 0;  // a line longer than the buffer
    __builtin_memmove(buffer, line, used);
  }
  raw::Call(SYS_close, fd);
  return sum;
}

// A program that may have no further process would have none without gpuprof either.
bool ForbidsProcesses(int resource, uint64_t limit) {
  return resource == RLIMIT_NPROC && limit <= 1;
}

// Tasks of `gpuprof run` and of its witness, if they are this user's. Processes of another user do
// not count.
uint64_t LauncherTasks() {
  const char* address = Variable(proto::kEnvLauncher);
  const char* p = address;
  for (int dots = 0; p != nullptr && *p != 0 && dots < 2; ++p) dots += *p == '.';
  uint64_t pid = 0;
  if (p == nullptr || !ParseNumber(&p, &pid)) return 0;
  char path[48];
  Text(path, sizeof(path)).Add("/proc/").Number(static_cast<int64_t>(pid)).Add("/task");
  struct stat status;
  const bool is_there = raw::Call(SYS_stat, raw::Arg(path), raw::Arg(&status)) == 0;
  const auto user = static_cast<uid_t>(raw::Call(SYS_getuid));
  return is_there && status.st_uid == user && status.st_nlink > 2 ? status.st_nlink - 2 + 1 : 0;
}

uint64_t OwnUse(int resource) {
  if (resource == RLIMIT_NPROC) return CountOwnThreads() + LauncherTasks();
  const int64_t shared = resource == RLIMIT_DATA ? 0 : g_shared.load();
  const int64_t sum = g_private.load() + g_objects.load() + shared;
  return sum > 0 ? static_cast<uint64_t>(sum) : 0;
}

// Without libc, and without its errno.
long Kernel(int resource, const rlimit* set, rlimit* get) {
  return raw::Call(SYS_prlimit64, 0, resource, raw::Arg(const_cast<rlimit*>(set)), raw::Arg(get));
}

// Sets the kernel's soft limit to `soft`, at most to its hard limit.
void SetSoft(Limit* limit, uint64_t soft) {
  rlimit now;
  if (Kernel(limit->resource, nullptr, &now) != 0) return;
  now.rlim_cur = soft < now.rlim_max ? soft : now.rlim_max;
  if (Kernel(limit->resource, &now, nullptr) == 0) limit->raised.store(now.rlim_cur);
}

// Several threads may come here at once: the last one to look sees all that was noted.
[[gnu::noinline, gnu::cold]] void Follow(Limit* limit) {
  uint64_t own;
  do {
    own = OwnUse(limit->resource);
    SetSoft(limit, Plus(limit->wanted.load(), own));
  } while (own != OwnUse(limit->resource));
}

void FollowAll() {
  for (Limit& limit : g_limits)
    if (__builtin_expect(limit.is_set.load(std::memory_order_relaxed) != 0, 0)) Follow(&limit);
}

// Whether the kernel's limit may leave the program less than it would have without gpuprof. It does
// not if it was raised by what gpuprof takes.
bool IsTight(int resource) {
  rlimit now;
  if (Kernel(resource, nullptr, &now) != 0 || now.rlim_cur == RLIM_INFINITY) return false;
  const Limit* limit = Find(resource);
  const bool is_raised = limit != nullptr && limit->is_set.load() != 0 &&
                         now.rlim_cur == Plus(limit->wanted.load(), OwnUse(resource));
  return !is_raised;
}

// Raises a limit that somebody else has set, as if the program had set it itself. False: the
// kernel's hard limit does not permit it.
bool Adopt(int resource) {
  Limit* limit = Find(resource);
  rlimit now;
  if (Kernel(resource, nullptr, &now) != 0) return false;
  if (resource != RLIMIT_NPROC && g_objects.load() == 0) g_objects.store(BytesOfObjects());
  limit->wanted.store(now.rlim_cur);
  limit->wanted_max.store(now.rlim_max);
  limit->is_set.store(1);
  Follow(limit);
  return !IsTight(resource);
}

constexpr int kOfMemory[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_MEMLOCK};

// What a failed call may lack.
enum class Lack { kNothingOfOurs, kRaised, kTight };

// Raises what can be raised.
template <size_t kCount>
Lack Look(const int (&resources)[kCount]) {
  Lack lack = Lack::kNothingOfOurs;
  for (const int resource : resources) {
    if (!IsTight(resource)) continue;
    if (!Adopt(resource)) return Lack::kTight;
    lack = Lack::kRaised;
  }
  return lack;
}

// A control group may limit the number of threads, too, and does not tell. But a stack may lack
// memory that the program itself has used up.
Lack LookForThreads() {
  constexpr int kOfThreads[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_NPROC};
  const Lack lack = Look(kOfThreads);
  if (lack != Lack::kNothingOfOurs) return lack;
  for (const int resource : kOfThreads)
    if (Find(resource)->is_set.load() != 0) return Lack::kNothingOfOurs;
  return Lack::kTight;
}

// The kernel's limits for what the program wants.
rlimit Raised(int resource, const rlimit& wanted, uint64_t hard_now) {
  const uint64_t later = resource == RLIMIT_NPROC ? 0 : kLaterBytes;
  rlimit raised = {Plus(wanted.rlim_cur, OwnUse(resource)),
                   Plus(wanted.rlim_max, OwnUse(resource) + later)};
  // Nobody but root can raise a hard limit.
  if (raised.rlim_max > hard_now && wanted.rlim_max <= hard_now) raised.rlim_max = hard_now;
  if (raised.rlim_cur > raised.rlim_max) raised.rlim_cur = raised.rlim_max;
  return raised;
}

// Whether a limit leaves the process so few addresses that gpuprof's are missed. Other limits are
// missed once a call fails (GiveBack).
bool IsScarce(int resource, uint64_t limit) {
  constexpr uint64_t kPlenty = uint64_t{256} << 20;
  if (resource != RLIMIT_AS && resource != RLIMIT_DATA) return false;
  char text[128];
  const long fd =
      raw::Call(SYS_openat, AT_FDCWD, raw::Arg("/proc/self/statm"), O_RDONLY | O_CLOEXEC);
  const long n = raw::Call(SYS_read, fd, raw::Arg(text), sizeof(text) - 1);
  raw::Call(SYS_close, fd);
  text[n > 0 ? n : 0] = 0;
  const char* p = text;
  uint64_t pages = 0;
  return ParseNumber(&p, &pages) && limit < pages * proto::kPageBytes + kPlenty;
}

}  // namespace

void* MapPages(size_t bytes, int flags) noexcept {
  NoteMapped(static_cast<int64_t>(bytes), false);
  const long address = raw::Call(SYS_mmap, 0, static_cast<long>(bytes), PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  if (!raw::IsError(address)) return reinterpret_cast<void*>(address);
  NoteMapped(-static_cast<int64_t>(bytes), false);
  return nullptr;
}

void UnmapPages(void* pages, size_t bytes) noexcept {
  raw::Call(SYS_munmap, raw::Arg(pages), static_cast<long>(bytes));
  NoteMapped(-static_cast<int64_t>(bytes), false);
}

void NoteMapped(int64_t bytes, bool is_shared) noexcept {
  (is_shared ? g_shared : g_private).fetch_add(bytes);
  FollowAll();
}

void NoteThread(int change) noexcept {
  g_process.unnamed_threads.fetch_add(static_cast<uint32_t>(change));
  FollowAll();
}

void ForgetRings() noexcept { g_shared.store(0); }

bool IsManagedResource(int resource) noexcept {
  return g_settings.bundle[0] != 0 && Find(resource) != nullptr;
}

int SetLimit(int resource, const rlimit* wanted, int (*call)(int, const rlimit*)) noexcept {
  Limit* limit = Find(resource);
  rlimit now;
  const bool is_plain = wanted == nullptr || wanted->rlim_cur > wanted->rlim_max ||
                        ForbidsProcesses(resource, wanted->rlim_cur) ||
                        Kernel(resource, nullptr, &now) != 0;
  if (is_plain) {
    if (wanted != nullptr && ForbidsProcesses(resource, wanted->rlim_cur)) limit->is_set.store(0);
    return call(resource, wanted);
  }
  if (resource != RLIMIT_NPROC) g_objects.store(BytesOfObjects());
  const rlimit raised = Raised(resource, *wanted, now.rlim_max);
  const int result = call(resource, &raised);
  if (result != 0) return result;
  limit->wanted.store(wanted->rlim_cur);
  limit->wanted_max.store(wanted->rlim_max);
  limit->raised.store(raised.rlim_cur);
  const bool is_finite = wanted->rlim_cur != RLIM_INFINITY || wanted->rlim_max != RLIM_INFINITY;
  limit->is_set.store(is_finite ? 1 : 0);
  // The hard limit leaves gpuprof no room of its own, and the program little.
  const bool is_tight = raised.rlim_cur != Plus(wanted->rlim_cur, OwnUse(resource));
  if (is_tight && IsScarce(resource, raised.rlim_cur)) {
    DepartForLimits();
    Follow(limit);
  }
  return 0;
}

void ShowLimit(int resource, rlimit* shown) noexcept {
  const Limit* limit = Find(resource);
  if (limit == nullptr || limit->is_set.load() == 0) return;
  if (shown->rlim_cur != limit->raised.load()) return;  // somebody else has set it
  shown->rlim_cur = limit->wanted.load();
  shown->rlim_max = limit->wanted_max.load();
}

void HandLimitsOn() noexcept {
  for (Limit& limit : g_limits)
    if (limit.is_set.load() != 0) SetSoft(&limit, limit.wanted.load());
}

void TakeLimitsBack() noexcept { FollowAll(); }

bool GiveBack(size_t bytes) noexcept {
  if (!MayHaveOwnThreads() || raw::GetPid() != g_process.pid) return false;
  rlimit now;
  if (bytes == 0 && Kernel(RLIMIT_NPROC, nullptr, &now) == 0 &&
      ForbidsProcesses(RLIMIT_NPROC, now.rlim_cur))
    return false;
  // What is far more than gpuprof holds it cannot give.
  constexpr uint64_t kMostBytes = uint64_t{1} << 30;
  if (bytes > kMostBytes) return false;
  const Lack lack = bytes == 0 ? LookForThreads() : Look(kOfMemory);
  if (lack != Lack::kTight) return lack == Lack::kRaised;
  const int saved = errno;
  const bool has_left = DepartForLimits();
  errno = saved;
  return has_left;
}

}  // namespace gpuprof::inject
