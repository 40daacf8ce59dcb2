// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Our own calls do not come through here: the tracer has its functions from libcupti itself. Nor do
// those of a program that asked dlsym for them. CUPTI calls none of these itself.

#include "inject/hooks/cupti.h"

#include <dlfcn.h>

#include "inject/elf_symbol.h"
#include "inject/hook_list.h"
#include "inject/raw_log.h"
#include "inject/real_symbols.h"
#include "inject/text.h"

namespace gpuprof::inject {

tracer::ProgramsCupti g_programs_cupti;

namespace {

// CUptiResult.
constexpr int kSuccess = 0;
constexpr int kMaxLimitReached = 12;
constexpr int kNotInitialized = 15;
constexpr int kMultipleSubscribersNotSupported = 39;

// CUpti_CallbackDomain.
constexpr uint32_t kResource = 3;

constexpr uint32_t kWordBits = 64;

struct Caller {
  const char* path = "";  // of the object that the call comes from
  bool is_program = false;
};

Caller CallerOf(const void* address) {
  Dl_info info = {};
  link_map* map = nullptr;
  Caller caller;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0) return caller;
  if (info.dli_fname != nullptr) caller.path = info.dli_fname;
  caller.is_program = map == nullptr || map->l_name[0] == 0;
  return caller;
}

struct LibraryPath {
  char path[4096];
};

int TakeCupti(dl_phdr_info* info, size_t, void* to) {
  constexpr char kBeginning[] = "libcupti.so";
  const char* name = BaseName(info->dlpi_name);
  for (size_t i = 0; i + 1 < sizeof(kBeginning); ++i)
    if (name[i] != kBeginning[i]) return 0;
  auto* found = static_cast<LibraryPath*>(to);
  return Text(found->path, sizeof(found->path)).Add(info->dlpi_name).cut() ? 0 : 1;
}

void* FindIn(const char* path, const char* name) {
  void* object = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (object == nullptr) return nullptr;
  void* found = dlsym(object, name);
  real.dlclose(object);
  return found;
}

// As the loader would have bound the call without us: in what the caller was linked with, which
// may be nobody else's (RTLD_LOCAL), and in what everybody sees. A call at a function's end comes
// from where that one was called: then in whatever libcupti is there. Looked up each time, as a
// library may go and come elsewhere; what is called often is not among these functions.
[[gnu::noinline]] void* FindOriginal(const char* name, const Caller& caller) {
  void* found = caller.is_program ? nullptr : FindIn(caller.path, name);
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    LibraryPath cupti;
    if (dl_iterate_phdr(TakeCupti, &cupti) != 0) found = FindIn(cupti.path, name);
  }
  dlerror();  // what was not found is not the program's to be told
  return found;
}

void NameHolder(const Caller& caller) {
  tracer::ProgramsCupti& program = g_programs_cupti;
  uint32_t not_named = 0;
  if (!program.is_named.compare_exchange_strong(not_named, 1)) return;
  Text(program.name, sizeof(program.name)).Add(BaseName(caller.path));
  program.is_named.store(2, std::memory_order_release);
}

// Once: it asks again for each kind, and for each of its own captures.
void SayRefused(const Caller& caller) {
  NameHolder(caller);
  if (g_programs_cupti.was_refused.exchange(1) != 0) return;
  char line[512];
  Text(line, sizeof(line))
      .Add(BaseName(caller.path))
      .Add(" profiles this program too, and CUPTI serves one profiler at a time: while gpuprof ")
      .Add("records GPU activity it gets none (CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED). ")
      .Add("Leave cuda out of --trace, or capture at another time (--capture=...), and it does");
  Say(line);
}

bool IsKeptOut() { return g_programs_cupti.is_kept_out.load() != 0; }

template <typename Function>
struct Call {
  Call(const char* name, const void* address)
      : caller(CallerOf(address)),
        original(reinterpret_cast<Function>(FindOriginal(name, caller))) {}
  int Refused() const {
    SayRefused(caller);
    return kMultipleSubscribersNotSupported;
  }
  Caller caller;
  Function original;
};

// A place in one of the two words of bits; null: beyond them.
std::atomic<uint64_t>* WordOf(std::atomic<uint64_t> (&words)[2], uint32_t number, uint64_t* bit) {
  *bit = uint64_t{1} << number % kWordBits;
  return number < 2 * kWordBits ? &words[number / kWordBits] : nullptr;
}

void Forget(uint32_t kind) {
  uint64_t bit = 0;
  if (auto* word = WordOf(g_programs_cupti.kinds, kind, &bit)) word->fetch_and(~bit);
}

void ForgetSubscription() {
  tracer::ProgramsCupti& program = g_programs_cupti;
  program.has_subscribed.store(0);
  program.known_as.store(nullptr);
  program.subscriber.store(nullptr);
  for (std::atomic<uint64_t>& word : program.resources) word.store(0);
  program.wants_more.store(0);
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

// Nothing that was set outlives CUPTI's end.
void ForgetAll() {
  ForgetSubscription();
  for (std::atomic<uint64_t>& word : g_programs_cupti.kinds) word.store(0);
  g_programs_cupti.buffer_requested.store(nullptr);
  g_programs_cupti.buffer_completed.store(nullptr);
  g_programs_cupti.clock.store(nullptr);
}

// The kind counts from before it is looked whether it may be, so that a capture which begins at the
// same moment sees it.
template <typename Enable, typename Function>
int EnableKind(const Call<Function>& call, uint32_t kind, Enable enable) {
  if (call.original == nullptr) return kNotInitialized;
  uint64_t bit = 0;
  std::atomic<uint64_t>* word = WordOf(g_programs_cupti.kinds, kind, &bit);
  const bool was_enabled = word == nullptr || (word->fetch_or(bit) & bit) != 0;
  if (IsKeptOut()) {
    Forget(kind);
    return call.Refused();
  }
  NameHolder(call.caller);
  const int result = enable(call.original);
  if (result != kSuccess && !was_enabled) Forget(kind);
  return result;
}

// What it has not got is off already.
template <typename Disable, typename Function>
int DisableKind(const Call<Function>& call, uint32_t kind, Disable disable) {
  if (call.original == nullptr) return kNotInitialized;
  if (IsKeptOut()) return kSuccess;
  const int result = disable(call.original);
  Forget(kind);
  return result;
}

using KindFunction = int (*)(uint32_t);
using ContextFunction = int (*)(void*, uint32_t);
using ChooseFunction = int (*)(uint32_t, uint8_t);
using SubscribeFunction = int (*)(void**, void*, void*);
using UnsubscribeFunction = int (*)(void*);
using CallbackFunction = int (*)(uint32_t, void*, uint32_t, uint32_t);
using DomainFunction = int (*)(uint32_t, void*, uint32_t);
using DomainsFunction = int (*)(uint32_t, void*);
using Clock = uint64_t (*)();

// Callbacks of resources come by the capture's subscription, which has them called.
int EnableResource(CallbackFunction original, uint32_t enable, uint32_t id) {
  uint64_t bit = 0;
  std::atomic<uint64_t>* word = WordOf(g_programs_cupti.resources, id, &bit);
  if (word == nullptr) return kSuccess;
  if (enable == 0) {
    word->fetch_and(~bit);
    return kSuccess;
  }
  word->fetch_or(bit);
  void* ours = g_programs_cupti.our_subscriber.load();
  return ours != nullptr ? original(1, ours, kResource, id) : kSuccess;
}

void NoteCallback(uint32_t enable, uint32_t domain, uint32_t id) {
  uint64_t bit = 0;
  std::atomic<uint64_t>* word =
      domain == kResource ? WordOf(g_programs_cupti.resources, id, &bit) : nullptr;
  if (word == nullptr) {
    if (enable != 0) g_programs_cupti.wants_more.store(1);
  } else {
    enable != 0 ? word->fetch_or(bit) : word->fetch_and(~bit);
  }
}

// By the original, with the subscriber that CUPTI knows.
template <typename Enable, typename Function>
int EnableDomains(const Call<Function>& call, uint32_t enable, void* subscriber, Enable original) {
  if (call.original == nullptr) return kNotInitialized;
  if (!IsPrograms(subscriber)) return original(subscriber);
  if (IsKeptOut()) return enable != 0 ? call.Refused() : kSuccess;
  const int result = original(g_programs_cupti.subscriber.load());
  if (result == kSuccess) g_programs_cupti.wants_more.store(enable != 0 ? 1 : 0);
  return result;
}

int Choose(const Call<ChooseFunction>& call, uint32_t id, uint8_t enable) {
  if (call.original == nullptr) return kNotInitialized;
  if (!IsKeptOut()) return call.original(id, enable);
  return enable != 0 ? call.Refused() : kSuccess;
}

}  // namespace
}  // namespace gpuprof::inject

using namespace gpuprof::inject;

#define GPUPROF_CALL(type, name) \
  const Call<type> call(name, __builtin_extract_return_addr(__builtin_return_address(0)))

extern "C" {

GPUPROF_EXPORT int cuptiActivityRegisterCallbacks(void* requested, void* completed) {
  GPUPROF_CALL(int (*)(void*, void*), "cuptiActivityRegisterCallbacks");
  if (call.original == nullptr) return kNotInitialized;
  if (IsKeptOut()) return call.Refused();
  const int result = call.original(requested, completed);
  if (result == kSuccess) {
    g_programs_cupti.buffer_requested.store(requested);
    g_programs_cupti.buffer_completed.store(completed);
  }
  return result;
}

// It may be asked for once in a process's life: kept, and registered when the capture has ended.
GPUPROF_EXPORT int cuptiActivityRegisterTimestampCallback(Clock clock) {
  GPUPROF_CALL(int (*)(Clock), "cuptiActivityRegisterTimestampCallback");
  if (call.original == nullptr) return kNotInitialized;
  int result = kSuccess;
  if (clock == nullptr || !IsKeptOut()) result = call.original(clock);
  if (result == kSuccess) g_programs_cupti.clock.store(clock);
  return result;
}

GPUPROF_EXPORT int cuptiActivityEnable(uint32_t kind) {
  GPUPROF_CALL(KindFunction, "cuptiActivityEnable");
  return EnableKind(call, kind, [&](KindFunction original) { return original(kind); });
}

GPUPROF_EXPORT int cuptiActivityEnableAndDump(uint32_t kind) {
  GPUPROF_CALL(KindFunction, "cuptiActivityEnableAndDump");
  return EnableKind(call, kind, [&](KindFunction original) { return original(kind); });
}

GPUPROF_EXPORT int cuptiActivityEnableContext(void* context, uint32_t kind) {
  GPUPROF_CALL(ContextFunction, "cuptiActivityEnableContext");
  return EnableKind(call, kind, [&](ContextFunction original) { return original(context, kind); });
}

GPUPROF_EXPORT int cuptiActivityDisable(uint32_t kind) {
  GPUPROF_CALL(KindFunction, "cuptiActivityDisable");
  return DisableKind(call, kind, [&](KindFunction original) { return original(kind); });
}

GPUPROF_EXPORT int cuptiActivityDisableContext(void* context, uint32_t kind) {
  GPUPROF_CALL(ContextFunction, "cuptiActivityDisableContext");
  return DisableKind(call, kind, [&](ContextFunction original) { return original(context, kind); });
}

GPUPROF_EXPORT int cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable) {
  GPUPROF_CALL(ChooseFunction, "cuptiActivityEnableRuntimeApi");
  return Choose(call, id, enable);
}

GPUPROF_EXPORT int cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable) {
  GPUPROF_CALL(ChooseFunction, "cuptiActivityEnableDriverApi");
  return Choose(call, id, enable);
}

// Of its own nothing is there to be delivered; by force, ours would be before it is complete.
GPUPROF_EXPORT int cuptiActivityFlushAll(uint32_t flags) {
  GPUPROF_CALL(KindFunction, "cuptiActivityFlushAll");
  if (call.original == nullptr) return kNotInitialized;
  return IsKeptOut() ? kSuccess : call.original(flags);
}

// A profiler that is refused here may believe for good that there is no GPU (Kineto subscribes once
// in a process's life, as it is first used, and keeps that): it gets a subscription in name, and in
// fact when the capture ends.
GPUPROF_EXPORT int cuptiSubscribe(void** subscriber, void* callback, void* user) {
  GPUPROF_CALL(SubscribeFunction, "cuptiSubscribe");
  if (call.original == nullptr) return kNotInitialized;
  NameHolder(call.caller);
  if (subscriber != nullptr && IsKeptOut() && g_programs_cupti.has_subscribed.load() == 0) {
    *subscriber = &g_programs_cupti;
    NoteSubscription(*subscriber, nullptr, callback, user);
    return kSuccess;
  }
  const int result = call.original(subscriber, callback, user);
  if (result == kSuccess) NoteSubscription(*subscriber, *subscriber, callback, user);
  return result;
}

GPUPROF_EXPORT int cuptiUnsubscribe(void* subscriber) {
  GPUPROF_CALL(UnsubscribeFunction, "cuptiUnsubscribe");
  if (call.original == nullptr) return kNotInitialized;
  if (!IsPrograms(subscriber)) return call.original(subscriber);
  void* real_one = g_programs_cupti.subscriber.load();
  const int result = real_one != nullptr ? call.original(real_one) : kSuccess;
  if (result == kSuccess) ForgetSubscription();
  return result;
}

GPUPROF_EXPORT int cuptiEnableCallback(uint32_t enable, void* subscriber, uint32_t domain,
                                       uint32_t id) {
  GPUPROF_CALL(CallbackFunction, "cuptiEnableCallback");
  if (call.original == nullptr) return kNotInitialized;
  if (!IsPrograms(subscriber)) return call.original(enable, subscriber, domain, id);
  if (IsKeptOut()) {
    if (domain == kResource) return EnableResource(call.original, enable, id);
    return enable != 0 ? call.Refused() : kSuccess;
  }
  const int result = call.original(enable, g_programs_cupti.subscriber.load(), domain, id);
  if (result == kSuccess) NoteCallback(enable, domain, id);
  return result;
}

GPUPROF_EXPORT int cuptiEnableDomain(uint32_t enable, void* subscriber, uint32_t domain) {
  GPUPROF_CALL(DomainFunction, "cuptiEnableDomain");
  return EnableDomains(call, enable, subscriber,
                       [&](void* known) { return call.original(enable, known, domain); });
}

GPUPROF_EXPORT int cuptiEnableAllDomains(uint32_t enable, void* subscriber) {
  GPUPROF_CALL(DomainsFunction, "cuptiEnableAllDomains");
  return EnableDomains(call, enable, subscriber,
                       [&](void* known) { return call.original(enable, known); });
}

GPUPROF_EXPORT int cuptiFinalize(void) {
  GPUPROF_CALL(int (*)(), "cuptiFinalize");
  if (call.original == nullptr) return kNotInitialized;
  if (IsKeptOut()) return call.Refused();
  const int result = call.original();
  if (result == kSuccess) ForgetAll();
  return result;
}

}  // extern "C"
