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

enum class Way : uint8_t {
  kAsks,    // records, or sets what a capture sets too
  kLetsGo,  // ends what the program has
  kPasses,  // neither
};

// What a function changes in TargetProfilerState.
enum class Effect : uint8_t {
  kNone,
  kSubscribes,
  kUnsubscribes,
  kRegistersBuffers,
  kRegistersClock,
  kTellsTime,
  kEnables,
  kDisables,
  kDisablesPart,  // one context or one call: the kind may be enabled for others
  kFlushes,
  kChoosesSyncRecords,
  kFinalizes,
};

// CUpti_ActivityKind, or which argument names the kind.
constexpr uint8_t kDriver = 4, kRuntime = 5, kFirst = 254, kSecond = 255;

struct Function {
  Way way;
  Effect effect;
  uint8_t kind;
  char name[45];
};

// A call of the program under way.
class Call {
 public:
  Call(const Function& function, const void* caller) {
    TargetProfilerState& state = g_target_profiler;
    const CuptiFunction found = FindCuptiFunction(function.name, caller, t_depth != 0);
    function_ = found.function;
    const uint64_t kept = state.library.load();
    const uint64_t known = kept != 0 ? kept : state.capture_library.load();
    // The libcupti of a stub is not known: there is one libcupti as a rule.
    is_kept = found.library == 0 || known == 0 || found.library == known;
    is_counted_ = is_kept && function.way != Way::kPasses && t_depth == 0 && t_thread.tool == 0;
    ++t_depth;
    if (is_kept && function.way == Way::kAsks) {
      NameAsker(caller);
      if (found.library != 0) state.library.store(found.library);
    }
    if (is_counted_) BeginCall(function.way == Way::kAsks);
    finds_capture = is_kept && state.is_captures.load() != 0;
  }
  ~Call() {
    --t_depth;
    if (is_counted_) g_target_profiler.calls.fetch_sub(1);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // Calls the real function, which has four arguments at most, all of them numbers or pointers.
  int operator()(uint64_t a, uint64_t b, uint64_t c, uint64_t d) const {
    if (function_ == nullptr) return kNotInitialized;
    return reinterpret_cast<int (*)(uint64_t, uint64_t, uint64_t, uint64_t)>(function_)(a, b, c, d);
  }

  bool is_kept;        // false: another libcupti, which TargetProfilerState knows nothing of
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

int RegisterBuffers(const Call& call, uint64_t requested, uint64_t completed) {
  TargetProfilerState& state = g_target_profiler;
  if (requested == 0 || completed == 0) return call(requested, completed, 0, 0);
  void* const old_requested = state.buffer_requested.exchange(reinterpret_cast<void*>(requested));
  void* const old_completed = state.buffer_completed.exchange(reinterpret_cast<void*>(completed));
  const int result =
      call(reinterpret_cast<uint64_t>(Requested), reinterpret_cast<uint64_t>(Completed), 0, 0);
  if (result == kSuccess) return result;
  state.buffer_requested.store(old_requested);
  state.buffer_completed.store(old_completed);
  return result;
}

// What the program gets while a capture has CUPTI, without a call; kNoAnswer: the real function's
// result.
constexpr int kNoAnswer = -1;
int AnswerInCapture(Effect effect, uint64_t bit, uint64_t argument) {
  const TargetProfilerState& state = g_target_profiler;
  switch (effect) {
    case Effect::kUnsubscribes:
      // A handle of a subscription that is over may be the capture's by now.
      return state.has_subscribed.load() == 0 ? kInvalidParameter : kNoAnswer;
    case Effect::kDisables:
    case Effect::kDisablesPart:
      // The capture has enabled the kind for itself: for the program the kind is off already.
      return (state.kinds.load() & bit) == 0 ? kSuccess : kNoAnswer;
    case Effect::kTellsTime: {
      // The capture has replaced the program's clock.
      const auto clock = state.clock.load();
      if (clock == nullptr || argument == 0) return kNoAnswer;
      *reinterpret_cast<uint64_t*>(argument) = clock();
      return kSuccess;
    }
    case Effect::kFinalizes:
      // The capture could not leave CUPTI: its calls may be under way.
      return kMultipleSubscribersNotSupported;
    default:
      return kNoAnswer;
  }
}

// The real function has succeeded.
void Note(Effect effect, uint64_t bit, uint64_t argument) {
  TargetProfilerState& state = g_target_profiler;
  switch (effect) {
    case Effect::kSubscribes:
      return state.has_subscribed.store(1);
    case Effect::kUnsubscribes:
      state.has_subscribed.store(0);
      return state.is_unfetched.store(0);
    case Effect::kRegistersClock:
      return state.clock.store(reinterpret_cast<uint64_t (*)()>(argument));
    case Effect::kEnables:
      state.is_unfetched.store(1);
      state.kinds.fetch_or(bit);
      return;
    case Effect::kDisables:
      state.kinds.fetch_and(~bit);
      return;
    case Effect::kFlushes:
      // A session ends when its records are flushed after its kinds were disabled.
      if (state.kinds.load() == 0) state.is_unfetched.store(0);
      return;
    case Effect::kChoosesSyncRecords:
      return state.all_sync_records.store(argument != 0 ? 2 : 1);
    case Effect::kFinalizes:
      return ForgetSession();
    default:
      return;
  }
}

// Every hook is this.
[[gnu::noinline]] int Run(const Function& function, const void* caller, uint64_t a = 0,
                          uint64_t b = 0, uint64_t c = 0, uint64_t d = 0) {
  const Call call(function, caller);
  if (!call.is_kept) return call(a, b, c, d);
  const uint64_t kind = function.kind == kFirst ? a : function.kind == kSecond ? b : function.kind;
  const uint64_t bit = TargetProfilerState::KindBit(static_cast<uint32_t>(kind));
  if (call.finds_capture) {
    if (const int answer = AnswerInCapture(function.effect, bit, a); answer != kNoAnswer)
      return answer;
  }
  if (function.effect == Effect::kRegistersBuffers) return RegisterBuffers(call, a, b);
  const int result = call(a, b, c, d);
  if (result == kSuccess) Note(function.effect, bit, a);
  return result;
}

uint64_t Number(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

}  // namespace

constinit TargetProfilerState g_target_profiler = {.requested = Requested, .completed = Completed};

void ForgetCuptiCalls() {
  g_target_profiler.is_captures.store(0);
  g_target_profiler.wish.store(TargetProfilerState::kNone);
  g_target_profiler.calls.store(t_depth != 0 ? 1 : 0);
}

}  // namespace gpuprof::inject

using namespace gpuprof::inject;

#define GPUPROF_CALLER __builtin_extract_return_addr(__builtin_return_address(0))
#define GPUPROF_CUPTI(name, way, effect, kind, parameters, ...)                    \
  GPUPROF_EXPORT int name parameters {                                             \
    static constexpr Function kFunction = {Way::way, Effect::effect, kind, #name}; \
    return Run(kFunction, GPUPROF_CALLER __VA_OPT__(, ) __VA_ARGS__);              \
  }

extern "C" {

GPUPROF_CUPTI(cuptiSubscribe, kAsks, kSubscribes, 0,
              (void** subscriber, void* callback, void* user), Number(subscriber), Number(callback),
              Number(user))
GPUPROF_CUPTI(cuptiUnsubscribe, kLetsGo, kUnsubscribes, 0, (void* subscriber), Number(subscriber))
GPUPROF_CUPTI(cuptiFinalize, kAsks, kFinalizes, 0, (void))

// Subscribers of the second interface get on with each other as a rule. Where they do not, a
// capture leaves CUPTI.
GPUPROF_EXPORT int cuptiSubscribe_v2(void** subscriber, void* callback, void* user,
                                     void* parameters) {
  static constexpr Function kBeside = {Way::kLetsGo, Effect::kSubscribes, 0, "cuptiSubscribe_v2"};
  static constexpr Function kAlone = {Way::kAsks, Effect::kSubscribes, 0, "cuptiSubscribe_v2"};
  const int result = Run(kBeside, GPUPROF_CALLER, Number(subscriber), Number(callback),
                         Number(user), Number(parameters));
  const bool finds_capture = g_target_profiler.is_captures.load() != 0;
  if (result != kMultipleSubscribersNotSupported || !finds_capture) return result;
  return Run(kAlone, GPUPROF_CALLER, Number(subscriber), Number(callback), Number(user),
             Number(parameters));
}

GPUPROF_CUPTI(cuptiActivityRegisterCallbacks, kAsks, kRegistersBuffers, 0,
              (void* requested, void* completed), Number(requested), Number(completed))
GPUPROF_CUPTI(cuptiActivityRegisterTimestampCallback, kAsks, kRegistersClock, 0, (void* clock),
              Number(clock))
GPUPROF_CUPTI(cuptiGetTimestamp, kPasses, kTellsTime, 0, (uint64_t * ns), Number(ns))

GPUPROF_CUPTI(cuptiActivityEnable, kAsks, kEnables, kFirst, (uint32_t kind), kind)
GPUPROF_CUPTI(cuptiActivityEnableAndDump, kAsks, kEnables, kFirst, (uint32_t kind), kind)
GPUPROF_CUPTI(cuptiActivityEnableContext, kAsks, kEnables, kSecond, (void* context, uint32_t kind),
              Number(context), kind)
GPUPROF_CUPTI(cuptiActivityDisable, kLetsGo, kDisables, kFirst, (uint32_t kind), kind)
GPUPROF_CUPTI(cuptiActivityDisableContext, kLetsGo, kDisablesPart, kSecond,
              (void* context, uint32_t kind), Number(context), kind)
// Calls that are chosen one by one are the kind's until the kind is disabled.
GPUPROF_EXPORT int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable) {
  static constexpr Function kOn = {Way::kAsks, Effect::kEnables, kRuntime,
                                   "cuptiActivityEnableRuntimeApi"};
  static constexpr Function kOff = {Way::kLetsGo, Effect::kDisablesPart, kRuntime,
                                    "cuptiActivityEnableRuntimeApi"};
  return Run(enable != 0 ? kOn : kOff, GPUPROF_CALLER, id, enable);
}
GPUPROF_EXPORT int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable) {
  static constexpr Function kOn = {Way::kAsks, Effect::kEnables, kDriver,
                                   "cuptiActivityEnableDriverApi"};
  static constexpr Function kOff = {Way::kLetsGo, Effect::kDisablesPart, kDriver,
                                    "cuptiActivityEnableDriverApi"};
  return Run(enable != 0 ? kOn : kOff, GPUPROF_CALLER, id, enable);
}

GPUPROF_CUPTI(cuptiActivityFlushAll, kPasses, kFlushes, 0, (uint32_t flags), flags)
GPUPROF_CUPTI(cuptiActivityFlush, kPasses, kFlushes, 0,
              (void* context, uint32_t stream, uint32_t flags), Number(context), stream, flags)

// Settings of the whole library.
GPUPROF_CUPTI(cuptiActivityEnableAllSyncRecords, kAsks, kChoosesSyncRecords, 0, (uint8_t enable),
              enable)
GPUPROF_CUPTI(cuptiSetThreadIdType, kAsks, kNone, 0, (uint32_t type), type)
GPUPROF_CUPTI(cuptiActivitySetAttribute, kAsks, kNone, 0,
              (uint32_t attribute, size_t* size, void* value), attribute, Number(size),
              Number(value))
GPUPROF_CUPTI(cuptiActivityEnableCudaEventDeviceTimestamps, kAsks, kNone, 0, (uint8_t enable),
              enable)
GPUPROF_CUPTI(cuptiActivityConfigureUnifiedMemoryCounter, kAsks, kNone, 0,
              (void* settings, uint32_t count), Number(settings), count)

}  // extern "C"
