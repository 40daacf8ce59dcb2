// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/recorded_kinds.h"

#include <iterator>

#include "tracer/cupti/graph_events.h"
#include "tracer/cupti/launch_stacks.h"
#include "tracer/cupti/refusal.h"
#include "tracer/cupti/stream_events.h"

namespace gpuprof::tracer::cupti {
namespace {

// Calls of the driver are enabled one by one, where the library can.
struct Kind {
  Activity activity;
  // Said when the library refuses it; null: what is lacking without it others show.
  const char* refused = nullptr;
  // Of what is there already its records are asked for too.
  bool dumps = false;
};
constexpr Kind kKinds[] = {
    {Activity::kConcurrentKernel, "no GPU activity is recorded"},
    {Activity::kMemcpy, "no copies are recorded"},
    {Activity::kMemcpy2},
    {Activity::kMemset, "no memsets are recorded"},
    {Activity::kRuntime, "no calls of the CUDA runtime are recorded"},
    {Activity::kSynchronization, "no waits for the GPU are recorded"},
    {Activity::kCudaEvent},
    {Activity::kMemory2, "no allocations of GPU memory are recorded"},
    {Activity::kMemoryPool, "pools of GPU memory are not recorded"},
    {Activity::kOverhead},
    {Activity::kJit},
    {Activity::kHostLaunch},
    {Activity::kGraphHostNode},
    {Activity::kDevice, nullptr, true},
    {Activity::kContext, nullptr, true},
    {Activity::kStream, nullptr, true},
};

void ChooseRuntimeCalls(const FunctionNames& names, Subscriber* subscriber) {
  for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
    if (!names.is_recorded[kRuntimeApi][id]) subscriber->EnableFunction(kRuntimeApi, id, false);
  }
}

// False: they cannot be chosen one by one.
bool EnableDriverCalls(const FunctionNames& names, Subscriber* subscriber, bool enable) {
  bool any = false;
  for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
    if (!names.is_recorded[kDriverApi][id]) continue;
    if (subscriber->EnableFunction(kDriverApi, id, enable) == kSuccess) any = true;
  }
  return any;
}

}  // namespace

bool RecordedKinds::Enable(const Host& host, const Library& library, const FunctionNames& names,
                           Subscriber* subscriber, bool has_objects) {
  static_assert(std::size(kKinds) <= kMost);
  bool any = false;
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    const Kind& kind = kKinds[i];
    const int result = kind.dumps && has_objects ? subscriber->EnableAndDump(kind.activity)
                                                 : subscriber->Enable(kind.activity);
    is_enabled_[i] = result == kSuccess;
    any |= is_enabled_[i];
    if (result == kSuccess || kind.refused == nullptr || is_told_[i]) continue;
    is_told_[i] = true;
    const SubscribeFailure failure = {.function = "cuptiActivityEnable", .result = result};
    if (kind.activity == Activity::kConcurrentKernel)
      SayUnusable(host, library, failure);
    else
      SayRefused(host, library.functions, failure, kind.refused);
  }
  if (!any) return false;
  // Last, as enabling a kind undoes choices of single calls.
  has_all_of_driver_ = !EnableDriverCalls(names, subscriber, true) &&
                       subscriber->Enable(Activity::kDriver) == kSuccess;
  ChooseRuntimeCalls(names, subscriber);
  return true;
}

void RecordedKinds::ChooseCalls(const FunctionNames& names, Subscriber* subscriber) {
  if (!has_all_of_driver_) EnableDriverCalls(names, subscriber, true);
  ChooseRuntimeCalls(names, subscriber);
}

// The driver's calls first: one whose call of the runtime is not recorded any more looks like the
// program's own.
void RecordedKinds::Disable(const FunctionNames& names, Subscriber* subscriber) {
  if (!has_all_of_driver_) EnableDriverCalls(names, subscriber, false);
  subscriber->Disable(Activity::kDriver);
  has_all_of_driver_ = false;
  for (size_t i = 0; i < std::size(kKinds); ++i) {
    if (is_enabled_[i]) subscriber->Disable(kKinds[i].activity);
    is_enabled_[i] = false;
  }
}

void AskForCallbacks(const Host& host, const Library& library, const FunctionNames& names,
                     Subscriber* subscriber, bool enable) {
  for (const ResourceId id : {kContextCreated, kContextDestroyStarting, kModuleLoaded})
    subscriber->EnableCallback(kResource, id, enable);
  for (const ResourceId id : kGraphCallbacks) subscriber->EnableCallback(kResource, id, enable);
  if (TellsStreams(library.functions))
    subscriber->EnableCallback(kResource, kStreamCreated, enable);
  if ((host.settings->sources & proto::kSourceLaunches) == 0) return;
  for (const Domain domain : {kRuntimeApi, kDriverApi}) {
    for (uint32_t id = 1; id < FunctionNames::kMost; ++id) {
      if (IsLaunch(names.name[domain][id])) subscriber->EnableCallback(domain, id, enable);
    }
  }
}

}  // namespace gpuprof::tracer::cupti
