// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/tensorflow/level.h"

#include <string.h>
#include <time.h>

#include "inject/state.h"
#include "inject/tensorflow/function_steps.h"
#include "inject/tensorflow/recorder.h"
#include "inject/tool_lock.h"

namespace gpuprof::inject::tensorflow {
namespace {

constexpr int32_t kOff = -1;
constexpr int32_t kFunctions = 1;
constexpr int32_t kOperations = 2;
constexpr uint64_t kPatience = 100'000'000;

// When costs are learned: after so many runs of functions, or so long after the first. The cost of
// a small operation takes about 30 runs to come down.
constexpr uint32_t kRunsToWarm = 100;
constexpr uint64_t kTimeToWarm = 2'000'000'000;
// Or if so many operations ran by themselves and none in a function.
constexpr uint32_t kEagerToWarm = 5000;
// Or if a loop asked for so many elements of a dataset and ran no function.
constexpr uint32_t kElementsToWarm = 100;
// A process that was so long at work before its first capture has learned them.
constexpr uint64_t kWarmCpu = 15'000'000'000;

// The words below change under it.
constinit ToolLock g_lock;
std::atomic<int32_t> g_ours{0};  // gpuprof's level; 0: no capture wants marks
std::atomic<int32_t> g_program{
    0};  // 1 + the level of the program's profiler; 0: it does not record

// Since when it records, by the library's clock.
std::atomic<int64_t> g_program_since{0};

std::atomic<uint32_t> g_is_warm{0};
std::atomic<uint32_t> g_runs{0};
std::atomic<uint32_t> g_eager{0};
std::atomic<uint32_t> g_elements{0};
std::atomic<uint64_t> g_first_run{0};

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

class Locked {
 public:
  Locked() noexcept : is_held_(g_lock.Lock(kPatience)) {}
  ~Locked() noexcept {
    if (is_held_) g_lock.Unlock();
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  bool is_held_;
};

// With the lock held.
void SetOurs(int32_t ours) {
  std::atomic<int32_t>* level = Level();
  if (level == nullptr) return;
  const int32_t before = g_ours.load();
  const int32_t found = level->load();
  // A profiler of the program that began before its calls came by here.
  if (before == 0 && found >= 0 && g_program.load() == 0) {
    g_program_since.store(0);
    g_program.store(1 + found);
  }
  g_ours.store(ours);
  if (g_program.load() == 0) level->store(ours != 0 ? ours : kOff);
}

int32_t WantedLevel() {
  if (!Recording(proto::kSourceOps)) return WantsFunctionSteps() ? kFunctions : 0;
  return g_is_warm.load() != 0 ? kOperations : kFunctions;
}

void Apply() {
  const int32_t wanted = WantedLevel();
  if (Level() == nullptr || wanted == g_ours.load()) return;
  const Locked lock;
  SetOurs(WantedLevel());
}

bool IsWarm() {
  const uint64_t first = g_first_run.load();
  if (first != 0) return g_runs.load() >= kRunsToWarm || Now() - first >= kTimeToWarm;
  return g_eager.load() >= kEagerToWarm || g_elements.load() >= kElementsToWarm;
}

bool Equals(const char* text, uint32_t bytes, const char* wanted) {
  const size_t length = strlen(wanted);
  return bytes == length && memcmp(text, wanted, length) == 0;
}

bool Contains(const char* text, uint32_t bytes, const char* wanted) {
  return memmem(text, bytes, wanted, strlen(wanted)) != nullptr;
}

}  // namespace

void MarksAreWanted() noexcept { Apply(); }

void CaptureBegins() noexcept {
  if (g_is_warm.load() == 0 && IsWarm()) g_is_warm.store(1);  // by runs before the capture
  Apply();
}

void CaptureEnds() noexcept { Apply(); }

void Tick() noexcept {
  if (!Recording(proto::kSourceOps)) return;
  if (Level() == nullptr) {
    if (!LookForLibrary() || !PrepareRecorder()) return;
    // Seen only now, but at work before the capture.
    if (g_process.begin_cpu_ns.load() >= kWarmCpu) g_is_warm.store(1);
  }
  if (g_is_warm.load() == 0 && IsWarm()) g_is_warm.store(1);
  Apply();
}

bool WarmsUp() noexcept { return g_is_warm.load(std::memory_order_relaxed) == 0; }

void NoteMark(const char* name, const NameParts& parts) noexcept {
  if (!Equals(name, parts.head_bytes, "EagerExecute") || parts.values == nullptr) return;
  if (!Contains(parts.values, parts.value_bytes, "is_func=1")) {
    g_eager.fetch_add(1, std::memory_order_relaxed);
    if (Contains(parts.values, parts.value_bytes, "eager_op=IteratorGetNext"))
      g_elements.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  g_runs.fetch_add(1, std::memory_order_relaxed);
  uint64_t none = 0;
  if (g_first_run.load(std::memory_order_relaxed) == 0)
    g_first_run.compare_exchange_strong(none, Now());
}

bool StartOfProgram(int level, const uint64_t* filter) noexcept {
  const auto filtered = reinterpret_cast<StartFilteredFunction>(Own(kStartFiltered));
  const auto plain = reinterpret_cast<StartFunction>(Own(kStart));
  {
    const Locked lock;
    // A second profiler of the program finds the first one's level, and does not begin.
    if (g_program.load() == 0) {
      if (g_ours.load() != 0) Level()->store(kOff);
      g_program_since.store(static_cast<int64_t>(proto::ReadClockNs(CLOCK_REALTIME)));
      g_program.store(1 + level);
    }
  }
  bool has_begun = false;
  if (filter != nullptr && filtered != nullptr) {
    has_begun = filtered(level, *filter);
  } else if (plain != nullptr) {
    has_begun = plain(level);
  }
  if (has_begun) return true;
  const Locked lock;
  // It is another one that records, or none.
  std::atomic<int32_t>* word = Level();
  if (word != nullptr && word->load() == kOff) {
    g_program.store(0);
    if (g_ours.load() != 0) word->store(g_ours.load());
  }
  return false;
}

void* StopOfProgram(void* events) noexcept {
  const auto own = reinterpret_cast<StopFunction>(Own(kStop));
  {
    const Locked lock;
    // Without a begin of the program's there is nothing for it.
    if (g_program.load() == 0 && g_ours.load() != 0) Level()->store(kOff);
  }
  void* result = own != nullptr ? own(events) : events;
  const Locked lock;
  g_program.store(0);
  if (g_ours.load() != 0) Level()->store(g_ours.load());
  return result;
}

bool IsForProgram(const TraceMe& mark) noexcept {
  if (g_program.load(std::memory_order_relaxed) == 0)
    return g_ours.load(std::memory_order_relaxed) == 0;
  // A mark that began for a capture would not be there without it.
  return mark.start_ns < 0 || mark.start_ns >= g_program_since.load(std::memory_order_relaxed);
}

void AfterForkInChild() noexcept {
  g_lock.Reset();
  const int32_t ours = g_ours.exchange(0);
  std::atomic<int32_t>* level = Level();
  if (level != nullptr && ours != 0 && g_program.load() == 0) level->store(kOff);
}

}  // namespace gpuprof::inject::tensorflow
