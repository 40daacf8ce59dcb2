// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/samples/sampler.h"

#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <atomic>
#include <memory>

#include "proto/ticks.h"
#include "tracer/base/futex.h"
#include "tracer/base/tool_thread.h"
#include "tracer/python/frame_names.h"
#include "tracer/python/interpreter.h"
#include "tracer/samples/native_sampling.h"
#include "tracer/samples/python_sampling.h"

namespace gpuprof::tracer {
namespace {

constexpr size_t kStackBytes = 256 * 1024;
constexpr uint64_t kPeriod = 10 * kMillisecond;
constexpr uint64_t kMostPeriod = kSecond;
// The sampler takes this part of one processor at most: with many threads it looks less often.
constexpr uint64_t kMostShare = 50;  // one in
constexpr uint32_t kTicksOfCost = 16;
constexpr uint64_t kEndLimit = 2 * kSecond;

enum State : uint32_t { kIdle, kRunning, kStopping };
std::atomic<uint32_t> state{kIdle};
std::atomic<uint32_t> at_work{0};  // it looks at threads; fork waits
std::atomic<uint32_t> fork_pause{0};
std::atomic<uint64_t> ticks{0}, stacks{0}, bad{0}, native_lost{0}, cpu_ns{0};
std::atomic<bool> has_too_many{false};
const Host* g_host = nullptr;
std::atomic<const Interpreter*> g_python{nullptr};
std::atomic<int> g_native_error{0};

bool EnterWork() {
  at_work.store(1);
  if (fork_pause.load() == 0) return true;
  at_work.store(0);
  return false;
}

void LeaveWork() { at_work.store(0); }

// How long to wait: so that the cost stays a small part of a processor, and longer while the
// program rests.
class Period {
 public:
  uint64_t Next() {
    const uint64_t all = proto::ReadClockNs(CLOCK_PROCESS_CPUTIME_ID);
    resting_ = all - all_before_ < kRestNs ? resting_ + 1 : 0;
    all_before_ = all;
    if (++ticks_ % kTicksOfCost == 0) {
      const uint64_t now = proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
      cpu_ns.fetch_add(now - before_, std::memory_order_relaxed);
      const uint64_t needed = (now - before_) / kTicksOfCost * kMostShare;
      before_ = now;
      period_ = needed < kPeriod ? kPeriod : needed < kMostPeriod ? needed : kMostPeriod;
    }
    return resting_ > kTicksOfRest && period_ < kRestPeriod ? kRestPeriod : period_;
  }

 private:
  static constexpr uint64_t kRestNs = 200'000;  // of the process, in a tick
  static constexpr uint32_t kTicksOfRest = 10;
  static constexpr uint64_t kRestPeriod = 50 * kMillisecond;
  uint32_t ticks_ = 0;
  uint32_t resting_ = 0;
  uint64_t before_ = 0;
  uint64_t all_before_ = 0;
  uint64_t period_ = kPeriod;
};

class Sampler {
 public:
  Sampler() : ring_(g_host) {
    if (g_native_error.load() != 0) return;
    native_.reset(new NativeSampling(g_host, &ring_));
    g_native_error.store(native_->Begin());
    if (g_native_error.load() != 0) native_.reset();
  }

  // False: there is nothing to sample.
  bool Tick() {
    const Interpreter* const python = g_python.load();
    if (python_ == nullptr && python != nullptr)
      python_.reset(new PythonSampling(g_host, *python, &ring_));
    if (python_ == nullptr && native_ == nullptr) return false;
    if (!ring_.Open()) return true;
    const uint64_t now = proto::ReadTicks(g_host->settings->clock);
    if (python_ != nullptr) python_->Tick(now);
    if (native_ != nullptr) native_->Tick(now);
    if (python_ != nullptr) python_->WriteLong(now);
    Count();
    return true;
  }

  void Finish() {
    if (!ring_.Open()) return;
    if (python_ != nullptr) python_->Finish();
    if (native_ != nullptr) native_->Tick(proto::ReadTicks(g_host->settings->clock));
    Count();
  }

 private:
  void Count() {
    ticks.fetch_add(1, std::memory_order_relaxed);
    if (python_ != nullptr) {
      stacks.store(python_->stacks(), std::memory_order_relaxed);
      bad.store(python_->bad(), std::memory_order_relaxed);
    }
    if (native_ != nullptr) {
      native_lost.store(native_->lost(), std::memory_order_relaxed);
      has_too_many.store(native_->has_too_many(), std::memory_order_relaxed);
    }
  }

  SampleRing ring_;
  std::unique_ptr<PythonSampling> python_;
  std::unique_ptr<NativeSampling> native_;
};

// Samples until it is told to stop. Frees what it has before its thread is said to have ended.
void SampleProgram() {
  Sampler sampler;
  Period period;
  uint64_t next = Monotonic();
  while (state.load() == kRunning) {
    next += period.Next();
    const uint64_t now = Monotonic();
    // After a pause of the whole process nothing is made up for.
    if (next < now) next = now;
    if (next > now) FutexWait(&state, kRunning, next - now);
    if (state.load() != kRunning) break;
    if (!EnterWork()) continue;
    const bool goes_on = sampler.Tick();
    LeaveWork();
    if (!goes_on) return;
  }
  sampler.Finish();
}

void* SamplerMain(void*) {
  g_host->adopt_tool_thread();
  prctl(PR_SET_NAME, "gpuprof-sample");
  SampleProgram();
  state.store(kIdle);
  FutexWake(&state);
  return nullptr;
}

// Returns whether the thread has begun.
bool StartThread() {
  static ToolThread thread = {SamplerMain, kStackBytes};
  state.store(kRunning);
  const bool has_begun = StartToolThread(*g_host, &thread, nullptr) == 0;
  if (!has_begun) state.store(kIdle);
  return has_begun;
}

}  // namespace

void SamplerTryBegin(const Host* host, const Interpreter* python) {
  if (host->hurry->load() != 0) return;
  g_host = host;
  if (python != nullptr) g_python.store(python);
  const bool has_something = g_python.load() != nullptr || g_native_error.load() == 0;
  if (state.load() == kIdle && has_something) StartThread();
}

int NativeRefusal() { return g_native_error.load(); }

void SamplerEnd() {
  uint32_t running = kRunning;
  if (!state.compare_exchange_strong(running, kStopping)) return;
  FutexWake(&state);
  const uint64_t until = Monotonic() + kEndLimit;
  while (state.load() == kStopping && Monotonic() < until)
    FutexWait(&state, kStopping, 100 * kMillisecond);
}

void SamplerBeforeFork() {
  fork_pause.store(1);
  const uint64_t until = Monotonic() + 200 * kMillisecond;
  while (at_work.load() != 0 && Monotonic() < until) sched_yield();
}

void SamplerAfterForkParent() { fork_pause.store(0); }

void SamplerAfterForkChild() {
  fork_pause.store(0);
  at_work.store(0);
  state.store(kIdle);
}

SamplerCounters ReadSamplerCounters() {
  return {ticks.load(std::memory_order_relaxed),        stacks.load(std::memory_order_relaxed),
          bad.load(std::memory_order_relaxed),          native_lost.load(std::memory_order_relaxed),
          has_too_many.load(std::memory_order_relaxed), FrameNames().lost(),
          cpu_ns.load(std::memory_order_relaxed)};
}

}  // namespace gpuprof::tracer
