// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/marked_captures.h"

#include <link.h>
#include <string.h>
#include <time.h>

#include <atomic>

#include "inject/budget/limited_captures.h"
#include "inject/capture_family.h"
#include "inject/control_thread.h"
#include "inject/lifecycle.h"
#include "inject/ranges/ranges.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/state.h"
#include "inject/text.h"
#include "inject/tracer_object.h"
#include "inject/triggers/triggers.h"
#include "proto/step_names.h"

namespace gpuprof::inject {
namespace {

using proto::NameText;
using ranges::Message;
using RangeText = ranges::Text;

enum Method : uint32_t { kNoMethod, kByRanges, kByFramework, kByFunctions };

constexpr uint32_t kMostChars = 256;

std::atomic<uint32_t> g_method{kNoMethod};
std::atomic<uint64_t> g_steps{0};  // seen so far, or the number that the last one bears
// The number of the capture that is ours to end; 0: none.
std::atomic<uint32_t> g_ours{0};
constexpr uint32_t kWhatever = UINT32_MAX;
constexpr uint64_t kNoStep = UINT64_MAX;
std::atomic<uint32_t> g_began{0};  // ever
std::atomic<uint32_t> g_beginning{0};
// It began where the first step seemed to, before there was any.
std::atomic<uint32_t> g_guessed{0};
// The last wanted step has ended.
std::atomic<uint32_t> g_is_over{0};

// The range that is open: one at a time, the outermost. Its owner is the thread that pushed it,
// told by where its state lies, or nobody where it was started.
struct OpenRange {
  std::atomic<const void*> owner{nullptr};
  RangeText* domain = nullptr;
  uint32_t inside = 0;  // pushed ranges of the domain in it; steps in the framework's range
  std::atomic<uint64_t> id{0};
  uint64_t number = 0;
  uint64_t began_ns = 0;  // of a step
  const char* trigger = nullptr;
  bool is_recorded = false;  // as a range of the framework
};
OpenRange g_open;
constexpr char kStartedRange = 0;

// When the latest optimizer step ended; 0: none has.
std::atomic<uint64_t> g_optimizer_ended_ns{0};

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

// Steps may be followed for triggers alone.
bool MarksBeginCaptures() {
  return g_launch.capture == CaptureMode::kRange || g_launch.capture == CaptureMode::kSteps ||
         g_launch.capture == CaptureMode::kBudget;
}

// Returns the name of a range, to be read at once. Without a name it has no characters.
[[gnu::cold]] NameText NameOf(const Message& message, char (&buffer)[kMostChars]) {
  NameText name;
  name.chars = ranges::CharsOf(message, buffer, sizeof(buffer), &name.bytes);
  return name;
}

NameText NameOf(const RangeText* domain) {
  return domain == nullptr ? NameText{} : NameText{domain->chars, domain->bytes};
}

// Returns whether ranges are the steps of this process. Ranges replace optimizer steps and runs of
// functions until a capture has begun. A capture that began at an optimizer step also ends at one.
[[gnu::cold]] bool CountsRanges() {
  uint32_t known = g_method.load();
  if (known == kByRanges) return true;
  if (known != kNoMethod && g_began.load() != 0) return false;
  if (g_method.compare_exchange_strong(known, kByRanges)) {
    g_steps.store(0);
    if (known != kNoMethod) ForgetSteps();
    return true;
  }
  return known == kByRanges;
}

[[gnu::cold]] bool IsMethod(Method method) {
  uint32_t known = kNoMethod;
  return g_method.compare_exchange_strong(known, method) || known == method;
}

// Returns whether a range begins or ends captures. A step without a number is the next step.
[[gnu::cold]] bool IsMark(NameText name, NameText domain, uint64_t* number) {
  if (name.chars == nullptr) return false;
  if (g_launch.capture == CaptureMode::kRange)
    return proto::IsWantedRange(name, domain, g_launch.range);
  const proto::StepName step = proto::ReadStepName(name, domain, g_launch.range);
  if (!step.is_step || !CountsRanges()) return false;
  *number = step.has_number ? step.number : g_steps.load(std::memory_order_relaxed) + 1;
  g_steps.store(*number, std::memory_order_relaxed);
  return true;
}

[[gnu::cold]] void NoteBegun() {
  // One that has not begun in time has no number yet.
  g_ours.store(IsCapturing() ? g_process.captures.load() : kWhatever);
  g_began.store(1);
}

// `is_over`: no other capture follows.
[[gnu::cold]] void End(const char* trigger, bool is_over) {
  // Another that somebody began meanwhile is not ended.
  const uint32_t ours = g_ours.exchange(0);
  if (ours == 0) return;
  FamilysCaptureEnds(is_over);  // this end may have to wait for the GPU
  if (ours == kWhatever || ours == g_process.captures.load())
    HaveCaptureEnded(trigger, /*has_begun=*/ours != kWhatever);
  FamilysCaptureHasEnded();
}

// Returns whether a capture has begun that is ours to end. One that runs already is somebody
// else's.
[[gnu::cold]] bool Begin(const char* trigger) {
  const FamilyState before = FamilysCaptureBegins();
  const bool has_begun = HaveCaptureBegun(trigger);
  FamilysCaptureHasBegun(has_begun, before);  // before anybody can end it
  if (has_begun) NoteBegun();
  return has_begun;
}

[[gnu::cold]] void EndAt(uint64_t number, const char* trigger) {
  const bool is_steps = g_launch.capture == CaptureMode::kSteps;
  if (g_launch.capture == CaptureMode::kBudget || (is_steps && number < g_launch.last_step)) return;
  if (is_steps && number != kNoStep) g_is_over.store(1);
  // Not where a guess was wrong: then it is still to begin.
  End(trigger, /*is_over=*/is_steps && number != kNoStep);
}

// Begins or ends a window of a limited recording where a step begins.
[[gnu::cold]] void BeginOrEndWindow(const char* trigger) {
  if (g_beginning.exchange(1) != 0) return;
  const bool is_optimizers = trigger == proto::kAtOptimizerStep;
  const bool is_disturbed = g_ours.load() == 0 && IsCapturing();
  const budget::Move move = budget::StepBegins(is_optimizers, is_disturbed);
  if (move == budget::Move::kEnd) End(trigger, /*is_over=*/false);
  if (move == budget::Move::kBegin) budget::ApplyDetail();
  const bool has_moved =
      move == budget::Move::kEnd || (move == budget::Move::kBegin && Begin(trigger));
  if (move != budget::Move::kStay) budget::Moved(has_moved);
  g_beginning.store(0);
}

[[gnu::cold]] void BeginAt(uint64_t number, const char* trigger) {
  if (g_launch.capture == CaptureMode::kBudget) return BeginOrEndWindow(trigger);
  if (number > g_launch.last_step) EndAt(number, trigger);  // the last one has no range of its own
  if (g_ours.load() != 0 || number < g_launch.first_step || number > g_launch.last_step) return;
  if (g_beginning.exchange(1) != 0) return;  // another thread is at it
  Begin(trigger);
  g_beginning.store(0);
}

// One of the same name on another thread, while the first is still being waited for: what it has in
// it would not be recorded.
[[gnu::cold]] void AwaitBeginning() {
  constexpr uint64_t kLimit = 2'000'000'000;
  constexpr timespec kMoment = {0, 100'000};
  const uint64_t until = proto::ReadClockNs(CLOCK_MONOTONIC) + kLimit;
  while (g_beginning.load() != 0 && proto::ReadClockNs(CLOCK_MONOTONIC) < until)
    raw::Call(SYS_nanosleep, raw::Arg(&kMoment), 0);
}

// Handles a step that is told when it has ended: the next one begins.
[[gnu::cold]] void StepEndsAt(uint64_t number, uint64_t began_ns, const char* trigger) {
  if (g_launch.judges_steps) JudgeStep(number, began_ns, Now());
  if (!MarksBeginCaptures()) return;
  g_guessed.store(0);
  EndAt(number, trigger);
  BeginAt(number + 1, trigger);
}

// Makes a range the open one. False: another is open, or this range is not a mark.
[[gnu::cold]] bool Open(const void* owner, NameText name, NameText domain, const char* trigger) {
  uint64_t number = 0;
  if (g_open.owner.load(std::memory_order_relaxed) != nullptr) {
    // To ask about a step would count it.
    if (g_launch.capture == CaptureMode::kRange && g_beginning.load() != 0 &&
        IsMark(name, domain, &number))
      AwaitBeginning();
    return false;
  }
  if (!IsMark(name, domain, &number)) return false;
  const void* none = nullptr;
  if (!g_open.owner.compare_exchange_strong(none, owner)) return false;
  g_open.inside = 0;
  g_open.is_recorded = false;
  g_open.id.store(0);
  g_open.number = number;
  g_open.trigger = trigger;
  // The range bears another number than the step that was taken to have begun.
  if (g_guessed.exchange(0) != 0 && number < g_launch.first_step) {
    EndAt(kNoStep, trigger);
    g_began.store(0);
  }
  if (g_launch.judges_steps) g_open.began_ns = Now();
  if (MarksBeginCaptures()) BeginAt(number, trigger);
  return true;
}

// Does the same for a range of NVTX or ITT.
[[gnu::cold]] bool OpenNamed(const void* owner, RangeText* domain, const Message& message) {
  char buffer[kMostChars];
  const bool is_range = g_launch.capture == CaptureMode::kRange;
  const bool is_open =
      Open(owner, NameOf(message, buffer), NameOf(domain), is_range ? "nvtx" : proto::kAtStepRange);
  if (is_open) g_open.domain = domain;
  return is_open;
}

[[gnu::cold]] void Close() {
  const uint64_t number = g_open.number;
  const char* trigger = g_open.trigger;
  const uint64_t began_ns = g_open.began_ns;
  g_open.owner.store(nullptr);
  if (g_launch.judges_steps) JudgeStep(number, began_ns, Now());
  if (MarksBeginCaptures()) EndAt(number, trigger);
}

// Looks through the libraries only where some have come since the last time.
[[gnu::cold]] bool TorchIsThere() {
  static unsigned long long seen = 0;
  static bool was_there = false;
  if (was_there) return true;  // and was not to be watched yet
  struct Look {
    bool is_new, is_there;
  } look = {false, false};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* const found = static_cast<Look*>(data);
        if (!found->is_new && info->dlpi_adds == seen) return 1;
        found->is_new = true;
        seen = info->dlpi_adds;
        found->is_there = strstr(info->dlpi_name, "libtorch_cpu.so") != nullptr;
        return found->is_there ? 1 : 0;
      },
      &look);
  return was_there = look.is_there;
}

// Those of the framework that are steps, as they nest on this thread.
__thread uint32_t t_framework_steps __attribute__((tls_model("initial-exec"))) = 0;
// The first that was seen; others are steps of somebody else.
struct Marker {
  std::atomic<uint32_t> state{0};  // 1: being written, 2: there
  char name[128];
};
Marker g_marker;

NameText FrameworkDomain() {
  return {proto::kFrameworkDomain, sizeof(proto::kFrameworkDomain) - 1};
}

// Returns whether a framework's range is a step by its own name, and not an optimizer step.
[[gnu::cold]] bool IsStepOfFramework(NameText name) {
  return strncmp(name.chars, proto::kOptimizerStep, sizeof(proto::kOptimizerStep) - 1) != 0 &&
         proto::ReadStepName(name, FrameworkDomain(), g_launch.range).is_step;
}

// The address of a thread's variable is the owner of the thread's framework range.
const void* FrameworkOwner() { return &t_framework_steps; }

// PyTorch does not report the range that begins a capture to the observers of this capture. So the
// range is recorded here.
[[gnu::cold]] void StepOfFrameworkBegins(NameText name) {
  if (g_open.owner.load(std::memory_order_relaxed) == FrameworkOwner()) {
    ++g_open.inside;
    return;
  }
  const bool was_ours = g_ours.load() != 0;
  if (!Open(FrameworkOwner(), name, FrameworkDomain(), proto::kAtStepRange)) return;
  if (was_ours || g_ours.load() == 0) return;
  ranges::Event range;
  range.domain = ranges::Intern(ranges::Ascii(proto::kFrameworkDomain));
  range.message = ranges::Ascii(name.chars);
  g_open.domain = range.domain;
  g_open.is_recorded = ranges::Push(range) != ranges::kNoTracking;
}

[[gnu::cold]] void StepOfFrameworkEnded() {
  if (g_open.owner.load(std::memory_order_relaxed) != FrameworkOwner()) return;
  if (g_open.inside != 0) {
    --g_open.inside;
    return;
  }
  if (g_open.is_recorded) ranges::Pop(g_open.domain);
  Close();
}

[[gnu::cold]] bool IsMarker(const char* name) {
  uint32_t none = 0;
  if (g_marker.state.compare_exchange_strong(none, 1)) {
    Text(g_marker.name, sizeof(g_marker.name)).Add(name);
    g_marker.state.store(2);
  }
  return g_marker.state.load() == 2 && strncmp(name, g_marker.name, sizeof(g_marker.name) - 1) == 0;
}

// Nobody tells where the first step begins: where a program asks for its first batch, or calls its
// optimizer for the first time. Processes that only load or help do neither.
[[gnu::cold]] void FrameworkRangeBegins(const char* name) {
  const NameText text = {name, static_cast<uint32_t>(strlen(name))};
  if (IsStepOfFramework(text)) return StepOfFrameworkBegins(text);
  const bool is_step = proto::IsOptimizerStep(name, g_launch.range);
  if (is_step) ++t_framework_steps;
  if (g_launch.capture != CaptureMode::kSteps || g_launch.first_step > 1 || g_began.load() != 0 ||
      g_steps.load() != 0 || g_method.load() == kByRanges)
    return;
  const bool is_before = strncmp(name, "Optimizer.zero_grad", 19) == 0 ||
                         strncmp(name, "enumerate(DataLoader)", 21) == 0;
  if (!is_step && !is_before) return;
  g_guessed.store(1);
  // Within the optimizer's own call the step has been going on for long.
  BeginAt(g_launch.first_step, is_step ? "optimizer" : proto::kAtFirstStep);
}

[[gnu::cold]] void FrameworkRangeEnded(const char* name) {
  if (IsStepOfFramework({name, static_cast<uint32_t>(strlen(name))})) return StepOfFrameworkEnded();
  if (!proto::IsOptimizerStep(name, g_launch.range)) return;
  if (t_framework_steps != 0 && --t_framework_steps != 0) return;
  if (!IsMarker(name) || !IsMethod(kByFramework)) return;
  const uint64_t ended = g_steps.fetch_add(1) + 1;
  StepEndsAt(ended, g_launch.judges_steps ? g_optimizer_ended_ns.exchange(Now()) : 0,
             proto::kAtOptimizerStep);
}

}  // namespace

void RangePushed(RangeText* domain, const Message& message) noexcept {
  if (g_open.owner.load(std::memory_order_relaxed) == &t_thread) {
    g_open.inside += domain == g_open.domain ? 1 : 0;
  } else {
    OpenNamed(&t_thread, domain, message);
  }
}

void RangePopped(RangeText* domain) noexcept {
  if (g_open.owner.load(std::memory_order_relaxed) != &t_thread || domain != g_open.domain) return;
  if (g_open.inside != 0) {
    --g_open.inside;
  } else {
    Close();
  }
}

void CloseRangeOfEndedThread() noexcept {
  const void* owner = g_open.owner.load(std::memory_order_relaxed);
  if (owner == &t_thread || owner == FrameworkOwner()) Close();
}

bool RangeStarting(RangeText* domain, const Message& message) noexcept {
  return OpenNamed(&kStartedRange, domain, message);
}

// Without a number its end cannot be told: what it began ends at once.
void RangeStartedAs(uint64_t id) noexcept {
  if (id == 0) return Close();
  g_open.id.store(id);
}

void RangeEnded(uint64_t id) noexcept {
  if (id == 0 || g_open.owner.load(std::memory_order_relaxed) != &kStartedRange) return;
  if (g_open.id.compare_exchange_strong(id, 0)) Close();
}

void FrameworkRange(const char* name, bool is_end) noexcept {
  if (!WatchesSteps() || name == nullptr) return;
  is_end ? FrameworkRangeEnded(name) : FrameworkRangeBegins(name);
}

bool AwaitsFunctionSteps() noexcept {
  return g_launch.capture == CaptureMode::kSteps && g_is_over.load() == 0;
}

void FirstFunctionStepBegins() noexcept {
  if (g_launch.capture != CaptureMode::kSteps || g_launch.first_step > 1 || g_began.load() != 0 ||
      g_steps.load() != 0 || g_method.load() != kNoMethod)
    return;
  g_guessed.store(1);
  BeginAt(g_launch.first_step, proto::kAtFirstStep);
}

bool FunctionStepEnded(uint64_t number, uint64_t began_ns) noexcept {
  if (!WatchesSteps() || g_launch.capture == CaptureMode::kBudget || !IsMethod(kByFunctions))
    return false;
  g_steps.store(number);
  StepEndsAt(number, began_ns, proto::kAtFunctionRun);
  return g_began.load() != 0;
}

bool ElementStepEnded(uint64_t number) noexcept {
  if (g_launch.capture != CaptureMode::kSteps || !IsMethod(kByFunctions)) return false;
  g_steps.store(number);
  g_guessed.store(0);
  EndAt(number, proto::kAtElement);
  // The asking for the next one has ended: what begins now has the one behind it.
  const uint64_t next = number + 2;
  if (next <= g_launch.last_step) BeginAt(next, proto::kAtElement);
  return g_began.load() != 0;
}

void NumberedStepEnded(proto::NameText name, uint64_t number, uint64_t began_ns) noexcept {
  if (!WatchesSteps() || g_launch.capture == CaptureMode::kBudget ||
      (g_launch.range[0] != 0 && !proto::IsWantedRange(name, {}, g_launch.range)) ||
      !CountsRanges())
    return;
  g_steps.store(number);
  StepEndsAt(number, began_ns, proto::kAtStepRange);
}

void BeginMarkedCapture(const char* trigger) noexcept { BeginAt(0, trigger); }

void EndMarkedCapture(const char* trigger) noexcept { EndAt(0, trigger); }

bool LookForFrameworkRanges() noexcept {
  if (!WatchesSteps() || g_process.finished.load() != 0) return false;
  if (g_program_started.load(std::memory_order_acquire) == 0) return true;
  // Processes without PyTorch need nothing of ours.
  if (LoadedTracer() == nullptr && !TorchIsThere()) return true;
  return ranges::PrepareRanges() && WatchFrameworkRanges();
}

void TellWhereStepsEnded() noexcept {
  if (g_launch.capture != CaptureMode::kSteps || g_process.captures.load() != 0 ||
      g_method.load() == kNoMethod)
    return;
  char line[256];
  Text text(line, sizeof(line));
  text.Add("nothing was captured: --capture names steps ")
      .Number(static_cast<int64_t>(g_launch.first_step))
      .Add(" to ")
      .Number(static_cast<int64_t>(g_launch.last_step))
      .Add(", and the last step here was ")
      .Number(static_cast<int64_t>(g_steps.load()));
  Say(line);
}

void ForgetMarks() noexcept {
  BeginFamilyOfChild();
  g_beginning.store(0);
  g_guessed.store(0);
  g_is_over.store(0);
  g_method.store(kNoMethod);
  g_steps.store(0);
  g_ours.store(0);
  g_began.store(0);
  g_marker.state.store(0);
  g_optimizer_ended_ns.store(0);
  ForgetTriggers();
  g_open.owner.store(nullptr);
  t_framework_steps = 0;
}

}  // namespace gpuprof::inject
