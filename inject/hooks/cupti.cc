// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Our own calls do not come through here: the tracer has its functions from libcupti itself. Nor do
// those of a program that had them of dlsym with libcupti's handle, as frameworks that load it
// have. CUPTI calls none of these itself.

#include "inject/hooks/cupti.h"

#include <time.h>

#include "inject/cupti_functions.h"
#include "inject/hook_list.h"
#include "inject/lifecycle.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/text.h"
#include "proto/ticks.h"

namespace gpuprof::inject {

tracer::ProgramsCupti g_programs_cupti;

namespace {

using tracer::CuptiOwner;

// How deep the thread is in calls of these functions: by CUPTI's callbacks, or a stub's. And whose
// CUPTI was when the last one began.
__thread uint32_t t_depth __attribute__((tls_model("initial-exec")));
__thread CuptiOwner t_owner __attribute__((tls_model("initial-exec")));
__thread bool t_start_is_due __attribute__((tls_model("initial-exec")));

// How long a call waits for a change of the owner.
enum class Patience : uint32_t {
  // Called while a buffer is delivered, on a thread of CUPTI's that the change may wait for.
  kNone,
  // The change may need something that the waiting thread has: a lock, the loader's.
  kShort,
  // Delivery of buffers, which the change does meanwhile: no thread can hold what that needs.
  kLong,
};
constexpr uint64_t kPatience[] = {0, 200'000'000, 10'000'000'000};
// Of a profiler that turns its kinds on one after the other, and does not mind if some are refused.
constexpr uint64_t kSessionBegins = 1'000'000'000;

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

// CUptiResult.
constexpr int kSuccess = 0;
constexpr int kInvalidParameter = 1;
constexpr int kNotInitialized = 15;
constexpr int kMultipleSubscribersNotSupported = 39;
// CUpti_CallbackDomain.
constexpr uint32_t kDriverApi = 1, kRuntimeApi = 2, kResource = 3;

void NameHolder(const void* caller) {
  tracer::ProgramsCupti& program = g_programs_cupti;
  uint32_t not_named = 0;
  if (!program.is_named.compare_exchange_strong(not_named, 1)) return;
  CopyObjectName(caller, program.name, sizeof(program.name));
  program.is_named.store(2, std::memory_order_release);
}

// Once: it asks again for each kind, and for each of its own captures.
void SayRefused(const void* caller) {
  NameHolder(caller);
  if (g_programs_cupti.was_refused.exchange(1) != 0) return;
  char name[64], line[512];
  CopyObjectName(caller, name, sizeof(name));
  Text(line, sizeof(line))
      .Add(name[0] != 0 ? name : "another profiler")
      .Add(" profiles this program too, and CUPTI serves one profiler at a time: what it begins ")
      .Add("while gpuprof records GPU activity has none ")
      .Add("(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED). Leave cuda out of --trace, or ")
      .Add("capture at another time (--capture=...), and it has");
  Say(line);
}

// Counts a call of the program's, which whoever changes the owner waits for, and says whose CUPTI
// is: kChanging only without patience.
CuptiOwner EnterCall(Patience patience) {
  tracer::ProgramsCupti& program = g_programs_cupti;
  uint64_t began = 0;
  for (;;) {
    program.calls.fetch_add(1);
    const CuptiOwner owner = program.owner.load();
    if (owner != CuptiOwner::kChanging || patience == Patience::kNone) return owner;
    // Part of what is waited for, or of the change itself.
    if (t_depth != 0) return t_owner;
    if (program.changer.load() == raw::GetTid()) return CuptiOwner::kProgram;
    const uint64_t now = Now();
    if (began == 0) began = now;
    if (program.waited_in_vain.load() != 0) return CuptiOwner::kCapture;
    if (now - began > kPatience[static_cast<uint32_t>(patience)]) {
      program.waited_in_vain.store(1);
      return CuptiOwner::kCapture;
    }
    program.calls.fetch_sub(1);
    constexpr timespec kMoment = {0, 50'000};
    raw::Call(SYS_nanosleep, raw::Arg(&kMoment), 0);
  }
}

// A call of the program's under way. Not inlined, as there are many kinds of them.
class AnyCall {
 public:
  [[gnu::noinline]] AnyCall(const char* name, const void* caller, Patience patience)
      : caller_(caller), outer_owner_(t_owner) {
    const CuptiFunction found = FindCuptiFunction(name, caller, t_depth != 0);
    function_ = found.function;
    library_ = found.library;
    // A stub's libcupti is not known: there is one as a rule.
    const uint64_t ours = g_programs_cupti.our_library.load();
    is_of_another = library_ != 0 && ours != 0 && library_ != ours;
    owner = EnterCall(is_of_another ? Patience::kNone : patience);
    is_kept_out = owner == CuptiOwner::kCapture;
    t_owner = owner;
    ++t_depth;
  }
  [[gnu::noinline]] ~AnyCall() {
    g_programs_cupti.calls.fetch_sub(1);
    --t_depth;
    t_owner = outer_owner_;
    if (t_depth != 0 || !t_start_is_due) return;
    t_start_is_due = false;
    StartGpu();
  }
  AnyCall(const AnyCall&) = delete;
  AnyCall& operator=(const AnyCall&) = delete;

  explicit operator bool() const { return function_ != nullptr; }
  [[gnu::noinline]] int Refuse() const {
    SayRefused(caller_);
    return kMultipleSubscribersNotSupported;
  }
  // Something of the program's state is about to change.
  [[gnu::noinline]] void Note() const {
    NameHolder(caller_);
    if (library_ != 0) g_programs_cupti.library.store(library_);
  }

  bool is_of_another;  // another libcupti, which no capture uses: none of what follows is of it
  CuptiOwner owner;
  bool is_kept_out;

 protected:
  void* function_;

 private:
  const void* caller_;
  CuptiOwner outer_owner_;
  uint64_t library_;
};

template <typename Function>
class Call : public AnyCall {
 public:
  using AnyCall::AnyCall;

  template <typename... Arguments>
  int original(Arguments... arguments) const {
    return reinterpret_cast<Function>(function_)(arguments...);
  }
};

void Keep() { g_programs_cupti.kept.fetch_add(1); }

void ForgetSubscription() {
  tracer::ProgramsCupti& program = g_programs_cupti;
  program.has_subscribed.store(0);
  program.known_as.store(nullptr);
  program.subscriber.store(nullptr);
  program.resources.Clear();
  for (auto& calls : program.called_back) calls.Clear();
  program.others.Clear();
  program.domains.Clear();
}

// Nothing that was set outlives CUPTI's end.
void ForgetAll() {
  ForgetSubscription();
  g_programs_cupti.kinds.Clear();
  for (auto& calls : g_programs_cupti.recorded_calls) calls.Clear();
  g_programs_cupti.buffer_requested.store(nullptr);
  g_programs_cupti.buffer_completed.store(nullptr);
  g_programs_cupti.clock.store(nullptr);
  g_programs_cupti.unfetched.store(0);
  g_programs_cupti.held.store(nullptr);
  g_programs_cupti.all_sync_records.store(0);
  g_programs_cupti.library.store(0);
}

void NoteSubscription(void* known_as, void* subscriber, void* callback, void* user) {
  tracer::ProgramsCupti& program = g_programs_cupti;
  ForgetSubscription();
  program.callback.store(callback);
  program.user.store(user);
  program.known_as.store(known_as);
  program.subscriber.store(subscriber);
  program.has_subscribed.store(1);
}

bool IsPrograms(const void* subscriber) {
  return subscriber != nullptr && g_programs_cupti.has_subscribed.load() != 0 &&
         g_programs_cupti.known_as.load() == subscriber;
}

// A handle of a subscription that is over, and now the capture's.
bool IsCaptures(CuptiOwner owner, const void* subscriber) {
  return owner != CuptiOwner::kProgram && subscriber != nullptr &&
         subscriber == g_programs_cupti.our_subscriber.load();
}

// It turns its kinds on one by one: all of a session's, or none.
bool IsOfRefusedSession(const AnyCall& call) {
  const uint64_t until = g_programs_cupti.refused_until.load();
  return call.is_kept_out || (until != 0 && Now() < until);
}

// What is counted as enabled changes where CUPTI agrees: until then the call itself counts.
template <typename Bits, typename Function, typename Enable>
int Switch(const Call<Function>& call, Bits* bits, uint32_t number, bool on, Enable enable) {
  if (!call) return kNotInitialized;
  if (call.is_of_another) return enable(call);
  if (on && IsOfRefusedSession(call)) {
    g_programs_cupti.refused_until.store(Now() + kSessionBegins);
    return call.Refuse();
  }
  if (call.is_kept_out) {
    // What it has not got is off already, but for kinds of a time before it had buffers.
    if (bits->Set(number, false)) Keep();
    return kSuccess;
  }
  call.Note();
  const int result = enable(call);
  if (result != kSuccess) return result;
  bits->Set(number, on);
  if (on) g_programs_cupti.unfetched.store(1);
  return kSuccess;
}

using KindFunction = int (*)(uint32_t);
using ContextFunction = int (*)(void*, uint32_t);
using ChooseFunction = int (*)(uint32_t, uint8_t);
using SubscribeFunction = int (*)(void**, void*, void*);
using PointerFunction = int (*)(void*);
using CallbackFunction = int (*)(uint32_t, void*, uint32_t, uint32_t);
using DomainFunction = int (*)(uint32_t, void*, uint32_t);
using DomainsFunction = int (*)(uint32_t, void*);
using StateFunction = int (*)(uint32_t*, void*, uint32_t, uint32_t);
using FlushFunction = int (*)(void*, uint32_t, uint32_t);
using DroppedFunction = int (*)(void*, uint32_t, size_t*);
using AttributeFunction = int (*)(int, size_t*, void*);
using ByteFunction = int (*)(uint8_t);
using TypeFunction = int (*)(int);
using TimeFunction = int (*)(uint64_t*);
using Clock = uint64_t (*)();

int SwitchKind(const Call<KindFunction>& call, uint32_t kind, bool on) {
  if (!on) g_programs_cupti.refused_until.store(0);  // the end of a session
  return Switch(call, &g_programs_cupti.kinds, kind, on,
                [kind](const auto& made) { return made.original(kind); });
}

int SwitchCall(const Call<ChooseFunction>& call, uint32_t domain, uint32_t id, uint8_t on) {
  return Switch(call, &g_programs_cupti.recorded_calls[domain - kDriverApi], id, on != 0,
                [=](const auto& made) { return made.original(id, on); });
}

using Completed = void (*)(void*, uint32_t, uint8_t*, size_t, size_t);

// Buffers were delivered, so far as there were any: what was held of its own goes back.
void NoteFetched() {
  tracer::ProgramsCupti& program = g_programs_cupti;
  if (!program.kinds.Any()) program.unfetched.store(0);
  uint8_t* held = program.held.exchange(nullptr);
  void* completed = program.held_completed.load();
  // Of a function that is not registered any more, it may not be there any more.
  if (held != nullptr && completed == program.buffer_completed.load())
    reinterpret_cast<Completed>(completed)(nullptr, 0, held, program.held_size.load(), 0);
}

// Of its own nothing is there to be delivered in a capture: what was there went to it when that
// began. By force, ours would be before it is complete.
template <typename Function, typename Flush>
int FetchBy(const Call<Function>& call, Flush flush) {
  if (!call) return kNotInitialized;
  if (call.is_of_another) return flush(call);
  const int result = call.is_kept_out ? kSuccess : flush(call);
  NoteFetched();
  return result;
}

// Callbacks of resources come by the capture's subscription, which has them called.
int KeepCallback(const Call<CallbackFunction>& call, uint32_t enable, uint32_t domain,
                 uint32_t id) {
  if (domain != kResource) return enable != 0 ? call.Refuse() : kSuccess;
  g_programs_cupti.resources.Set(id, enable != 0);
  Keep();
  void* ours = g_programs_cupti.our_subscriber.load();
  return enable != 0 && ours != nullptr ? call.original(1, ours, domain, id) : kSuccess;
}

void NoteCallback(uint32_t enable, uint32_t domain, uint32_t id) {
  tracer::ProgramsCupti& program = g_programs_cupti;
  if (domain == kResource) {
    program.resources.Set(id, enable != 0);
  } else if (domain == kDriverApi || domain == kRuntimeApi) {
    program.called_back[domain - kDriverApi].Set(id, enable != 0);
  } else if (enable != 0) {
    program.others.Set(domain, true);
  }
}

// All of a domain: what was chosen singly goes with it.
void NoteDomain(bool on, uint32_t domain) {
  tracer::ProgramsCupti& program = g_programs_cupti;
  program.domains.Set(domain, on);
  if (on) return;
  program.others.Set(domain, false);
  if (domain == kResource) program.resources.Clear();
  if (domain == kDriverApi || domain == kRuntimeApi)
    program.called_back[domain - kDriverApi].Clear();
}

void NoteDomains(bool on) {
  constexpr uint32_t kDomains = 64;
  for (uint32_t domain = 1; domain < kDomains; ++domain) NoteDomain(on, domain);
}

// By the original, with the subscriber that CUPTI knows.
template <typename Function, typename Enable, typename Note>
int EnableDomains(const Call<Function>& call, uint32_t enable, void* subscriber, Enable original,
                  Note note) {
  if (!call) return kNotInitialized;
  if (!call.is_of_another && IsCaptures(call.owner, subscriber) && !IsPrograms(subscriber))
    return kInvalidParameter;
  if (call.is_of_another || !IsPrograms(subscriber)) return original(subscriber);
  if (call.is_kept_out && enable != 0) return call.Refuse();
  const int result = call.is_kept_out ? kSuccess : original(g_programs_cupti.subscriber.load());
  if (result == kSuccess) note(enable != 0);
  if (call.is_kept_out) Keep();
  return result;
}

}  // namespace

uint32_t OwnCuptiCalls() { return t_depth; }

void StartGpuAfterCuptiCall() { t_start_is_due = true; }

}  // namespace gpuprof::inject

using namespace gpuprof::inject;

#define GPUPROF_CALL(type, name, patience)                                                \
  const Call<type> call(name, __builtin_extract_return_addr(__builtin_return_address(0)), \
                        Patience::patience)
// And what every one begins with, but for those that say so by what they call.
#define GPUPROF_BEGIN(type, name, patience, arguments) \
  GPUPROF_CALL(type, name, patience);                  \
  if (!call) return kNotInitialized;                   \
  if (call.is_of_another) return call.original arguments;
// Of a subscription.
#define GPUPROF_BEGIN_OF(type, name, arguments)                                              \
  GPUPROF_BEGIN(type, name, kShort, arguments);                                              \
  if (!IsPrograms(subscriber)) {                                                             \
    return IsCaptures(call.owner, subscriber) ? kInvalidParameter : call.original arguments; \
  }
// Settings of the whole library: those of the capture hold while it lasts.
#define GPUPROF_REFUSED_SETTING(type, name, parameters, arguments)                        \
  GPUPROF_EXPORT int name parameters {                                                    \
    GPUPROF_BEGIN(type, #name, kShort, arguments);                                        \
    return call.is_kept_out ? kMultipleSubscribersNotSupported : call.original arguments; \
  }

extern "C" {

// Who is refused these may never ask again: they are registered when the capture has ended.
GPUPROF_EXPORT int cuptiActivityRegisterCallbacks(void* requested, void* completed) {
  GPUPROF_BEGIN(int (*)(void*, void*), "cuptiActivityRegisterCallbacks", kShort,
                (requested, completed));
  g_programs_cupti.refused_until.store(0);
  const bool is_kept = call.is_kept_out && requested != nullptr && completed != nullptr;
  const int result = is_kept ? kSuccess : call.original(requested, completed);
  if (result != kSuccess) return result;
  call.Note();
  g_programs_cupti.buffer_completed.store(completed);
  g_programs_cupti.buffer_requested.store(requested);
  if (is_kept) Keep();
  return result;
}

GPUPROF_EXPORT int cuptiActivityRegisterTimestampCallback(Clock clock) {
  GPUPROF_BEGIN(int (*)(Clock), "cuptiActivityRegisterTimestampCallback", kShort, (clock));
  const bool is_kept = call.is_kept_out && clock != nullptr;
  const int result = is_kept ? kSuccess : call.original(clock);
  if (result != kSuccess) return result;
  call.Note();
  g_programs_cupti.clock.store(clock);
  if (is_kept) Keep();
  return result;
}

GPUPROF_EXPORT int cuptiActivityEnable(uint32_t kind) {
  GPUPROF_CALL(KindFunction, "cuptiActivityEnable", kShort);
  return SwitchKind(call, kind, true);
}

GPUPROF_EXPORT int cuptiActivityEnableAndDump(uint32_t kind) {
  GPUPROF_CALL(KindFunction, "cuptiActivityEnableAndDump", kShort);
  return SwitchKind(call, kind, true);
}

GPUPROF_EXPORT int cuptiActivityDisable(uint32_t kind) {
  GPUPROF_CALL(KindFunction, "cuptiActivityDisable", kShort);
  return SwitchKind(call, kind, false);
}

GPUPROF_EXPORT int cuptiActivityEnableContext(void* context, uint32_t kind) {
  GPUPROF_CALL(ContextFunction, "cuptiActivityEnableContext", kShort);
  return Switch(call, &g_programs_cupti.kinds, kind, true,
                [&](const auto& made) { return made.original(context, kind); });
}

// Other contexts may have it yet.
GPUPROF_EXPORT int cuptiActivityDisableContext(void* context, uint32_t kind) {
  GPUPROF_BEGIN(ContextFunction, "cuptiActivityDisableContext", kShort, (context, kind));
  return call.is_kept_out ? kSuccess : call.original(context, kind);
}

GPUPROF_EXPORT int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable) {
  GPUPROF_CALL(ChooseFunction, "cuptiActivityEnableRuntimeApi", kShort);
  return SwitchCall(call, kRuntimeApi, id, enable);
}

GPUPROF_EXPORT int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable) {
  GPUPROF_CALL(ChooseFunction, "cuptiActivityEnableDriverApi", kShort);
  return SwitchCall(call, kDriverApi, id, enable);
}

GPUPROF_EXPORT int cuptiActivityFlushAll(uint32_t flags) {
  GPUPROF_CALL(KindFunction, "cuptiActivityFlushAll", kLong);
  return FetchBy(call, [=](const auto& made) { return made.original(flags); });
}

GPUPROF_EXPORT int cuptiActivityFlush(void* context, uint32_t stream, uint32_t flags) {
  GPUPROF_CALL(FlushFunction, "cuptiActivityFlush", kLong);
  return FetchBy(call, [=](const auto& made) { return made.original(context, stream, flags); });
}

GPUPROF_EXPORT int cuptiActivityGetNumDroppedRecords(void* context, uint32_t stream,
                                                     size_t* dropped) {
  GPUPROF_BEGIN(DroppedFunction, "cuptiActivityGetNumDroppedRecords", kNone,
                (context, stream, dropped));
  if (!call.is_kept_out) return call.original(context, stream, dropped);
  if (dropped == nullptr) return kInvalidParameter;
  *dropped = 0;
  return kSuccess;
}

GPUPROF_EXPORT int cuptiSetThreadIdType(int type) {
  GPUPROF_BEGIN(TypeFunction, "cuptiSetThreadIdType", kShort, (type));
  if (!call.is_kept_out) return call.original(type);
  g_programs_cupti.thread_ids.store(static_cast<uint64_t>(type) + 1);
  Keep();
  return kSuccess;
}

GPUPROF_EXPORT int cuptiGetTimestamp(uint64_t* ns) {
  GPUPROF_BEGIN(TimeFunction, "cuptiGetTimestamp", kNone, (ns));
  const bool is_programs = call.owner == CuptiOwner::kProgram;
  const Clock clock = is_programs ? nullptr : g_programs_cupti.clock.load();
  if (clock == nullptr || ns == nullptr) return call.original(ns);
  *ns = clock();
  return kSuccess;
}

GPUPROF_EXPORT int cuptiActivityEnableAllSyncRecords(uint8_t enable) {
  GPUPROF_BEGIN(ByteFunction, "cuptiActivityEnableAllSyncRecords", kShort, (enable));
  if (call.is_kept_out) return kMultipleSubscribersNotSupported;
  const int result = call.original(enable);
  if (result == kSuccess) g_programs_cupti.all_sync_records.store(1 + (enable != 0));
  return result;
}

GPUPROF_REFUSED_SETTING(AttributeFunction, cuptiActivitySetAttribute,
                        (int attribute, size_t* size, void* value), (attribute, size, value))
GPUPROF_REFUSED_SETTING(ByteFunction, cuptiActivityEnableCudaEventDeviceTimestamps,
                        (uint8_t enable), (enable))
GPUPROF_REFUSED_SETTING(ContextFunction, cuptiActivityConfigureUnifiedMemoryCounter,
                        (void* settings, uint32_t count), (settings, count))

// A profiler that is refused here may believe for good that there is no GPU (Kineto subscribes once
// in a process's life, as it is first used, and keeps that): it gets a subscription in name, and in
// fact when the capture ends.
GPUPROF_EXPORT int cuptiSubscribe(void** subscriber, void* callback, void* user) {
  GPUPROF_BEGIN(SubscribeFunction, "cuptiSubscribe", kShort, (subscriber, callback, user));
  call.Note();
  if (subscriber != nullptr && call.is_kept_out && g_programs_cupti.has_subscribed.load() == 0) {
    *subscriber = &g_programs_cupti;
    NoteSubscription(*subscriber, nullptr, callback, user);
    Keep();
    return kSuccess;
  }
  const int result = call.original(subscriber, callback, user);
  if (result == kSuccess) NoteSubscription(*subscriber, *subscriber, callback, user);
  return result;
}

GPUPROF_EXPORT int cuptiUnsubscribe(void* subscriber) {
  GPUPROF_BEGIN_OF(PointerFunction, "cuptiUnsubscribe", (subscriber));
  void* known = call.is_kept_out ? nullptr : g_programs_cupti.subscriber.load();
  const int result = known != nullptr ? call.original(known) : kSuccess;
  if (result == kSuccess) ForgetSubscription();
  if (call.is_kept_out) Keep();
  return result;
}

GPUPROF_EXPORT int cuptiEnableCallback(uint32_t enable, void* subscriber, uint32_t domain,
                                       uint32_t id) {
  GPUPROF_BEGIN_OF(CallbackFunction, "cuptiEnableCallback", (enable, subscriber, domain, id));
  if (call.is_kept_out) return KeepCallback(call, enable, domain, id);
  const int result = call.original(enable, g_programs_cupti.subscriber.load(), domain, id);
  if (result == kSuccess) NoteCallback(enable, domain, id);
  return result;
}

GPUPROF_EXPORT int cuptiGetCallbackState(uint32_t* enabled, void* subscriber, uint32_t domain,
                                         uint32_t id) {
  GPUPROF_BEGIN_OF(StateFunction, "cuptiGetCallbackState", (enabled, subscriber, domain, id));
  if (!call.is_kept_out)
    return call.original(enabled, g_programs_cupti.subscriber.load(), domain, id);
  if (enabled == nullptr) return kInvalidParameter;
  *enabled = domain == kResource && g_programs_cupti.resources.Has(id) ? 1 : 0;
  return kSuccess;
}

GPUPROF_EXPORT int cuptiEnableDomain(uint32_t enable, void* subscriber, uint32_t domain) {
  GPUPROF_CALL(DomainFunction, "cuptiEnableDomain", kShort);
  return EnableDomains(
      call, enable, subscriber, [&](void* known) { return call.original(enable, known, domain); },
      [domain](bool on) { NoteDomain(on, domain); });
}

GPUPROF_EXPORT int cuptiEnableAllDomains(uint32_t enable, void* subscriber) {
  GPUPROF_CALL(DomainsFunction, "cuptiEnableAllDomains", kShort);
  return EnableDomains(
      call, enable, subscriber, [&](void* known) { return call.original(enable, known); },
      NoteDomains);
}

// It would end the capture's part in CUPTI.
GPUPROF_EXPORT int cuptiFinalize(void) {
  GPUPROF_BEGIN(int (*)(), "cuptiFinalize", kShort, ());
  if (call.is_kept_out) return kMultipleSubscribersNotSupported;
  const int result = call.original();
  if (result == kSuccess) ForgetAll();
  return result;
}

}  // extern "C"
