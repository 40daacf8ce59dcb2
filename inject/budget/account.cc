// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/budget/account.h"

namespace gpuprof::inject::budget {
namespace {

constexpr double kMillion = 1e6;
// What a window is expected to cost before one was measured: each step by half, and 20 ms to begin
// and to end (docs/cost.md: a launch-bound training by 0.43, 10 ms).
constexpr double kFirstStepCost = 0.5;
constexpr double kFirstSwitchNs = 20'000'000;
constexpr uint32_t kFewestSteps = 4;   // of a window
constexpr uint32_t kFewestBehind = 2;  // it
constexpr uint32_t kFewestAfter = 4;
constexpr double kLongestWindowNs = 2'000'000'000;
// A window costs what this part of the run so far has earned, or this time, if it is more.
constexpr double kSpread = 10;
constexpr double kSpreadNs = 1e9;
constexpr uint32_t kFewestOutside = 8;  // before a window begins
constexpr double kOutlier = 4;          // times the median
// A window that has cost so many times what was expected of it, at least at first, ends.
constexpr double kTooDear = 4;
// So does one in which no step ends for a second, and for so many steps' time.
constexpr double kLeastDeadlineNs = 1e9;
constexpr double kMostOfAStep = 20;
// Less detail is tried if fewer steps than this can be recorded, by so many windows.
constexpr double kLeastShare = 0.05;
constexpr double kWindowsToJudge = 4;
// Standard errors of so few windows.
constexpr double kCertain = 3;
constexpr double kAboutTheSame = 1.25;
constexpr double kWithSwitches = 1.25;
// Windows of time, for programs without steps.
constexpr uint64_t kTimeWindowNs = 200'000'000;
// A launch of an H200 cost 1.16 us and makes two records (docs/cost.md).
constexpr double kRecordNs = 600;

double Larger(double a, double b) { return a > b ? a : b; }
double Smaller(double a, double b) { return a < b ? a : b; }

// Returns the square root of x (Newton), of no number below 0: libm is not linked.
double SquareRoot(double x) {
  if (x <= 0) return 0;
  double root = x > 1 ? x : 1;
  for (double next = (root + x / root) / 2; next < root; next = (root + x / root) / 2) root = next;
  return root;
}

// Returns the median of at most 64 of `count` numbers, spread evenly.
double MedianOf(const float* values, uint32_t count) {
  constexpr uint32_t kMost = 64;
  float sorted[kMost];
  const uint32_t used = count < kMost ? count : kMost;
  for (uint32_t i = 0; i < used; ++i) {
    const float value = values[static_cast<uint64_t>(i) * count / used];
    uint32_t at = i;
    for (; at > 0 && sorted[at - 1] > value; --at) sorted[at] = sorted[at - 1];
    sorted[at] = value;
  }
  return used == 0 ? 0 : static_cast<double>(sorted[used / 2]);
}

double SumOf(const float* values, uint32_t count, double most) {
  double sum = 0;
  for (uint32_t i = 0; i < count; ++i) sum += Smaller(static_cast<double>(values[i]), most);
  return sum;
}

}  // namespace

void Mean::Add(double value) { mean += (value - mean) / static_cast<double>(++count); }

void Account::Costs::Add(double of_steps, double of_cost) {
  windows += 1;
  steps += of_steps;
  cost += of_cost;
  squares += of_cost * of_cost;
  products += of_cost * of_steps;
  step_squares += of_steps * of_steps;
}

// The sum of squared distances from the cost in proportion, as windows are independent.
double Account::Costs::Error() const {
  if (windows < 2 || steps == 0) return 0;
  const double of_step = cost / steps;
  const double sum = squares - 2 * of_step * products + of_step * of_step * step_squares;
  return SquareRoot(sum * windows / (windows - 1));
}

double Account::Median() const {
  float recent[kRecent];
  for (uint32_t i = 0; i < recent_count_; ++i) recent[i] = static_cast<float>(recent_[i]);
  return MedianOf(recent, recent_count_);
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

double Account::Spent() const { return Larger(0, costs_.cost + costs_.Error()); }

// Returns what the next window is expected to cost, its error included.
double Account::Expected() const {
  const Settled& settled = Present();
  if (settled.costs.windows == 0) return kFirstSwitchNs + kFirstStepCost * wanted_ * Median();
  const double windows = settled.costs.windows;
  const double step = settled.costs.steps == 0 ? 0 : settled.step_cost / settled.costs.steps;
  const double cost = step * wanted_ + settled.switch_cost / windows;
  return Larger(0, cost) + settled.costs.Error() / windows;
}

// Chooses the steps of the next window: so many that its begin and end are a fifth of its cost, and
// that some ten windows are spread over the run.
void Account::PlanWindow(uint64_t now) {
  const double median = Larger(1, Median());
  double wanted = kFewestSteps;
  const Settled& settled = Present();
  if (settled.costs.windows != 0 && settled.costs.steps != 0) {
    const double step = Larger(settled.step_cost / settled.costs.steps, median / 1000);
    const double others = Larger(0, settled.switch_cost / settled.costs.windows);
    const double spread = Larger(kSpreadNs, static_cast<double>(elapsed_ns(now)) / kSpread);
    wanted = Smaller(4 * others, Rate() * spread - others) / step;
  }
  wanted = Smaller(wanted, Smaller(kLongestWindowNs / median, kMostInside));
  wanted_ = wanted < kFewestSteps ? kFewestSteps : static_cast<uint32_t>(wanted);
  behind_wanted_ = wanted_ / 8 < kFewestBehind ? kFewestBehind : wanted_ / 8;
  after_wanted_ = wanted_ / 8 < kFewestAfter ? kFewestAfter : wanted_ / 8;
}

bool Account::MayBegin(uint64_t now) const {
  // The first few steps of a program are not like the others.
  return recent_count_ >= kFewestOutside && Earned(now) - Spent() >= Expected();
}

void Account::OpenWindow(uint64_t now) {
  phase_ = Phase::kBeginning;
  switch_began_ = window_began_ = now;
  inside_ = behind_ = 0;
  inside_sum_ = waits_ = 0;
  before_ = recent_count_;
  double sum = 0;
  for (uint32_t i = 0; i < before_; ++i) {
    before_ns_[i] = static_cast<float>(recent_[i]);
    sum += Clipped(recent_[i]);
  }
  outside_mean_ = before_ == 0 ? 0 : sum / before_;
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
    inside_ns_[inside_++] = static_cast<float>(duration);
    inside_sum_ += Clipped(duration);
    all_inside_.Add(Clipped(duration));
    const double added = inside_sum_ + waits_ - inside_ * outside_mean_;
    const double first = kFirstSwitchNs + kFirstStepCost * wanted_ * outside_mean_;
    const bool is_dear = added > kTooDear * Larger(Expected(), first);
    if (is_dear && inside_ < wanted_) ++windows_cut_;
    if (!is_dear && inside_ < wanted_) {
      deadline_ = NextDeadline(now);
      return Move::kStay;
    }
    phase_ = Phase::kEnding;
    switch_began_ = now;
    return Move::kEnd;
  }
  if (is_disturbed) {
    if (phase_ == Phase::kAfter) phase_ = Phase::kOutside;
    return Move::kStay;
  }
  if (phase_ == Phase::kAfter) {
    behind_ns_[behind_++] = static_cast<float>(duration);
    if (behind_ > behind_wanted_) AddOutside(duration);
    if (behind_ >= behind_wanted_ + after_wanted_) Settle();
    return Move::kStay;
  }
  if (phase_ != Phase::kOutside) return Move::kStay;
  AddOutside(duration);
  PlanWindow(now);
  if (!MayBegin(now)) return Move::kStay;
  OpenWindow(now);
  return Move::kBegin;
}

uint64_t Account::NextDeadline(uint64_t now) const {
  return now + static_cast<uint64_t>(Larger(kLeastDeadlineNs, kMostOfAStep * outside_mean_));
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
    deadline_ = NextDeadline(now);
  } else if (phase_ == Phase::kEnding) {
    switch_ns_ += took;
    Close(now);
  }
}

void Account::Close(uint64_t now) {
  recorded_ns_ += now - window_began_;
  deadline_ = 0;
  phase_ = Phase::kAfter;
  last_ = now;
}

// The step that was cut is in no sum: what it took is not known.
void Account::Cut(uint64_t now) {
  if (phase_ != Phase::kInside) return;
  ++windows_cut_;
  Close(now);
}

// Adds up what the window cost, as the steps behind it are known now.
void Account::Settle() {
  phase_ = Phase::kOutside;
  const uint32_t after = behind_ - behind_wanted_;
  const float* after_ns = behind_ns_ + behind_wanted_;
  const double most =
      kOutlier * Larger(MedianOf(inside_ns_, inside_),
                        Larger(MedianOf(before_ns_, before_), MedianOf(after_ns, after)));
  const double around =
      (SumOf(before_ns_, before_, most) / before_ + SumOf(after_ns, after, most) / after) / 2;
  const double inside = SumOf(inside_ns_, inside_, most) - inside_ * around;
  const double others = waits_ + SumOf(behind_ns_, behind_wanted_, most) - behind_wanted_ * around;
  costs_.Add(inside_, inside + others);
  Settled& settled = Present();
  settled.costs.Add(inside_, inside + others);
  settled.step_cost += inside;
  settled.switch_cost += others;
  ChooseDetail();
}

// Returns the fullest detail that costs hardly more than the cheapest.
Detail Account::Fullest() const {
  double least = by_detail_[kAll].cost_of_step;
  for (const Settled& settled : by_detail_) least = Smaller(least, settled.cost_of_step);
  for (uint32_t detail = kAll; detail + 1 < kDetails; ++detail) {
    if (by_detail_[detail].cost_of_step <= kAboutTheSame * least)
      return static_cast<Detail>(detail);
  }
  return kGpuOnly;
}

// Tries less detail where the limit permits too few steps, also if the cost is less by its error.
void Account::ChooseDetail() {
  Settled& settled = Present();
  if (is_chosen_ || settled.costs.windows < kWindowsToJudge || settled.costs.steps == 0) return;
  // A long window's begin and end are a fifth of its cost. They depend on no detail.
  settled.cost_of_step = kWithSwitches * Larger(0, settled.step_cost) / settled.costs.steps;
  const double certain =
      settled.cost_of_step - kCertain * settled.costs.Error() / settled.costs.steps;
  if (certain * kLeastShare <= Rate() * outside_mean_) return;
  is_chosen_ = detail_ == kGpuOnly;
  detail_ = is_chosen_ ? Fullest() : static_cast<Detail>(detail_ + 1);
  all_inside_ = Mean();
}

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
    costs_.Add(0, cost);
    Present().costs.Add(0, cost);
    Present().switch_cost += cost;
    phase_ = Phase::kOutside;
  }
  if (is_disturbed || limit_.ppm == 0 || Earned(now) - Spent() < Expected() ||
      now - last_ < kTimeWindowNs / 4)
    return Move::kStay;
  records_before_ = records;
  OpenWindow(now);
  return Move::kBegin;
}

}  // namespace gpuprof::inject::budget
