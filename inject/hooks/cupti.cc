// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Any thread of the program. gpuprof's own calls do not come here: the tracer has its functions
// from libcupti itself. Calls of a program that has its functions from dlsym with libcupti's handle
// do not come here either. CUPTI calls none of the functions itself.

#include "inject/hooks/cupti.h"

#include <time.h>

#include "inject/control_thread.h"
#include "inject/cupti_functions.h"
#include "inject/hook_list.h"
#include "inject/raw_syscall.h"
#include "inject/state.h"
#include "inject/text.h"
#include "proto/ticks.h"

namespace gpuprof::inject {

namespace {

using tracer::TargetProfilerState;

// How deep the thread is in calls of these functions: a stub of a framework leads back here.
__thread uint32_t t_depth __attribute__((tls_model("initial-exec")));

// The thread that waits may have what the capture's end needs: a lock of CUPTI's inside a callback,
// the loader's lock inside a constructor.
constexpr uint64_t kPatience = 1'000'000'000;

// CUptiResult.
constexpr int kSuccess = 0;
constexpr int kInvalidParameter = 1;
constexpr int kNotInitialized = 15;
constexpr int kMultipleSubscribersNotSupported = 39;
// CUpti_ActivityKind.
constexpr uint32_t kDriver = 4, kRuntime = 5;

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

// Keeps the file name of the library that asks.
void NameAsker(const void* caller) {
  static std::atomic<const void*> last{nullptr};
  TargetProfilerState& state = g_target_profiler;
  if (last.exchange(caller) == caller) return;
  uint32_t is_named = state.is_named.load();
  if (is_named == 1 || !state.is_named.compare_exchange_strong(is_named, 1)) return;
  CopyObjectName(caller, state.name, sizeof(state.name));
  state.is_named.store(2);
}

// Counts a call of the program that changes CUPTI. `asks`: waits before until no capture has CUPTI.
void BeginCall(bool asks) {
  TargetProfilerState& state = g_target_profiler;
  const uint64_t until = Now() + kPatience;
  for (;;) {
    state.calls.fetch_add(1);
    // A child made behind our back has nobody who could answer.
    if (!asks || state.is_captures.load() == 0 || g_process.pid == 0) return;
    if (state.wish.load() == TargetProfilerState::kInVain) return;
    if (Now() > until) return state.wish.store(TargetProfilerState::kInVain);
    state.calls.fetch_sub(1);
    state.wish.store(TargetProfilerState::kWanted);
    RequestTick();
    constexpr timespec kMoment = {0, 100'000};
    raw::Call(SYS_nanosleep, raw::Arg(&kMoment), 0);
  }
}

enum class Way : uint32_t {
  kAsks,    // records, or sets what a capture sets too
  kLetsGo,  // ends what the program has
  kPasses,  // neither
};

// A call of the program under way.
class Call {
 public:
  [[gnu::noinline]] Call(const char* name, const void* caller, Way way) {
    TargetProfilerState& state = g_target_profiler;
    const CuptiFunction found = FindCuptiFunction(name, caller, t_depth != 0);
    function_ = found.function;
    const uint64_t kept = state.library.load();
    const uint64_t known = kept != 0 ? kept : state.capture_library.load();
    // The libcupti of a stub is not known: there is one libcupti as a rule.
    is_kept = found.library == 0 || known == 0 || found.library == known;
    is_counted_ = is_kept && way != Way::kPasses && t_depth == 0 && t_thread.tool == 0;
    ++t_depth;
    if (is_kept && way == Way::kAsks) {
      NameAsker(caller);
      if (found.library != 0) state.library.store(found.library);
    }
    if (is_counted_) BeginCall(way == Way::kAsks);
    finds_capture = is_kept && state.is_captures.load() != 0;
  }
  [[gnu::noinline]] ~Call() {
    --t_depth;
    if (is_counted_) g_target_profiler.calls.fetch_sub(1);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Calls the real function.
  template <typename... Arguments>
  int operator()(Arguments... arguments) const {
    if (function_ == nullptr) return kNotInitialized;
    return reinterpret_cast<int (*)(Arguments...)>(function_)(arguments...);
  }
  // Whether TargetProfilerState has to know of what was done.
  bool Keeps(int result) const { return result == kSuccess && is_kept; }

  bool is_kept;        // false: another libcupti, which is not kept
  bool finds_capture;  // a capture has CUPTI

 private:
  void* function_;
  bool is_counted_;
};

// Buffers come and go inside CUPTI, on its threads and the program's.
void Requested(uint8_t** buffer, size_t* size, size_t* most_records) {
  TargetProfilerState& state = g_target_profiler;
  const auto requested =
      reinterpret_cast<void (*)(uint8_t**, size_t*, size_t*)>(state.buffer_requested.load());
  *buffer = nullptr;
  *size = *most_records = 0;
  if (requested != nullptr) requested(buffer, size, most_records);
  if (*buffer != nullptr) state.buffers_out.fetch_add(1);
}

void Completed(void* context, uint32_t stream, uint8_t* buffer, size_t size, size_t valid) {
  TargetProfilerState& state = g_target_profiler;
  const auto take_back = state.take_back.load();
  if (take_back != nullptr && take_back(buffer, valid)) return;
  uint32_t out = state.buffers_out.load();
  while (out != 0 && !state.buffers_out.compare_exchange_weak(out, out - 1)) {}
  const auto completed = reinterpret_cast<void (*)(void*, uint32_t, uint8_t*, size_t, size_t)>(
      state.buffer_completed.load());
  if (completed != nullptr) completed(context, stream, buffer, size, valid);
}

int NoteEnabled(const Call& call, uint32_t kind, int result) {
  if (!call.Keeps(result)) return result;
  g_target_profiler.is_unfetched.store(1);
  g_target_profiler.kinds.fetch_or(TargetProfilerState::KindBit(kind));
  return result;
}

// A capture has enabled the kind for itself: for the program the kind is off already.
bool IsOffAlready(const Call& call, uint32_t kind) {
  return call.finds_capture &&
         (g_target_profiler.kinds.load() & TargetProfilerState::KindBit(kind)) == 0;
}

// A session ends when its records are flushed after its kinds were disabled.
int NoteFlushed(int result) {
  if (g_target_profiler.kinds.load() == 0) g_target_profiler.is_unfetched.store(0);
  return result;
}

// CUPTI's end: nothing outlives it.
void ForgetSession() {
  TargetProfilerState& state = g_target_profiler;
  state.kinds.store(0);
  state.is_unfetched.store(0);
  state.buffers_out.store(0);
  state.has_subscribed.store(0);
  state.buffer_requested.store(nullptr);
  state.buffer_completed.store(nullptr);
  state.clock.store(nullptr);
  state.all_sync_records.store(0);
  state.library.store(0);
}

}  // namespace

constinit TargetProfilerState g_target_profiler = {.requested = Requested, .completed = Completed};

void ForgetCuptiCalls() {
  g_target_profiler.is_captures.store(0);
  g_target_profiler.wish.store(TargetProfilerState::kNone);
  g_target_profiler.calls.store(t_depth != 0 ? 1 : 0);
}

}  // namespace gpuprof::inject

using namespace gpuprof::inject;

#define GPUPROF_CALL(name, way) \
  const Call call(name, __builtin_extract_return_addr(__builtin_return_address(0)), way)
// Settings of the whole library.
#define GPUPROF_SETTING(name, parameters, arguments) \
  GPUPROF_EXPORT int name parameters {               \
    GPUPROF_CALL(#name, Way::kAsks);                 \
    return call arguments;                           \
  }

extern "C" {

GPUPROF_EXPORT int cuptiSubscribe(void** subscriber, void* callback, void* user) {
  GPUPROF_CALL("cuptiSubscribe", Way::kAsks);
  const int result = call(subscriber, callback, user);
  if (call.Keeps(result)) g_target_profiler.has_subscribed.store(1);
  return result;
}

// Subscribers of the second interface get on with each other as a rule. Where they do not, a
// capture leaves CUPTI.
GPUPROF_EXPORT int cuptiSubscribe_v2(void** subscriber, void* callback, void* user,
                                     void* parameters) {
  int result = kSuccess;
  constexpr Way kWays[] = {Way::kLetsGo, Way::kAsks};
  for (const Way way : kWays) {
    GPUPROF_CALL("cuptiSubscribe_v2", way);
    result = call(subscriber, callback, user, parameters);
    if (call.Keeps(result)) g_target_profiler.has_subscribed.store(1);
    if (result != kMultipleSubscribersNotSupported || !call.finds_capture) break;
  }
  return result;
}

// A handle of a subscription that is over may be the capture's by now.
GPUPROF_EXPORT int cuptiUnsubscribe(void* subscriber) {
  GPUPROF_CALL("cuptiUnsubscribe", Way::kLetsGo);
  TargetProfilerState& state = g_target_profiler;
  if (call.finds_capture && state.has_subscribed.load() == 0) return kInvalidParameter;
  const int result = call(subscriber);
  if (!call.Keeps(result)) return result;
  state.has_subscribed.store(0);
  state.is_unfetched.store(0);
  return result;
}

GPUPROF_EXPORT int cuptiActivityRegisterCallbacks(void* requested, void* completed) {
  GPUPROF_CALL("cuptiActivityRegisterCallbacks", Way::kAsks);
  if (!call.is_kept || requested == nullptr || completed == nullptr)
    return call(requested, completed);
  TargetProfilerState& state = g_target_profiler;
  void* const old_requested = state.buffer_requested.exchange(requested);
  void* const old_completed = state.buffer_completed.exchange(completed);
  const int result = call(&Requested, &Completed);
  if (result == kSuccess) return result;
  state.buffer_requested.store(old_requested);
  state.buffer_completed.store(old_completed);
  return result;
}

GPUPROF_EXPORT int cuptiActivityRegisterTimestampCallback(uint64_t (*clock)()) {
  GPUPROF_CALL("cuptiActivityRegisterTimestampCallback", Way::kAsks);
  const int result = call(clock);
  if (call.Keeps(result)) g_target_profiler.clock.store(clock);
  return result;
}

// A capture has replaced the program's clock.
GPUPROF_EXPORT int cuptiGetTimestamp(uint64_t* ns) {
  GPUPROF_CALL("cuptiGetTimestamp", Way::kPasses);
  const auto clock = g_target_profiler.clock.load();
  if (!call.finds_capture || clock == nullptr || ns == nullptr) return call(ns);
  *ns = clock();
  return kSuccess;
}

GPUPROF_EXPORT int cuptiActivityEnable(uint32_t kind) {
  GPUPROF_CALL("cuptiActivityEnable", Way::kAsks);
  return NoteEnabled(call, kind, call(kind));
}

GPUPROF_EXPORT int cuptiActivityEnableAndDump(uint32_t kind) {
  GPUPROF_CALL("cuptiActivityEnableAndDump", Way::kAsks);
  return NoteEnabled(call, kind, call(kind));
}

GPUPROF_EXPORT int cuptiActivityEnableContext(void* context, uint32_t kind) {
  GPUPROF_CALL("cuptiActivityEnableContext", Way::kAsks);
  return NoteEnabled(call, kind, call(context, kind));
}

GPUPROF_EXPORT int cuptiActivityDisable(uint32_t kind) {
  GPUPROF_CALL("cuptiActivityDisable", Way::kLetsGo);
  if (IsOffAlready(call, kind)) return kSuccess;
  const int result = call(kind);
  if (call.Keeps(result)) g_target_profiler.kinds.fetch_and(~TargetProfilerState::KindBit(kind));
  return result;
}

// Other contexts may have the kind yet.
GPUPROF_EXPORT int cuptiActivityDisableContext(void* context, uint32_t kind) {
  GPUPROF_CALL("cuptiActivityDisableContext", Way::kLetsGo);
  return IsOffAlready(call, kind) ? kSuccess : call(context, kind);
}

// Calls that are chosen one by one are the kind's until the kind is disabled.
GPUPROF_EXPORT int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable) {
  GPUPROF_CALL("cuptiActivityEnableRuntimeApi", enable != 0 ? Way::kAsks : Way::kLetsGo);
  if (enable != 0) return NoteEnabled(call, kRuntime, call(id, enable));
  return IsOffAlready(call, kRuntime) ? kSuccess : call(id, enable);
}

GPUPROF_EXPORT int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable) {
  GPUPROF_CALL("cuptiActivityEnableDriverApi", enable != 0 ? Way::kAsks : Way::kLetsGo);
  if (enable != 0) return NoteEnabled(call, kDriver, call(id, enable));
  return IsOffAlready(call, kDriver) ? kSuccess : call(id, enable);
}

GPUPROF_EXPORT int cuptiActivityFlushAll(uint32_t flags) {
  GPUPROF_CALL("cuptiActivityFlushAll", Way::kPasses);
  return NoteFlushed(call(flags));
}

GPUPROF_EXPORT int cuptiActivityFlush(void* context, uint32_t stream, uint32_t flags) {
  GPUPROF_CALL("cuptiActivityFlush", Way::kPasses);
  return NoteFlushed(call(context, stream, flags));
}

GPUPROF_EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t enable) {
  GPUPROF_CALL("cuptiActivityEnableAllSyncRecords", Way::kAsks);
  const int result = call(enable);
  if (call.Keeps(result)) g_target_profiler.all_sync_records.store(1 + (enable != 0));
  return result;
}

GPUPROF_SETTING(cuptiSetThreadIdType, (int type), (type))
GPUPROF_SETTING(cuptiActivitySetAttribute, (int attribute, size_t* size, void* value),
                (attribute, size, value))
GPUPROF_SETTING(cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t enable), (enable))
GPUPROF_SETTING(cuptiActivityConfigureUnifiedMemoryCounter, (void* settings, uint32_t count),
                (settings, count))

// Only a capture that could not leave CUPTI is found: its calls may be under way.
GPUPROF_EXPORT int cuptiFinalize(void) {
  GPUPROF_CALL("cuptiFinalize", Way::kAsks);
  if (call.finds_capture) return kMultipleSubscribersNotSupported;
  const int result = call();
  if (call.Keeps(result)) ForgetSession();
  return result;
}

}  // extern "C"
