// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/tensorflow/function_steps.h"

#include <string.h>

#include <atomic>

#include "inject/marked_captures.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/tensorflow/level.h"
#include "inject/tensorflow/library.h"
#include "inject/tensorflow/recorder.h"

namespace gpuprof::inject::tensorflow {
namespace {

struct Word {
  const char* chars;
  uint32_t bytes;
};

// Runs of the functions of one word on one thread. The thread alone writes, others read the time.
struct Runs {
  std::atomic<const void*> thread{nullptr};  // told by where its state lies
  uint64_t hash = 0;
  std::atomic<uint64_t> total_ns{0};
  uint64_t count = 0;
  bool gives_results = false;
  bool is_open = false;  // its last run has given no result yet
  uint64_t began_ns = 0;
};
constexpr uint32_t kMostRuns = 64;
Runs g_runs[kMostRuns];

// The one whose runs began a capture: from then on it counts, whatever takes longer.
std::atomic<Runs*> g_chosen{nullptr};
std::atomic<uint32_t> g_has_functions{0};
// Where a thread's last run belongs.
__thread Runs* t_last __attribute__((tls_model("initial-exec"))) = nullptr;

bool Begins(Word text, const char* prefix) {
  const size_t length = strlen(prefix);
  return text.bytes >= length && memcmp(text.chars, prefix, length) == 0;
}

// Returns what follows `key` in the values of a mark, up to the next value.
Word ValueOf(const NameParts& parts, const char* key) {
  const size_t length = strlen(key);
  const void* at =
      parts.values == nullptr ? nullptr : memmem(parts.values, parts.value_bytes, key, length);
  if (at == nullptr) return {nullptr, 0};
  const char* value = static_cast<const char*>(at) + length;
  const auto left = static_cast<size_t>(parts.values + parts.value_bytes - value);
  const auto* end = static_cast<const char*>(memchr(value, ',', left));
  return {value, static_cast<uint32_t>(end == nullptr ? left : end - value)};
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Returns "train_step" of "__inference_train_step_96".
Word WordOfFunction(Word name) {
  for (const char* prefix : {"__inference_", "__forward_", "__backward_"}) {
    if (!Begins(name, prefix)) continue;
    name.chars += strlen(prefix);
    name.bytes -= static_cast<uint32_t>(strlen(prefix));
    break;
  }
  uint32_t end = name.bytes;
  while (end != 0 && IsDigit(name.chars[end - 1])) --end;
  if (end > 1 && end != name.bytes && name.chars[end - 1] == '_') name.bytes = end - 1;
  return name;
}

uint64_t HashOf(Word word) {
  uint64_t hash = 0xcbf29ce484222325;
  for (uint32_t i = 0; i < word.bytes; ++i)
    hash = (hash ^ static_cast<unsigned char>(word.chars[i])) * 0x100000001b3;
  return hash | 1;
}

// Returns null if there is no room.
Runs* RunsOf(uint64_t hash) {
  for (Runs& runs : g_runs) {
    const void* owner = runs.thread.load(std::memory_order_relaxed);
    if (owner == &t_thread && runs.hash == hash) return &runs;
    if (owner != nullptr || !runs.thread.compare_exchange_strong(owner, &t_thread)) continue;
    runs.hash = hash;
    return &runs;
  }
  return nullptr;
}

bool TakesMost(const Runs& runs) {
  if (Runs* chosen = g_chosen.load(); chosen != nullptr) return chosen == &runs;
  const uint64_t total = runs.total_ns.load(std::memory_order_relaxed);
  for (const Runs& other : g_runs)
    if (other.total_ns.load(std::memory_order_relaxed) > total) return false;
  return true;
}

void StepEnded(Runs* runs) {
  ++runs->count;
  if (!TakesMost(*runs)) return;
  if (FunctionStepEnded(runs->count, runs->began_ns)) g_chosen.store(runs);
}

// A loop may ask for its first element before its function first runs.
void ElementTaken() {
  constexpr uint64_t kElements = 2;  // no word's hash
  if (g_has_functions.load(std::memory_order_relaxed) != 0 || g_launch.range[0] != 0) return;
  Runs* asked = RunsOf(kElements);
  if (asked == nullptr || ++asked->count < 2) return;
  if (Runs* chosen = g_chosen.load(); chosen != nullptr && chosen != asked) return;
  if (ElementStepEnded(asked->count - 1)) g_chosen.store(asked);
}

void RunEnded(Word function, const TraceMe& mark) {
  g_has_functions.store(1, std::memory_order_relaxed);
  const Word word = WordOfFunction(function);
  if (g_launch.range[0] != 0 &&
      !proto::IsNamed({word.chars, word.bytes}, static_cast<const char*>(g_launch.range)))
    return;
  Runs* runs = RunsOf(HashOf(word));
  if (runs == nullptr) return;
  t_last = runs;
  const int64_t length = mark.end_ns - mark.start_ns;
  if (length > 0) runs->total_ns.fetch_add(static_cast<uint64_t>(length));
  runs->began_ns = proto::ReadClockNs(CLOCK_MONOTONIC) - static_cast<uint64_t>(length);
  runs->is_open = runs->gives_results;
  if (!runs->is_open) StepEnded(runs);
}

// The program looks into the container that a run gave.
void ResultTaken() {
  Runs* runs = t_last;
  if (runs == nullptr) return;
  runs->gives_results = true;
  if (!runs->is_open) return;
  runs->is_open = false;
  StepEnded(runs);
}

void NumberedEnded(const TraceMe& mark, const NameParts& parts, Word number) {
  uint64_t value = 0;
  constexpr uint32_t kMostDigits = 18;
  if (number.bytes == 0 || number.bytes > kMostDigits) return;
  for (uint32_t i = 0; i < number.bytes; ++i) {
    if (!IsDigit(number.chars[i])) return;
    value = value * 10 + static_cast<uint64_t>(number.chars[i] - '0');
  }
  const int64_t length = mark.end_ns - mark.start_ns;
  NumberedStepEnded({mark.name, parts.head_bytes}, value,
                    proto::ReadClockNs(CLOCK_MONOTONIC) - static_cast<uint64_t>(length));
}

}  // namespace

bool WantsFunctionSteps() noexcept {
  return (g_settings.sources & proto::kSourceOps) != 0 && AwaitsFunctionSteps();
}

void CountMark(const TraceMe& mark) noexcept {
  if (mark.start_ns <= 0 || mark.end_ns < mark.start_ns) return;
  const NameParts parts = SplitName(mark.name, mark.name_bytes, proto::kMaxPayloadBytes);
  if (parts.values == nullptr) return;
  if (!Begins({mark.name, parts.head_bytes}, "EagerExecute")) {
    const Word number = ValueOf(parts, "step_num=");
    if (number.bytes != 0) NumberedEnded(mark, parts, number);
    return;
  }
  // Costs are learned before the capture, too.
  if (WarmsUp() && !Recording(proto::kSourceOps)) NoteMark(mark.name, parts);
  const Word name = ValueOf(parts, "eager_op=");
  if (name.bytes == 0) return;
  const Word is_function = ValueOf(parts, "is_func=");
  if (is_function.bytes == 1 && is_function.chars[0] == '1') return RunEnded(name, mark);
  if (Begins(name, "Optional")) return ResultTaken();
  if (Begins(name, "IteratorGetNext")) return ElementTaken();
  if (Begins(name, "MakeIterator")) FirstFunctionStepBegins();
}

bool LookForFunctionSteps() noexcept {
  if (!WantsFunctionSteps() || g_process.finished.load() != 0) {
    MarksAreWanted();  // no longer
    return false;
  }
  // What a mark needs is there before the capture begins.
  if (Level() != nullptr || (LookForLibrary() && PrepareRecorder())) MarksAreWanted();
  return true;
}

void ForgetFunctionSteps() noexcept {
  for (Runs& runs : g_runs) {
    runs.thread.store(nullptr);
    runs.total_ns.store(0);
    runs.hash = runs.count = runs.began_ns = 0;
    runs.gives_results = runs.is_open = false;
  }
  g_chosen.store(nullptr);
  g_has_functions.store(0);
  t_last = nullptr;
}

}  // namespace gpuprof::inject::tensorflow
