// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/budget/account.h"

namespace gpuprof::inject::budget {
namespace {

constexpr double kMillion = 1e6;
// What a window is expected to cost before one was measured: each step by half, and 20 ms to begin
// and to end (docs/cost.md: a launch-bound training by 0.43, 10 ms).
constexpr double kFirstStepCost = 0.5;
constexpr double kFirstSwitchNs = 20e6;
constexpr uint32_t kFewestSteps = 4;   // of a window
constexpr uint32_t kFewestBehind = 2;  // it, and as many before the next one
constexpr uint32_t kMostSteps = 1024;
constexpr double kLongestWindowNs = 2e9;
constexpr uint32_t kFewestOutside = 8;  // before a window begins
constexpr double kOutlier = 4;          // times the median
// A window that has cost so many times what was expected of it ends.
constexpr double kTooDear = 4;
constexpr uint64_t kLeastDeadlineNs = 1'000'000'000;
// Detail is given up if fewer steps than this can be recorded, by so many windows.
constexpr double kLeastShare = 0.05;
constexpr uint64_t kWindowsToJudge = 3;
// Windows of time, for programs without steps.
constexpr uint64_t kTimeWindowNs = 200'000'000;
// A launch of an H200 cost 1.16 us and makes two records (docs/cost.md).
constexpr double kRecordNs = 600;

double Larger(double a, double b) { return a > b ? a : b; }

// Returns the square root of x >= 0 (Newton): libm is not linked.
double SquareRoot(double x) {
  if (x <= 0) return 0;
  double root = x > 1 ? x : 1;
  for (double next = (root + x / root) / 2; next < root; next = (root + x / root) / 2) root = next;
  return root;
}

}  // namespace

void Mean::Add(double value) {
  const double distance = value - mean;
  mean += distance / static_cast<double>(++count);
  squares += distance * (value - mean);
}

double Account::Median() const {
  uint64_t sorted[kRecent];
  for (uint32_t i = 0; i < recent_count_; ++i) {
    uint32_t at = i;
    for (; at > 0 && sorted[at - 1] > recent_[i]; --at) sorted[at] = sorted[at - 1];
    sorted[at] = recent_[i];
  }
  return recent_count_ == 0 ? 0 : static_cast<double>(sorted[recent_count_ / 2]);
}

double Account::Clipped(uint64_t duration) const {
  const auto value = static_cast<double>(duration);
  const double most = kOutlier * Median();
  return most > 0 && value > most ? most : value;
}

void Account::AddOutside(uint64_t duration) {
  recent_[recent_next_] = duration;
  recent_next_ = (recent_next_ + 1) % kRecent;
  if (recent_count_ < kRecent) ++recent_count_;
  ++outside_in_row_;
  all_outside_.Add(Clipped(duration));
}

// Returns the part of the time that may be spent. The limit is a part of the time without the
// recording.
double Account::Rate() const {
  const auto ppm = static_cast<double>(limit_.ppm);
  if (limit_.ppm != 0) return ppm / (kMillion + ppm);
  const double step = all_outside_.mean;
  return step <= 0 ? 0 : static_cast<double>(limit_.step_ns) / step;
}

double Account::Earned(uint64_t now) const {
  if (limit_.ppm == 0 && steps_ != 0)
    return static_cast<double>(limit_.step_ns) * static_cast<double>(steps_);
  return static_cast<double>(elapsed_ns(now)) * Rate();
}

// Returns what the next window is expected to cost.
double Account::Expected() const {
  if (settled_ == 0) return kFirstSwitchNs + kFirstStepCost * wanted_ * Median();
  const auto windows = static_cast<double>(settled_);
  const double step = settled_steps_ == 0 ? 0 : step_cost_ / static_cast<double>(settled_steps_);
  return Larger(0, step) * wanted_ + Larger(0, switch_cost_ / windows);
}

// Chooses the steps of the next window: so many that its begin and end are a fifth of its cost.
void Account::PlanWindow() {
  const double median = Larger(1, Median());
  double wanted = kFewestSteps;
  if (settled_ != 0 && settled_steps_ != 0) {
    const double step = Larger(step_cost_ / static_cast<double>(settled_steps_), median / 1000);
    wanted = 4 * Larger(0, switch_cost_ / static_cast<double>(settled_)) / step;
  }
  const double most = kLongestWindowNs / median;
  if (wanted > most) wanted = most;
  if (wanted > kMostSteps) wanted = kMostSteps;
  wanted_ = wanted < kFewestSteps ? kFewestSteps : static_cast<uint32_t>(wanted);
  after_ = wanted_ / 8 < kFewestBehind ? kFewestBehind : wanted_ / 8;
}

bool Account::MayBegin(uint64_t now) const {
  // The first few steps of a program are not like the others.
  const uint32_t needed = windows_ == 0 ? kFewestOutside : after_;
  return outside_in_row_ >= needed && recent_count_ >= kFewestOutside &&
         Earned(now) - Larger(0, spent_) >= Expected();
}

void Account::OpenWindow(uint64_t now) {
  phase_ = Phase::kBeginning;
  switch_began_ = window_began_ = now;
  inside_ = behind_ = 0;
  inside_sum_ = behind_sum_ = waits_ = 0;
  Mean before;
  for (uint32_t i = 0; i < recent_count_; ++i) before.Add(Clipped(recent_[i]));
  outside_mean_ = before.mean;
  outside_variance_ = before.Variance();
}

Move Account::Step(uint64_t now, bool is_disturbed) {
  if (begun_ == 0) begun_ = last_ = now;
  if (last_ == now) return Move::kStay;
  const uint64_t duration = now - last_;
  last_ = now;
  ++steps_;
  // A window of time that is open where steps begin is no measure of theirs.
  if (is_of_time_ && phase_ == Phase::kInside) {
    phase_ = Phase::kEnding;
    switch_began_ = now;
    return Move::kEnd;
  }
  if (is_of_time_ && phase_ == Phase::kAfter) phase_ = Phase::kOutside;
  is_of_time_ = false;
  if (phase_ == Phase::kInside) {
    ++recorded_steps_;
    ++inside_;
    inside_sum_ += Clipped(duration);
    all_inside_.Add(Clipped(duration));
    const double added = inside_sum_ + waits_ - inside_ * outside_mean_;
    const bool is_dear = added > kTooDear * Expected();
    if (is_dear && inside_ < wanted_) ++windows_cut_;
    if (!is_dear && inside_ < wanted_) return Move::kStay;
    phase_ = Phase::kEnding;
    switch_began_ = now;
    return Move::kEnd;
  }
  if (is_disturbed) {
    outside_in_row_ = 0;
    if (phase_ == Phase::kAfter) phase_ = Phase::kOutside;
    return Move::kStay;
  }
  if (phase_ == Phase::kAfter) {
    behind_sum_ += Clipped(duration);
    if (++behind_ >= after_) Settle();
    return Move::kStay;
  }
  if (phase_ != Phase::kOutside) return Move::kStay;
  AddOutside(duration);
  PlanWindow();
  if (!MayBegin(now)) return Move::kStay;
  OpenWindow(now);
  return Move::kBegin;
}

void Account::Moved(uint64_t now, bool has_moved) {
  const uint64_t took = now - switch_began_;
  last_ = now;
  waits_ += static_cast<double>(took);
  if (phase_ == Phase::kBeginning) {
    phase_ = has_moved ? Phase::kInside : Phase::kOutside;
    if (!has_moved) return;
    ++windows_;
    ++windows_by_detail_[detail_];
    switch_ns_ += took;
    const double expected = (inside_ + wanted_) * outside_mean_;
    const double longest = Larger(static_cast<double>(kLeastDeadlineNs), 10 * expected);
    deadline_ = now + static_cast<uint64_t>(longest);
  } else if (phase_ == Phase::kEnding) {
    switch_ns_ += took;
    Close(now);
  }
}

void Account::Close(uint64_t now) {
  recorded_ns_ += now - window_began_;
  deadline_ = 0;
  outside_in_row_ = 0;
  phase_ = Phase::kAfter;
  last_ = now;
}

void Account::Cut(uint64_t now) {
  if (phase_ != Phase::kInside) return;
  ++windows_cut_;
  Close(now);
}

// Adds up what the window cost, as the steps behind it are known now.
void Account::Settle() {
  phase_ = Phase::kOutside;
  const double steps = inside_;
  const double all = steps + behind_;
  const double inside = inside_sum_ - steps * outside_mean_;
  const double others = waits_ + behind_sum_ - behind_ * outside_mean_;
  const double variance = all * outside_variance_ * (1 + all / Larger(1, recent_count_));
  spent_ += inside + others;
  spent_variance_ += variance;
  step_cost_ += inside;
  switch_cost_ += others;
  settled_steps_ += inside_;
  settled_variance_ += variance;
  ++settled_;
  ChooseDetail();
}

// Gives up detail where the limit permits too few steps, also if the cost is less by its error.
void Account::ChooseDetail() {
  if (detail_ + 1 >= kDetails || settled_ < kWindowsToJudge || settled_steps_ == 0) return;
  PlanWindow();
  const double measured = Larger(1, step_cost_ + switch_cost_);
  const double error = 2 * SquareRoot(settled_variance_) / measured;
  const double cost_of_step = Expected() / wanted_ * (1 - error);
  if (cost_of_step * kLeastShare <= Rate() * outside_mean_) return;
  detail_ = static_cast<Detail>(detail_ + 1);
  settled_ = settled_steps_ = 0;
  step_cost_ = switch_cost_ = settled_variance_ = 0;
  all_inside_ = Mean();
}

double Account::cost_error_ns() const { return SquareRoot(spent_variance_); }

Move Account::Time(uint64_t now, bool is_disturbed, uint64_t records) {
  if (begun_ == 0) begun_ = last_ = now;
  is_of_time_ = true;
  if (phase_ == Phase::kInside) {
    if (now - window_began_ < kTimeWindowNs) return Move::kStay;
    phase_ = Phase::kEnding;
    switch_began_ = now;
    return Move::kEnd;
  }
  if (phase_ == Phase::kAfter) {
    const double cost = waits_ + kRecordNs * static_cast<double>(records - records_before_);
    spent_ += cost;
    switch_cost_ += cost;
    ++settled_;
    phase_ = Phase::kOutside;
  }
  const bool is_first = settled_ == 0;
  const double expected = is_first ? kFirstSwitchNs : switch_cost_ / static_cast<double>(settled_);
  if (is_disturbed || limit_.ppm == 0 || Earned(now) - Larger(0, spent_) < expected ||
      now - last_ < kTimeWindowNs / 4)
    return Move::kStay;
  records_before_ = records;
  OpenWindow(now);
  return Move::kBegin;
}

}  // namespace gpuprof::inject::budget
