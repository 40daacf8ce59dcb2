// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/marked_captures.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/lifecycle.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/state.h"
#include "inject/text.h"
#include "inject/tracer_object.h"

namespace gpuprof::inject {
namespace {

using ranges::Message;
using RangeText = ranges::Text;

enum Method : uint32_t { kNoMethod, kByRanges, kByFramework };

constexpr char kOptimizer[] = "Optimizer.step#";
// Of ranges that are steps by themselves, in front of a number or without one.
constexpr const char* kStepWords[] = {
    "step",          "iteration",  "iter",          "train_step",   "trainstep",
    "training_step", "train step", "training step", "ProfilerStep", "train_iteration"};
constexpr uint32_t kMostChars = 256;

std::atomic<uint32_t> g_method{kNoMethod};
std::atomic<uint64_t> g_steps{0};  // seen so far, or the number that the last one bears
// The number of the capture that is ours to end; 0: none.
std::atomic<uint32_t> g_ours{0};
constexpr uint32_t kWhatever = UINT32_MAX;
constexpr uint64_t kNoStep = UINT64_MAX;
std::atomic<uint32_t> g_began{0};  // ever
// Of a capture that children follow: a child that is forked meanwhile is in it.
enum Marked : uint32_t { kNotMarked, kIsMarked, kIsEnding };
std::atomic<uint32_t> g_marked{kNotMarked};
std::atomic<uint32_t> g_beginning{0};
// It began where the first step seemed to, before there was any.
std::atomic<uint32_t> g_guessed{0};

// What forked children see of a process's captures: a page that they share.
struct Family {
  std::atomic<uint32_t> phase;    // begins and ends so far: odd while a capture is under way
  std::atomic<uint32_t> is_over;  // there will be no other
};
std::atomic<Family*> g_family{nullptr};  // whose captures this process tells of
Family* g_parents = nullptr;             // whose captures this process follows
uint32_t g_seen_phase = 0;               // of the parent's, acted upon
std::atomic<bool> g_follows{false};      // the capture that runs is the parent's
uint32_t g_followed = 0;                 // its number here
long g_parent = 0;                       // pid

[[gnu::cold]] void MakeFamily() {
  if (g_family.load() != nullptr) return;
  const long made = raw::Call(SYS_mmap, 0, sizeof(Family), PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (raw::IsError(made)) return;
  auto* const family = reinterpret_cast<Family*>(made);
  family->phase.store(g_follows.load() ? 1 : 0);
  Family* none = nullptr;
  if (!g_family.compare_exchange_strong(none, family)) raw::Call(SYS_munmap, made, sizeof(Family));
}

[[gnu::cold]] void TellFamily(bool is_capturing) {
  Family* family = g_family.load();
  if (family == nullptr) return;
  uint32_t phase = family->phase.load();
  while ((phase % 2 != 0) != is_capturing &&
         !family->phase.compare_exchange_weak(phase, phase + 1)) {}
}

// The range that is open: one at a time, the outermost. Its owner is the thread that pushed it,
// told by where its state lies, or nobody where it was started.
struct OpenRange {
  std::atomic<const void*> owner{nullptr};
  RangeText* domain = nullptr;
  uint32_t inside = 0;  // pushed ranges of the domain in it
  std::atomic<uint64_t> id{0};
  uint64_t number = 0;
};
OpenRange g_open;
constexpr char kStartedRange = 0;

const char* Trigger() { return g_launch.capture == CaptureMode::kRange ? "nvtx" : "steps"; }

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// A name as it is written in the setting, and what stands behind it.
[[gnu::cold]] bool IsNamed(const char* chars, uint32_t bytes, const char* name) {
  const auto length = static_cast<uint32_t>(strlen(name));
  return bytes == length && memcmp(chars, name, length) == 0;
}

// NAME, or NAME@DOMAIN.
[[gnu::cold]] bool IsWantedRange(const char* chars, uint32_t bytes, const RangeText* domain) {
  const char* wanted = g_launch.range;
  if (IsNamed(chars, bytes, wanted)) return true;
  const char* at = strrchr(wanted, '@');
  if (at == nullptr || domain == nullptr) return false;
  return bytes == static_cast<uint32_t>(at - wanted) && memcmp(chars, wanted, bytes) == 0 &&
         IsNamed(domain->chars, domain->bytes, at + 1);
}

// Cuts a number off the end. False: there is none.
[[gnu::cold]] bool CutNumber(const char* chars, uint32_t* bytes, uint64_t* number) {
  uint32_t end = *bytes;
  while (end != 0 && IsDigit(chars[end - 1])) --end;
  if (end == *bytes || *bytes - end > 18) return false;
  *number = 0;
  for (uint32_t i = end; i < *bytes; ++i)
    *number = *number * 10 + static_cast<uint64_t>(chars[i] - '0');
  *bytes = end;
  return true;
}

[[gnu::cold]] bool IsStepName(const char* chars, uint32_t bytes, const RangeText* domain) {
  if (g_launch.range[0] != 0) return IsWantedRange(chars, bytes, domain);
  for (const char* word : kStepWords) {
    if (strlen(word) == bytes && strncasecmp(chars, word, bytes) == 0) return true;
  }
  return false;
}

// Whether it is a step, and the number that it bears: "step 12", "iter_12", "ProfilerStep#12", with
// or without what divides the two. Without a number it is the next.
[[gnu::cold]] bool IsStep(const char* chars, uint32_t bytes, const RangeText* domain,
                          uint64_t* number) {
  *number = g_steps.load(std::memory_order_relaxed) + 1;
  if (IsStepName(chars, bytes, domain)) return true;
  if (!CutNumber(chars, &bytes, number)) return false;
  if (IsStepName(chars, bytes, domain)) return true;
  while (bytes != 0 && strchr(" _#:-=[", chars[bytes - 1]) != nullptr) --bytes;
  return IsStepName(chars, bytes, domain);
}

[[gnu::cold]] bool IsMethod(Method method) {
  uint32_t known = kNoMethod;
  return g_method.compare_exchange_strong(known, method) || known == method;
}

[[gnu::cold]] bool IsMark(RangeText* domain, const Message& message, uint64_t* number) {
  char buffer[kMostChars];
  uint32_t bytes = 0;
  const char* chars = ranges::CharsOf(message, buffer, sizeof(buffer), &bytes);
  if (chars == nullptr) return false;
  if (g_launch.capture == CaptureMode::kRange) return IsWantedRange(chars, bytes, domain);
  if (!IsStep(chars, bytes, domain, number) || !IsMethod(kByRanges)) return false;
  g_steps.store(*number, std::memory_order_relaxed);
  return true;
}

[[gnu::cold]] void NoteBegun() {
  // One that has not begun in time has no number yet.
  g_ours.store(IsCapturing() ? g_process.captures.load() : kWhatever);
  g_began.store(1);
}

[[gnu::cold]] void EndAt(uint64_t number) {
  const bool is_last = g_launch.capture == CaptureMode::kRange || number >= g_launch.last_step;
  if (!is_last) return;
  // Another that somebody began meanwhile is not ended.
  const uint32_t ours = g_ours.exchange(0);
  if (ours == 0) return;
  g_marked.store(kIsEnding);
  TellFamily(false);  // this end may have to wait for the GPU
  // Not where a guess was wrong: then it is still to begin.
  const bool is_over = g_launch.capture == CaptureMode::kSteps && number != kNoStep;
  if (Family* family = g_family.load(); family != nullptr && is_over) family->is_over.store(1);
  if (ours == kWhatever || ours == g_process.captures.load())
    HaveCaptureEnded(Trigger(), /*has_begun=*/ours != kWhatever);
  g_marked.store(kNotMarked);
}

[[gnu::cold]] void BeginAt(uint64_t number, const char* trigger) {
  if (number > g_launch.last_step) EndAt(number);  // the last one has no range of its own
  if (g_ours.load() != 0 || number < g_launch.first_step || number > g_launch.last_step) return;
  if (g_beginning.exchange(1) != 0) return;  // another thread is at it
  MakeFamily();
  const uint32_t before = g_marked.exchange(kIsMarked);
  // One that runs already is somebody else's.
  if (HaveCaptureBegun(trigger)) {
    TellFamily(true);  // before anybody can end it
    NoteBegun();
  } else {
    g_marked.store(before);
  }
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

// False: another is open, or this is none.
[[gnu::cold]] bool Open(const void* owner, RangeText* domain, const Message& message) {
  uint64_t number = 0;
  if (g_open.owner.load(std::memory_order_relaxed) != nullptr) {
    // To ask about a step would count it.
    if (g_launch.capture == CaptureMode::kRange && g_beginning.load() != 0 &&
        IsMark(domain, message, &number))
      AwaitBeginning();
    return false;
  }
  if (!IsMark(domain, message, &number)) return false;
  const void* none = nullptr;
  if (!g_open.owner.compare_exchange_strong(none, owner)) return false;
  g_open.domain = domain;
  g_open.inside = 0;
  g_open.id.store(0);
  g_open.number = number;
  // The range bears another number than the step that was taken to have begun.
  if (g_guessed.exchange(0) != 0 && number < g_launch.first_step) {
    EndAt(kNoStep);
    g_began.store(0);
  }
  BeginAt(number, Trigger());
  return true;
}

[[gnu::cold]] void Close() {
  const uint64_t number = g_open.number;
  g_open.owner.store(nullptr);
  EndAt(number);
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

[[gnu::cold]] bool IsFrameworkStep(const char* name) {
  return g_launch.range[0] != 0 ? strcmp(name, g_launch.range) == 0
                                : strncmp(name, kOptimizer, sizeof(kOptimizer) - 1) == 0;
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
  const bool is_step = IsFrameworkStep(name);
  if (is_step) ++t_framework_steps;
  if (g_launch.first_step > 1 || g_began.load() != 0 || g_steps.load() != 0 ||
      g_method.load() == kByRanges)
    return;
  const bool is_before = strncmp(name, "Optimizer.zero_grad", 19) == 0 ||
                         strncmp(name, "enumerate(DataLoader)", 21) == 0;
  if (!is_step && !is_before) return;
  g_guessed.store(1);
  // Within the optimizer's own call the step has been going on for long.
  BeginAt(g_launch.first_step, is_step ? "optimizer" : Trigger());
}

[[gnu::cold]] void FrameworkRangeEnded(const char* name) {
  if (!IsFrameworkStep(name)) return;
  if (t_framework_steps != 0 && --t_framework_steps != 0) return;
  if (!IsMarker(name) || !IsMethod(kByFramework)) return;
  const uint64_t ended = g_steps.fetch_add(1) + 1;
  g_guessed.store(0);
  EndAt(ended);
  BeginAt(ended + 1, Trigger());
}

}  // namespace

void RangePushed(RangeText* domain, const Message& message) noexcept {
  if (g_open.owner.load(std::memory_order_relaxed) == &t_thread) {
    g_open.inside += domain == g_open.domain ? 1 : 0;
  } else {
    Open(&t_thread, domain, message);
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
  if (g_open.owner.load(std::memory_order_relaxed) == &t_thread) Close();
}

bool RangeStarting(RangeText* domain, const Message& message) noexcept {
  return Open(&kStartedRange, domain, message);
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
  if (g_launch.capture != CaptureMode::kSteps || name == nullptr) return;
  is_end ? FrameworkRangeEnded(name) : FrameworkRangeBegins(name);
}

bool LookForFrameworkRanges() noexcept {
  if (g_launch.capture != CaptureMode::kSteps || g_process.finished.load() != 0) return false;
  if (g_program_started.load(std::memory_order_acquire) == 0) return true;
  // Processes without PyTorch need nothing of ours.
  if (LoadedTracer() == nullptr && !TorchIsThere()) return true;
  return WatchFrameworkRanges();
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

void PrepareFamily() noexcept {
  if (WatchesRanges()) MakeFamily();
}

void ForgetMarks() noexcept {
  // One that could not tell of its own leaves the child whom it follows itself.
  if (Family* family = g_family.exchange(nullptr); family != nullptr) {
    g_parents = family;
    const uint32_t marked = g_marked.load();
    // What ends may have been told of already.
    g_seen_phase = family->phase.load() - (marked == kIsEnding ? 1 : 0);
    g_follows.store(marked != kNotMarked);
    g_followed = 1;  // captures are counted anew
    g_parent = raw::Call(SYS_getppid);
  }
  g_marked.store(g_follows.load() ? kIsMarked : kNotMarked);
  g_beginning.store(0);
  g_guessed.store(0);
  g_method.store(kNoMethod);
  g_steps.store(0);
  g_ours.store(0);
  g_began.store(0);
  g_marker.state.store(0);
  g_open.owner.store(nullptr);
  t_framework_steps = 0;
}

bool HasParentsCaptures() noexcept { return g_parents != nullptr; }

void FollowParent() noexcept {
  if (g_parents == nullptr) return;
  const uint32_t phase = g_parents->phase.load();
  if (phase == g_seen_phase) {
    const bool is_over = phase % 2 == 0 && g_parents->is_over.load() != 0;
    if (is_over || raw::Call(SYS_getppid) != g_parent) g_parents = nullptr;
    return;
  }
  g_seen_phase = phase;
  if (phase % 2 != 0) {
    // It may have been forked between the capture's begin and the word of it.
    const bool is_in_it = g_follows.load() && IsCapturing();
    MakeFamily();
    const uint32_t before = g_marked.exchange(kIsMarked);
    // One that runs already is its own, or somebody else's.
    g_follows.store(is_in_it || BeginCapture("parent"));
    g_followed = g_process.captures.load();
    g_follows.load() ? TellFamily(true) : g_marked.store(before);
  } else if (g_follows.exchange(false)) {
    g_marked.store(kIsEnding);
    TellFamily(false);
    // Another that somebody began meanwhile is not ended.
    if (g_followed == g_process.captures.load()) StopCapture("parent");
    g_marked.store(kNotMarked);
  }
}

}  // namespace gpuprof::inject
