// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/target_profiler.h"

#include <dlfcn.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "proto/ticks.h"
#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint32_t kNamed = 2;
constexpr uint64_t kMillisecond = 1'000'000;
// How long a capture waits for calls of the program before it leaves CUPTI to them.
constexpr uint64_t kCallLimit = 200 * kMillisecond;

// What is noted, with the first capture in which it happened. Whole once `count` is not 0.
struct Noted {
  std::atomic<uint32_t> count{0};
  char name[64] = {};
  uint32_t capture = 0;
  uint64_t after_ns = 0;
};
Noted g_yields;
Noted g_without_callbacks;
std::atomic<uint32_t> g_capture{0};
std::atomic<uint64_t> g_capture_began{0};

uint64_t Monotonic() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

// As CUPTI's own clock on Linux.
uint64_t WallClock() { return proto::ReadClockNs(CLOCK_REALTIME); }

// False: a call of the program does not return.
bool AwaitCalls(const TargetProfilerState& state) {
  const uint64_t until = Monotonic() + kCallLimit;
  while (state.calls.load() != 0) {
    if (Monotonic() > until) return false;
    constexpr timespec kMoment = {0, 100'000};
    syscall(SYS_nanosleep, &kMoment, nullptr);
  }
  return true;
}

uint64_t LibraryOf(const Functions& functions) {
  Dl_info info = {};
  return dladdr(reinterpret_cast<void*>(functions.subscribe), &info) != 0
             ? reinterpret_cast<uint64_t>(info.dli_fbase)
             : 0;
}

// The program may have unloaded what it registered.
bool IsThere(const void* function) {
  Dl_info info = {};
  return function != nullptr && dladdr(function, &info) != 0;
}

void Note(const Host& host, Noted* noted) {
  const uint32_t count = noted->count.load(std::memory_order_relaxed);
  if (count == 0) {
    CopyTargetProfilerName(*host.target_profiler, noted->name);
    noted->capture = g_capture.load();
    noted->after_ns = Monotonic() - g_capture_began.load();
  }
  noted->count.store(count + 1, std::memory_order_release);
}

// "torch.so, a profiler in the program,": who it was, as a sentence begins.
Text& AddWho(const Noted& noted, Text* text) {
  if (noted.name[0] == 0) return text->Add("a profiler in the program");
  return text->AddForeign(noted.name).Add(", a profiler in the program,");
}

void AddMore(uint32_t count, Text* text) {
  if (count <= 1) return;
  text->Add(". The same happened in ").Number(count - 1).Add(" more capture");
  if (count > 2) text->Add("s");
}

}  // namespace

bool TargetProfiler::Take(TargetProfilerState* state, const Functions& functions, char* holder) {
  state_ = nullptr;
  has_settings_ = has_replaced_clock_ = false;
  const uint64_t library = LibraryOf(functions);
  state->capture_library.store(library);
  const uint64_t theirs = state->library.load();
  if (theirs != 0 && theirs != library) return true;
  const bool delivers =
      IsThere(state->buffer_requested.load()) && IsThere(state->buffer_completed.load());
  state->is_captures.store(1);
  if (!AwaitCalls(*state) || state->Records()) {
    CopyTargetProfilerName(*state, holder);
    state->is_captures.store(0);
    return false;
  }
  state->wish.store(TargetProfilerState::kNone);
  state_ = state;
  // What is still in buffers of the program belongs to the program.
  if (delivers && state->buffers_out.load() != 0) functions.flush_all(kFlushForced);
  return true;
}

void TargetProfiler::GiveBack(const Functions& functions) {
  if (state_ == nullptr) return;
  const auto clock = state_->clock.load();
  if (has_replaced_clock_ && IsThere(reinterpret_cast<void*>(clock)))
    functions.register_clock(clock);
  if (has_settings_ && state_->buffer_requested.load() != nullptr)
    functions.register_callbacks(state_->requested, state_->completed);
  has_settings_ = has_replaced_clock_ = false;
  state_->is_captures.store(0);
  state_->wish.store(TargetProfilerState::kNone);
  state_ = nullptr;
}

void TargetProfiler::NoteSettings(const Functions& functions) {
  has_settings_ = true;
  has_replaced_clock_ = state_ != nullptr && functions.register_clock != nullptr &&
                        state_->clock.load() != nullptr &&
                        functions.register_clock(WallClock) == kSuccess;
}

uint64_t TargetProfiler::Time() const { return has_replaced_clock_ ? WallClock() : 0; }

uint8_t TargetProfiler::AllSyncRecords() const {
  return state_ != nullptr && state_->all_sync_records.load() == 1 ? 0 : 1;
}

bool TargetProfiler::HasSubscribed() const {
  return state_ != nullptr && state_->has_subscribed.load() != 0;
}

bool TargetProfiler::HasKind(uint32_t kind) const {
  return state_ != nullptr && (state_->kinds.load() & TargetProfilerState::KindBit(kind)) != 0;
}

bool TargetProfiler::IsWanted() const {
  return state_ != nullptr && state_->wish.load() != TargetProfilerState::kNone;
}

void CopyTargetProfilerName(const TargetProfilerState& state, char* name) {
  name[0] = 0;
  if (state.is_named.load(std::memory_order_acquire) == kNamed)
    memcpy(name, state.name, sizeof(state.name));
}

void BeginCaptureNotes(uint32_t number) {
  g_capture.store(number);
  g_capture_began.store(Monotonic());
}

void NoteYield(const Host& host) {
  Note(host, &g_yields);
  if (g_yields.count.load() != 1) return;
  char line[256];
  Text text(line);
  AddWho(g_yields, &text)
      .Add(" asked CUPTI for GPU activity during a capture. gpuprof leaves CUPTI to it: this ")
      .Add("capture has no GPU activity from here on, the next capture has it again");
  host.say(line);
}

void NoteNoCallbacks(const Host& host) { Note(host, &g_without_callbacks); }

void ForgetTargetProfilerNotes() {
  g_yields.count.store(0);
  g_without_callbacks.count.store(0);
}

const char* YieldNote() {
  static char note[400];
  const uint32_t count = g_yields.count.load(std::memory_order_acquire);
  Text text(note);
  if (count == 0) return note;
  AddWho(g_yields, &text)
      .Add(" asked CUPTI for GPU activity ")
      .Number(g_yields.after_ns / kMillisecond)
      .Add(" ms after capture ")
      .Number(g_yields.capture)
      .Add(" began: from then on that capture has no GPU activity");
  AddMore(count, &text);
  return note;
}

const char* NoCallbacksNote() {
  static char note[500];
  const uint32_t count = g_without_callbacks.count.load(std::memory_order_acquire);
  Text text(note);
  if (count == 0) return note;
  AddWho(g_without_callbacks, &text)
      .Add(" has CUPTI's callbacks. Capture ")
      .Number(g_without_callbacks.capture)
      .Add(" has no call stacks of launches, no names of new streams, no making of CUDA graphs, ")
      .Add("no code of new kernels and no ends of contexts");
  AddMore(count, &text);
  return note;
}

}  // namespace gpuprof::tracer::cupti
