// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/budget/limited_captures.h"

#include <time.h>

#include <atomic>

#include "inject/capture_family.h"
#include "inject/lifecycle.h"
#include "inject/settings.h"
#include "inject/state.h"

namespace gpuprof::inject::budget {
namespace {

constexpr uint64_t kMillisecond = 1'000'000;
// Steps that a program has begin sooner.
constexpr uint64_t kTimeForSteps = 10'000 * kMillisecond;
constexpr uint64_t kLook = 50 * kMillisecond;
constexpr char kTrigger[] = "budget";
// As in trace.proto's BudgetUnit.
enum Unit : uint32_t { kUnknown, kRangeSteps, kOptimizerSteps, kTime };

constinit Account g_account;
constinit tracer::BudgetFacts g_facts = {};
bool g_is_limited = false;
// One at a time: a step on a thread of the program, or the control thread.
std::atomic<uint32_t> g_is_in_use{0};
std::atomic<uint32_t> g_has_steps{0};
uint64_t g_looked_first = 0;
uint32_t g_all_sources = 0;
uint32_t g_all_stacks = 0;

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

class InUse {
 public:
  InUse() noexcept : is_mine_(g_is_in_use.exchange(1, std::memory_order_acquire) == 0) {}
  ~InUse() noexcept {
    if (is_mine_) g_is_in_use.store(0, std::memory_order_release);
  }
  explicit operator bool() const noexcept { return is_mine_; }

 private:
  bool is_mine_;
};

uint64_t ReadNumber(const char** text) {
  uint64_t value = 0;
  for (; **text >= '0' && **text <= '9' && value < 1'000'000'000'000; ++*text)
    value = value * 10 + static_cast<uint64_t>(**text - '0');
  return value;
}

uint64_t Whole(double value) { return value <= 0 ? 0 : static_cast<uint64_t>(value); }

void TellFacts(uint64_t now, Unit unit) {
  const auto set = [](std::atomic<uint64_t>* fact, uint64_t value) {
    fact->store(value, std::memory_order_relaxed);
  };
  set(&g_facts.unit, unit);
  set(&g_facts.elapsed_ns, g_account.elapsed_ns(now));
  set(&g_facts.windows, g_account.windows());
  set(&g_facts.steps, g_account.steps());
  set(&g_facts.recorded_steps, g_account.recorded_steps());
  set(&g_facts.recorded_ns, g_account.recorded_ns());
  g_facts.cost_ns.store(static_cast<int64_t>(g_account.cost_ns()), std::memory_order_relaxed);
  set(&g_facts.switch_ns, g_account.switch_ns());
  set(&g_facts.step_outside_ns, Whole(g_account.outside_ns()));
  set(&g_facts.step_inside_ns, Whole(g_account.inside_ns()));
  set(&g_facts.detail, g_account.detail());
  set(&g_facts.windows_cut, g_account.windows_cut());
}

// Children that were forked record in these windows too.
bool BeginWindow() {
  ApplyDetail();
  const FamilyState before = FamilysCaptureBegins();
  const bool has_begun = BeginCapture(kTrigger);
  FamilysCaptureHasBegun(has_begun, before);
  return has_begun;
}

void EndWindow() {
  FamilysCaptureEnds(/*is_over=*/false);
  StopCapture(kTrigger);
  FamilysCaptureHasEnded();
}

// Costs more than the others, and changes with each window alone.
void TellWindows() {
  g_facts.cost_error_ns.store(Whole(g_account.cost_error_ns()), std::memory_order_relaxed);
  for (uint32_t detail = kAll; detail < kDetails; ++detail)
    g_facts.windows_by_detail[detail].store(
        g_account.windows_by_detail(static_cast<Detail>(detail)), std::memory_order_relaxed);
}

}  // namespace

bool ReadLimit(const char* text) noexcept {
  if (text == nullptr || *text == 0) return true;
  const char* p = text;
  const uint64_t value = ReadNumber(&p);
  const auto ends = [&](const char* end) { return __builtin_strcmp(p, end) == 0; };
  Limit limit;
  if (ends("ppm")) limit.ppm = value;
  if (ends("%")) limit.ppm = value * 10'000;
  if (ends("ns")) limit.step_ns = value;
  if (ends("us")) limit.step_ns = value * 1'000;
  if (ends("ms")) limit.step_ns = value * 1'000'000;
  if (limit.ppm > 1'000'000 || (limit.ppm == 0 && limit.step_ns == 0)) return false;
  g_account.SetLimit(limit);
  g_facts.limit_ppm.store(limit.ppm);
  g_facts.limit_step_ns.store(limit.step_ns);
  g_is_limited = true;
  return true;
}

bool IsLimited() noexcept { return g_is_limited; }

const tracer::BudgetFacts* Facts() noexcept { return g_is_limited ? &g_facts : nullptr; }

Move StepBegins(bool is_optimizers, bool is_disturbed) noexcept {
  const InUse mine;
  if (!mine) return Move::kStay;
  g_has_steps.store(1, std::memory_order_relaxed);
  const uint64_t now = Now();
  const Move move = g_account.Step(now, is_disturbed);
  TellFacts(now, is_optimizers ? kOptimizerSteps : kRangeSteps);
  return move;
}

void Moved(bool has_moved) noexcept {
  g_account.Moved(Now(), has_moved);
  TellWindows();
}

void ApplyDetail() noexcept {
  constexpr uint32_t kGpu = proto::kSourceCuda | proto::kSourceUnifiedMemory | proto::kSourceNvtx |
                            proto::kSourceItt | proto::kSourceNccl;
  if (g_all_sources == 0) {
    g_all_sources = g_settings.sources;
    g_all_stacks = g_settings.stack_depth;
  }
  const Detail detail = g_account.detail();
  constexpr uint32_t kKept[kDetails] = {~uint32_t{0}, kGpu | proto::kSourceOps, kGpu};
  g_settings.sources = g_all_sources & kKept[detail];
  g_settings.stack_depth = g_process.stack_depth = detail == kAll ? g_all_stacks : 0;
}

uint64_t LookAfterWindows(uint64_t now) noexcept {
  if (!g_is_limited) return 0;
  if (g_looked_first == 0) g_looked_first = now;
  const InUse mine;
  if (!mine) return now + kLook;
  if (const uint64_t deadline = g_account.Deadline(); deadline != 0 && now >= deadline) {
    EndWindow();
    g_account.Cut(Now());
    TellWindows();
  }
  if (g_has_steps.load(std::memory_order_relaxed) != 0 || now < g_looked_first + kTimeForSteps)
    return now + 4 * kLook;
  const bool is_disturbed = IsCapturing() && g_account.Deadline() == 0;
  const tracer::Api* tracer = g_process.tracer;
  const uint64_t records = tracer != nullptr ? tracer->records_written() : 0;
  const Move move = g_account.Time(now, is_disturbed, records);
  if (move != Move::kStay) {
    if (move == Move::kEnd) EndWindow();
    const bool has_moved = move == Move::kEnd || BeginWindow();
    g_account.Moved(Now(), has_moved);
    TellWindows();
  }
  TellFacts(Now(), kTime);
  return now + kLook;
}

void ForgetWindows() noexcept {
  if (!g_is_limited) return;
  const Limit limit = g_account.limit();
  g_account = Account();
  g_account.SetLimit(limit);
  g_is_in_use.store(0);
  g_has_steps.store(0);
  g_looked_first = 0;
  TellFacts(0, kUnknown);
  TellWindows();
}

}  // namespace gpuprof::inject::budget
