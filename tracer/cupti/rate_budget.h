// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much of CUPTI's activity becomes rows. Each class may have a limit of rows a second; beyond
// it one launch in N is kept, N a power of two that follows the rate. What is kept is decided by
// the correlation id and the process's seed alone: a call, its kernels, copies and waits are kept
// or left out together, and what is kept at a greater N is a part of what is kept at a smaller one.
// N changes between two ids, of which the second was not seen yet: what comes later of the first,
// in another buffer than its call, is chosen as the call was.
//
// The rate is measured on the records' own clock, by quarters of a second: neither a flush that
// delivers a second's records at once is a burst, nor kernels that come in another buffer than
// their calls, and later. N grows at once, and falls when four seconds would have done with less.
// Counts and sums of rows times N are unbiased.
//
// One thread at a time (the drain's pass).

#pragma once

#include <algorithm>
#include <cstdint>

namespace gpuprof::tracer::cupti {

class RateBudget {
 public:
  // proto::GpuRateClass, less one. Of nodes of graphs no more are kept than of the calls that
  // launch them.
  enum Class : int { kCalls, kNodes, kClasses };
  static constexpr uint32_t kMostLog2 = 16;
  static constexpr uint64_t kWindow = 250'000'000;  // nanoseconds
  // Windows that are looked at, and those that are kept for records that come late.
  static constexpr uint64_t kRecent = 16;
  static constexpr uint64_t kKept = 64;
  // Changes of N that are remembered for what comes late.
  static constexpr uint32_t kSteps = 64;

  // 0: no limit.
  void SetLimit(Class of, uint64_t rows_per_second) { classes_[of].limit = rows_per_second; }
  // Ids begin at the same number in each process: without seeds of their own all would err alike.
  void SetSeed(uint32_t seed);
  bool is_limited() const { return classes_[kCalls].limit != 0 || classes_[kNodes].limit != 0; }

  // Whether a record becomes a row; `time` on CUPTI's clock in nanoseconds. A record of no call has
  // correlation 0.
  bool Keeps(Class of, uint32_t correlation, uint64_t time) {
    return !is_limited() || Chooses(of, correlation, time);
  }

  // Whether one_in() is to change; it does with Adapt, for ids that are greater than all so far.
  bool WantsChange() const;
  void Adapt();

  // Of how many records there is one row: of those to come, and of those of a launch.
  uint32_t one_in(Class of) const { return uint32_t{1} << Log2(of); }
  uint32_t one_in(Class of, uint32_t correlation) const {
    return uint32_t{1} << Log2At(of, correlation);
  }

  uint64_t limit(Class of) const { return classes_[of].limit; }
  uint64_t records(Class of) const { return classes_[of].records; }
  uint64_t left_out(Class of) const { return classes_[of].left_out; }
  uint32_t most_one_in(Class of) const { return uint32_t{1} << classes_[of].most_log2; }

 private:
  struct Window {
    uint64_t number = 0;  // since the clock's zero
    uint64_t seen = 0;
  };
  // From that id on. Ids may begin again at 0.
  struct Step {
    uint32_t from = 0;
    uint32_t log2 = 0;
  };
  struct State {
    uint64_t limit = 0;
    uint32_t log2 = 0;
    uint32_t wanted_log2 = 0;
    uint32_t most_log2 = 0;
    uint32_t without_call = 0;
    uint32_t first_log2 = 0;  // before the oldest step that is remembered
    uint32_t steps_made = 0;
    Step steps[kSteps];     // the newest, each at its number modulo their count
    uint64_t newest = 0;    // number of a window; 0: none yet
    uint64_t too_late = 0;  // one after the other
    Window windows[kKept];
    uint64_t records = 0;
    uint64_t left_out = 0;
  };

  uint32_t Log2(Class of) const {
    return of == kCalls ? classes_[kCalls].log2
                        : std::max(classes_[kCalls].log2, classes_[kNodes].log2);
  }
  uint32_t Log2At(Class of, uint32_t correlation) const {
    if (correlation == 0) return Log2(of);
    const uint32_t of_calls = StepAt(classes_[kCalls], correlation);
    return of == kCalls ? of_calls : std::max(of_calls, StepAt(classes_[kNodes], correlation));
  }
  static uint32_t StepAt(const State& state, uint32_t correlation) {
    return state.steps_made == 0 ? state.first_log2 : FindStep(state, correlation);
  }
  static uint32_t FindStep(const State& state, uint32_t correlation);
  void NoteId(uint32_t correlation);
  bool Chooses(Class of, uint32_t correlation, uint64_t time);
  static void Watch(State* state, uint64_t number);
  static uint32_t Needed(const State& state, uint64_t limit);

  State classes_[kClasses];
  uint32_t seed_ = 0;
  uint32_t newest_id_ = 0;
  uint32_t far_ids_ = 0;  // one after the other
};

}  // namespace gpuprof::tracer::cupti
