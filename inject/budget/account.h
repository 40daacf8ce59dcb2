// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Decides which steps of a program are recorded, so that the recording costs no more than the user
// permits (GPUPROF_BUDGET). The cost is measured in the program itself: steps in windows of the
// recording are compared with the steps around them, which are not recorded.
//
// The account earns with the time that passes, and pays for each window. A window begins once the
// account holds what it is expected to cost. So the cost stays below the limit at any time, if the
// expectation holds. What a window cost more is earned before the next one begins.
//
// The cost of a window is the time that its steps and a few steps behind it took, less what as many
// steps took around: the mean of the steps before and of those after. So it includes the waits in
// which the window begins and ends, and what the recorder does later for the window. A step counts
// for four times the greatest median of these parts at most. So a checkpoint does not count as a
// cost. Steps follow each other in slow and fast times, so the error of the cost is judged by the
// differences between windows. The account pays for the error too.
//
// At most four steps of five are recorded: the others are what the cost is measured by. If the
// limit permits less than one step in twenty, less detail is tried: see Detail. The fullest detail
// stays that costs hardly more than the cheapest.
//
// Pure: reads no clock, allocates nothing. Times are nanoseconds of any clock that never goes back.
// One thread at a time.

#pragma once

#include <cstdint>

namespace gpuprof::inject::budget {

// One of the two is not 0.
struct Limit {
  uint64_t ppm = 0;      // parts of a million of the time
  uint64_t step_ns = 0;  // for each step
};

// What the windows record, as in trace.proto's BudgetDetail.
enum Detail : uint32_t { kAll, kOperations, kGpuOnly, kDetails };

enum class Move { kStay, kBegin, kEnd };

// A mean of numbers that come one by one.
struct Mean {
  uint64_t count = 0;
  double mean = 0;

  void Add(double value);
};

class Account {
 public:
  void SetLimit(const Limit& limit) { limit_ = limit; }

  // A step has ended and the next one begins. Returns what the caller is to do before that.
  // `is_disturbed`: somebody else's capture records. After kBegin and kEnd, Moved() follows.
  Move Step(uint64_t now, bool is_disturbed);
  // The window has begun or ended. `has_moved`: false: it could not.
  void Moved(uint64_t now, bool has_moved);

  // The same for a process without steps. A window begins or ends at any time; its cost is an
  // estimate. `records`: all that were recorded so far.
  Move Time(uint64_t now, bool is_disturbed, uint64_t records);

  // Returns when an open window has lasted so long that it must be ended; 0: none is open. Call
  // Cut() after it has been ended so.
  uint64_t Deadline() const { return deadline_; }
  void Cut(uint64_t now);

  // Returns what the windows cost so far. Windows that are not followed by steps yet are not in it.
  double cost_ns() const { return costs_.cost; }
  double cost_error_ns() const { return costs_.Error(); }

  const Limit& limit() const { return limit_; }
  Detail detail() const { return detail_; }
  uint64_t windows() const { return windows_; }
  uint64_t windows_by_detail(Detail detail) const { return windows_by_detail_[detail]; }
  uint64_t windows_cut() const { return windows_cut_; }
  uint64_t steps() const { return steps_; }
  uint64_t recorded_steps() const { return recorded_steps_; }
  uint64_t recorded_ns() const { return recorded_ns_; }
  uint64_t switch_ns() const { return switch_ns_; }
  uint64_t elapsed_ns(uint64_t now) const { return begun_ == 0 ? 0 : now - begun_; }
  // Mean of a step outside windows, and inside windows with this detail, outliers cut.
  double outside_ns() const { return all_outside_.mean; }
  double inside_ns() const { return all_inside_.mean; }

 private:
  enum class Phase { kOutside, kBeginning, kInside, kEnding, kAfter };
  static constexpr uint32_t kRecent = 32;
  static constexpr uint32_t kMostInside = 256;
  static constexpr uint32_t kMostBehind = 64;

  // Costs of windows with n steps each, and how they differ from a cost in proportion to n.
  struct Costs {
    double windows = 0, steps = 0, cost = 0;
    double squares = 0, products = 0, step_squares = 0;

    void Add(double of_steps, double of_cost);
    double Error() const;  // standard error of `cost`
  };
  // What the windows with one detail cost.
  struct Settled {
    Costs costs;
    double step_cost = 0;     // what the steps took more
    double switch_cost = 0;   // begin, end, and what the steps behind took more
    double cost_of_step = 0;  // as it was judged, all together
  };

  Settled& Present() { return by_detail_[detail_]; }
  const Settled& Present() const { return by_detail_[detail_]; }
  Detail Fullest() const;
  void AddOutside(uint64_t duration);
  double Clipped(uint64_t duration) const;
  double Spent() const;
  double Median() const;
  double Rate() const;
  double Earned(uint64_t now) const;
  double Expected() const;
  bool MayBegin(uint64_t now) const;
  void PlanWindow(uint64_t now);
  void OpenWindow(uint64_t now);
  void Settle();
  void ChooseDetail();
  void Close(uint64_t now);
  uint64_t NextDeadline(uint64_t now) const;

  Limit limit_;
  Phase phase_ = Phase::kOutside;
  Detail detail_ = kAll;
  uint64_t begun_ = 0;  // when the first step began, or time was looked at first
  uint64_t last_ = 0;   // when this step began
  uint64_t deadline_ = 0;

  // Durations of the latest steps outside windows, a ring.
  uint64_t recent_[kRecent] = {};
  uint32_t recent_count_ = 0;
  uint32_t recent_next_ = 0;

  // The window that is open or being settled.
  uint32_t wanted_ = 4;         // steps
  uint32_t behind_wanted_ = 2;  // steps behind it that count for it
  uint32_t after_wanted_ = 4;   // and those after, with which they are compared
  uint32_t inside_ = 0;         // of them, seen
  uint32_t behind_ = 0;
  float inside_ns_[kMostInside] = {};
  float behind_ns_[2 * kMostBehind] = {};
  double inside_sum_ = 0;
  double waits_ = 0;
  uint64_t window_began_ = 0;
  uint64_t switch_began_ = 0;
  double outside_mean_ = 0;  // before the window
  float before_ns_[kRecent] = {};
  uint32_t before_ = 0;
  uint64_t records_before_ = 0;
  bool is_of_time_ = false;

  Settled by_detail_[kDetails];
  bool is_chosen_ = false;  // the detail stays

  Costs costs_;
  Mean all_outside_, all_inside_;
  uint64_t windows_ = 0;
  uint64_t windows_by_detail_[kDetails] = {};
  uint64_t windows_cut_ = 0;
  uint64_t steps_ = 0;
  uint64_t recorded_steps_ = 0;
  uint64_t recorded_ns_ = 0;
  uint64_t switch_ns_ = 0;
};

}  // namespace gpuprof::inject::budget
