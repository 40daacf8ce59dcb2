// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the threads of a process did when its sampler looked at them: the one definition of the
// processor time of a stack. A sample stands for the time of its span, and says one of these:
//
//   runs: the kernel called the thread running. It was on a processor, or was ready and waited for
//     one: the two look alike in a sample. The kernel's account of the thread (Track::samples) says
//     how much of that time it was on a processor. The rest is `ready`.
//   waits for the GIL: the thread wants CPython's global interpreter lock, which `holder` has.
//   waits: anything else: for a lock, a file, a peer, or for something to do.
//
// One moment of a thread may have rows of two kinds. Rows of Python alone stand for all of the
// thread's time. Rows with native frames come after each 10 ms of processor time. Within a row of
// Python that runs, those that were joined to Python (analysis/read/joined_samples.h) say where
// this part of its time went. Others do not count there: processor time would count twice.
//
// The rows are on the sampler's own track. Nothing else there is the program's. Made for one
// process, then read only, on any thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

enum class HostState : uint8_t { kRuns, kWaitsForGil, kWaits, kReady };
inline constexpr size_t kHostStates = 4;

// Returns the state in a sample (proto::SampleState): never kReady.
HostState StateOfSample(uint32_t state);
// Returns whether the frames of a sample are of native code alone.
bool IsNativeSample(uint32_t state);
// Returns whether a sample of native code was joined to one of Python.
bool IsJoinedSample(uint32_t state);

// Time in each state.
struct HostTimes {
  std::array<int64_t, kHostStates> ns{};

  int64_t operator[](HostState state) const { return ns[static_cast<size_t>(state)]; }
  int64_t all() const { return ns[0] + ns[1] + ns[2] + ns[3]; }
  HostTimes& operator+=(const HostTimes& other) {
    for (size_t i = 0; i < kHostStates; ++i) ns[i] += other.ns[i];
    return *this;
  }
  bool operator==(const HostTimes&) const = default;
};

// All samples of one thread with one stack.
struct SampledStack {
  int32_t tid = 0;
  uint32_t stack = 0;  // canonical; 0: no stack was taken
  HostTimes times;
  uint64_t count = 0;  // rows; one may stand for a long time without a change
};

// Waits of one thread for the GIL with one stack, while another thread with one stack had it.
struct GilWait {
  int32_t waiter = 0;
  uint32_t waiter_stack = 0;
  int32_t holder = 0;         // 0: not known
  uint32_t holder_stack = 0;  // at the same time; 0: not known
  int64_t total_ns = 0;
};

class HostSamples {
 public:
  // Reads all samples of `process`, which must outlive this object.
  explicit HostSamples(const Process& process);

  bool empty() const { return count_ == 0; }
  // Returns the sums by thread, then by stack.
  const std::vector<SampledStack>& stacks() const { return stacks_; }
  const HostTimes& times() const { return times_; }
  uint64_t count() const { return count_; }
  // Returns the sums of all samples of native code, also of those that do not count.
  const std::vector<SampledStack>& native_stacks() const { return native_stacks_; }
  uint32_t thread_count() const { return thread_count_; }

  // Finds who had the GIL when others waited for it. By waiter, then by holder.
  std::vector<GilWait> GilWaits() const;

  // Returns when at least one thread was in this state with a stack that passes.
  std::vector<Interval> When(HostState state, const std::function<bool(uint32_t)>& passes) const;

 private:
  // A row of native code that was joined to Python.
  struct Joined {
    int64_t end, duration;
    uint32_t stack;
  };
  // Calls visit(row) for each row that counts.
  template <typename Visit>
  void ForEachCounted(const Visit& visit) const;
  template <typename Row, typename Visit>
  static void VisitParts(const Row& sample, const std::vector<Joined>& joined, const Visit& visit);

  const Process* process_;
  std::map<int32_t, std::vector<Interval>> python_;  // when each thread has rows of Python
  std::map<int32_t, std::vector<Joined>> joined_;    // by thread, in the order of their ends
  std::vector<SampledStack> stacks_, native_stacks_;
  HostTimes times_;
  uint64_t count_ = 0;
  uint32_t thread_count_ = 0;
};

}  // namespace gpuprof::analysis
