// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/unified_memory.h"

#include "tracer/cupti/refusal.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint32_t kCounters = um::kLastCounter;

// Scope and device count no more since CUDA 7: what is configured for one is for all.
void Fill(UnifiedMemoryConfig (&configs)[kCounters]) {
  for (uint32_t i = 0; i < kCounters; ++i)
    configs[i] = {.scope = um::kOneDevice, .counter = i + 1, .device = 0, .enable = 1};
}

// All at once; where that is refused one by one, so that a device that has not all of them tells of
// the others. Returns how many there are; `result` is the first refusal's.
uint32_t Configure(const Functions& functions, int* result) {
  UnifiedMemoryConfig configs[kCounters];
  Fill(configs);
  *result = functions.configure_unified_memory(configs, kCounters);
  if (*result == kSuccess) return kCounters;
  uint32_t configured = 0;
  for (UnifiedMemoryConfig& config : configs) {
    if (functions.configure_unified_memory(&config, 1) == kSuccess) ++configured;
  }
  return configured;
}

}  // namespace

bool UnifiedMemory::Enable(const Host& host, const Functions& functions, Subscriber* subscriber,
                           bool is_final) {
  if (state_ != kWaiting) return false;
  if (subscriber->interface() == Interface::kV2 || functions.configure_unified_memory == nullptr) {
    state_ = kOff;
    Refuse(host, subscriber->interface() == Interface::kV2
                     ? "counters of unified memory are not recorded: the shared interface of CUPTI "
                       "13.3 and later does not offer them"
                     : "counters of unified memory are not recorded: this libcupti does not offer "
                       "them");
    return false;
  }
  SubscribeFailure failure = {.function = "cuptiActivityConfigureUnifiedMemoryCounter"};
  const uint32_t configured = Configure(functions, &failure.result);
  if (configured != kCounters && !is_final) return false;
  if (configured != 0) {
    const int result = subscriber->Enable(Activity::kUnifiedMemoryCounter);
    if (result != kSuccess && !is_final) return false;
    if (result == kSuccess) {
      state_ = kOn;
      if (configured != kCounters)
        SayRefused(host, functions, failure, "some counters of unified memory are not recorded");
      return true;
    }
    failure = {.function = "cuptiActivityEnable", .result = result};
  }
  state_ = kOff;
  SayRefused(host, functions, failure, "counters of unified memory are not recorded");
  return false;
}

void UnifiedMemory::Disable(const Host& host, Subscriber* subscriber) {
  if (state_ == kWaiting)
    Refuse(host,
           "counters of unified memory are not recorded: CUPTI offers them only after CUDA is "
           "initialised, and the capture ended before gpuprof asked again");
  if (state_ == kOn) subscriber->Disable(Activity::kUnifiedMemoryCounter);
  state_ = kOff;
}

}  // namespace gpuprof::tracer::cupti
