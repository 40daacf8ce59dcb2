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
// The cost of a window is the time that its steps and the `after` steps behind it took, less what
// as many steps took before it. It includes the waits in which the window begins and ends, and what
// the recorder does later for the window. A step counts for at most four times the median. So a
// checkpoint is no cost of the recording.
//
// At most four steps of five are recorded: the others are what the cost is measured by. If the
// limit permits less than one step in twenty, detail is given up instead: see Detail.
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

// A mean and its variance, of numbers that come one by one (Welford 1962).
struct Mean {
  uint64_t count = 0;
  double mean = 0;
  double squares = 0;  // sum of squared distances from the mean

  void Add(double value);
  double Variance() const { return count < 2 ? 0 : squares / static_cast<double>(count - 1); }
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
  double cost_ns() const { return spent_; }
  double cost_error_ns() const;

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

  void AddOutside(uint64_t duration);
  double Clipped(uint64_t duration) const;
  double Median() const;
  double Rate() const;
  double Earned(uint64_t now) const;
  double Expected() const;
  bool MayBegin(uint64_t now) const;
  void PlanWindow();
  void OpenWindow(uint64_t now);
  void Settle();
  void ChooseDetail();
  void Close(uint64_t now);

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
  uint32_t outside_in_row_ = 0;

  // The window that is open or being settled.
  uint32_t wanted_ = 4;  // steps
  uint32_t after_ = 2;   // steps behind it that are compared too
  uint32_t inside_ = 0;  // of them, seen
  uint32_t behind_ = 0;
  double inside_sum_ = 0;
  double behind_sum_ = 0;
  double waits_ = 0;
  uint64_t window_began_ = 0;
  uint64_t switch_began_ = 0;
  double outside_mean_ = 0;  // before the window
  double outside_variance_ = 0;
  uint64_t records_before_ = 0;
  bool is_of_time_ = false;

  // Of the windows with this detail: added time of a step, and of a window's begin and end.
  uint64_t settled_ = 0;
  double step_cost_ = 0;  // sums
  double switch_cost_ = 0;
  uint64_t settled_steps_ = 0;
  double settled_variance_ = 0;

  double spent_ = 0;
  double spent_variance_ = 0;
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
