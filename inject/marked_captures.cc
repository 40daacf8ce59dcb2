// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/marked_captures.h"

#include <dlfcn.h>
#include <string.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/lifecycle.h"
#include "inject/raw_log.h"
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
// Whether the capture that runs is ours to end.
std::atomic<uint32_t> g_is_ours{0};
std::atomic<uint32_t> g_began{0};  // ever

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

// Cuts a number off the end, and what divides it from the words before: "step 12", "iter_12",
// "ProfilerStep#12". False: there is none.
[[gnu::cold]] bool CutNumber(const char* chars, uint32_t* bytes, uint64_t* number) {
  uint32_t end = *bytes;
  while (end != 0 && IsDigit(chars[end - 1])) --end;
  if (end == *bytes || *bytes - end > 18) return false;
  *number = 0;
  for (uint32_t i = end; i < *bytes; ++i)
    *number = *number * 10 + static_cast<uint64_t>(chars[i] - '0');
  while (end != 0 && strchr(" _#:-=[", chars[end - 1]) != nullptr) --end;
  *bytes = end;
  return true;
}

[[gnu::cold]] bool IsStepWord(const char* chars, uint32_t bytes) {
  for (const char* word : kStepWords) {
    if (strlen(word) == bytes && strncasecmp(chars, word, bytes) == 0) return true;
  }
  return false;
}

// Whether it is a step, and the number that it bears; without one the next.
[[gnu::cold]] bool IsStep(const char* chars, uint32_t bytes, const RangeText* domain,
                          uint64_t* number) {
  const bool is_whole = g_launch.range[0] != 0 && IsWantedRange(chars, bytes, domain);
  const bool has_number = !is_whole && CutNumber(chars, &bytes, number);
  if (!has_number) *number = g_steps.load(std::memory_order_relaxed) + 1;
  if (is_whole) return true;
  return g_launch.range[0] != 0 ? IsWantedRange(chars, bytes, domain) : IsStepWord(chars, bytes);
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
  g_is_ours.store(1);
  g_began.store(1);
}

[[gnu::cold]] void EndAt(uint64_t number) {
  const bool is_last = g_launch.capture == CaptureMode::kRange || number >= g_launch.last_step;
  if (is_last && g_is_ours.exchange(0) != 0) HaveCaptureEnded(Trigger());
}

[[gnu::cold]] void BeginAt(uint64_t number) {
  if (number > g_launch.last_step) EndAt(number);  // the last one has no range of its own
  if (g_is_ours.load() != 0 || number < g_launch.first_step || number > g_launch.last_step) return;
  // One that runs already is somebody else's.
  if (HaveCaptureBegun(Trigger())) NoteBegun();
}

// False: another is open, or this is none.
[[gnu::cold]] bool Open(const void* owner, RangeText* domain, const Message& message) {
  uint64_t number = 0;
  if (g_open.owner.load(std::memory_order_relaxed) != nullptr || !IsMark(domain, message, &number))
    return false;
  const void* none = nullptr;
  if (!g_open.owner.compare_exchange_strong(none, owner)) return false;
  g_open.domain = domain;
  g_open.inside = 0;
  g_open.id.store(0);
  g_open.number = number;
  BeginAt(number);
  return true;
}

[[gnu::cold]] void Close() {
  const uint64_t number = g_open.number;
  g_open.owner.store(nullptr);
  EndAt(number);
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

bool RangeStarting(RangeText* domain, const Message& message) noexcept {
  return Open(&kStartedRange, domain, message);
}

// Without a number its end cannot be told.
void RangeStartedAs(uint64_t id) noexcept {
  if (id == 0) return g_open.owner.store(nullptr);
  g_open.id.store(id);
}

void RangeEnded(uint64_t id) noexcept {
  if (id == 0 || g_open.owner.load(std::memory_order_relaxed) != &kStartedRange) return;
  if (g_open.id.compare_exchange_strong(id, 0)) Close();
}

// Called for one thread's optimizer at a time, or nearly: steps of several are counted together.
void FrameworkRangeEnded(const char* name) noexcept {
  if (g_launch.capture != CaptureMode::kSteps || name == nullptr) return;
  const bool is_step = g_launch.range[0] != 0
                           ? strcmp(name, g_launch.range) == 0
                           : strncmp(name, kOptimizer, sizeof(kOptimizer) - 1) == 0;
  if (!is_step || !IsMethod(kByFramework)) return;
  const uint64_t ended = g_steps.fetch_add(1) + 1;
  EndAt(ended);
  BeginAt(ended + 1);
}

bool LookForFrameworkRanges() noexcept {
  if (g_launch.capture != CaptureMode::kSteps || g_process.finished.load() != 0) return false;
  if (g_program_started.load(std::memory_order_acquire) == 0) return true;
  const tracer::Api* api = LoadedTracer();
  if (api == nullptr) {
    // Processes without it need nothing of ours.
    void* torch = dlopen("libtorch_cpu.so", RTLD_LAZY | RTLD_NOLOAD);
    if (torch == nullptr) return true;
    dlclose(torch);
    api = LoadTracer();
    if (api == nullptr) return false;
  }
  if (!api->watch_framework_ranges()) return true;
  // What comes before the first step's end belongs to it.
  const bool is_first = g_launch.first_step <= 1 && g_method.load() == kNoMethod;
  if (is_first && BeginRecording(Trigger()) && StartSession()) NoteBegun();
  return false;
}

void TellWhereStepsEnded() noexcept {
  if (g_launch.capture != CaptureMode::kSteps || g_began.load() != 0 ||
      g_method.load() == kNoMethod)
    return;
  char line[256];
  Text text(line, sizeof(line));
  text.Add("nothing was captured: the steps went up to ")
      .Number(g_steps.load())
      .Add(", and --capture begins with step ")
      .Number(g_launch.first_step);
  Say(line);
}

void ForgetMarks() noexcept {
  g_method.store(kNoMethod);
  g_steps.store(0);
  g_is_ours.store(0);
  g_began.store(0);
  g_open.owner.store(nullptr);
}

}  // namespace gpuprof::inject
