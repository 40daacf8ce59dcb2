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

constexpr uint32_t kKindBits = 64;

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

// As the loader would have bound the call without us: in what the caller was linked with, which
// may be nobody else's (RTLD_LOCAL), and in what everybody sees. Looked up each time, as a library
// may go and come elsewhere; what is called often is not among these functions.
void* FindOriginal(const char* name, const Caller& caller) {
  void* found = nullptr;
  void* object = caller.is_program ? nullptr : dlopen(caller.path, RTLD_LAZY | RTLD_NOLOAD);
  if (object != nullptr) {
    found = dlsym(object, name);
    real.dlclose(object);
  }
  if (found == nullptr) found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) dlerror();  // not the program's to be told
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

std::atomic<uint64_t>* WordOf(uint32_t kind, uint64_t* bit) {
  *bit = uint64_t{1} << kind % kKindBits;
  return kind < 2 * kKindBits ? &g_programs_cupti.kinds[kind / kKindBits] : nullptr;
}

void Forget(uint32_t kind) {
  uint64_t bit = 0;
  if (std::atomic<uint64_t>* word = WordOf(kind, &bit)) word->fetch_and(~bit);
}

// Nothing that was set outlives CUPTI's end.
void ForgetAll() {
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
  std::atomic<uint64_t>* word = WordOf(kind, &bit);
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
using Clock = uint64_t (*)();

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

// CUPTI answers itself; what it means is said.
GPUPROF_EXPORT int cuptiSubscribe(void** subscriber, void* callback, void* user) {
  GPUPROF_CALL(int (*)(void**, void*, void*), "cuptiSubscribe");
  if (call.original == nullptr) return kNotInitialized;
  const int result = call.original(subscriber, callback, user);
  const bool is_held = result == kMultipleSubscribersNotSupported || result == kMaxLimitReached;
  if (is_held && IsKeptOut()) SayRefused(call.caller);
  return result;
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
