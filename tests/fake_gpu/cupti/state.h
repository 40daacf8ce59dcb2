// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is enabled, and who subscribes.

#pragma once

#include <cupti.h>

#include <atomic>

#include "tests/fake_gpu/device/sink.h"

struct CUpti_Subscriber_st {
  CUpti_CallbackFunc callback = nullptr;
  void* data = nullptr;
  char name[64] = {};
};

namespace fake_gpu_cupti {

constexpr uint32_t kMostIds = 1024;

struct State {
  std::atomic<uint64_t> kinds{0};
  // Of the two API domains: whether a call of this id is recorded.
  std::atomic<bool> recorded[3][kMostIds] = {};
  std::atomic<bool> called_back[7][kMostIds] = {};
  std::atomic<CUpti_SubscriberHandle> subscriber{nullptr};
  std::atomic<CUpti_TimestampCallbackFunc> timestamp{nullptr};
  std::atomic<bool> system_thread_ids{false};
  std::atomic<bool> all_sync_records{true};
  std::atomic<bool> driver_exited{false};
  // Subscribed by way of 13.3 with others allowed: the entry points of before are refused.
  std::atomic<bool> several{false};
};

State& TheState();

inline bool Enabled(uint32_t kind) {
  return (TheState().kinds.load(std::memory_order_relaxed) >> kind & 1) != 0;
}

// Tells the device what is wanted, after any change.
void UpdateWants();

// To the subscriber, when it asked for it.
void CallBack(uint32_t domain, uint32_t id, const void* data);

// Now, as records of calls tell it.
uint64_t CallTime();
// The device's time as records tell it.
uint64_t DeviceTime(uint64_t monotonic);

// Every entry point begins with it: blocks for ever in a forked child; the scripted result; and
// with `needs_driver`, 999 without one and 15 with one that is too old.
CUptiResult Gate(const char* function, bool needs_driver);

uint32_t ThreadId();

// Enables or disables a kind, for everyone.
CUptiResult SetKind(uint32_t kind, bool enable);

// Of existing things, for cuptiActivityEnableAndDump.
void Dump(CUpti_ActivityKind kind);

void PushExternal(CUpti_ExternalCorrelationKind kind, uint64_t id);
bool PopExternal(CUpti_ExternalCorrelationKind kind, uint64_t* id);

// Ends the process with a word, and tells the truth: the tool did what is forbidden.
[[noreturn]] void Violation(const char* what);

}  // namespace fake_gpu_cupti
