// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What is enabled, and who subscribes. Of the second generation several may, each with kinds,
// callbacks and buffers of its own.

#pragma once

#include <cupti.h>

#include <atomic>

#include "tests/fake_gpu/device/sink.h"

struct CUpti_Subscriber_st {
  std::atomic<CUpti_CallbackFunc> callback{nullptr};
  std::atomic<void*> data{nullptr};
  char name[64] = {};
  std::atomic<size_t> client{0};
};

namespace fake_gpu_cupti {

constexpr uint32_t kMostIds = 1024;

constexpr size_t kMostClients = 4;

// What one subscriber has; the first is everybody's who uses the first generation.
struct Client {
  std::atomic<CUpti_SubscriberHandle> subscriber{nullptr};
  std::atomic<uint64_t> kinds{0};
  // Of the two API domains: whether a call of this id is recorded.
  std::atomic<bool> recorded[3][kMostIds] = {};
  std::atomic<bool> called_back[7][kMostIds] = {};
  std::atomic<bool> system_thread_ids{false};
  std::atomic<bool> all_sync_records{true};
};

// Of a clock that the tool has registered, beside ours.
struct ClockReading {
  uint64_t monotonic = 0;
  uint64_t own = 0;
};
ClockReading ReadClock(CUpti_TimestampCallbackFunc own);

struct State {
  Client clients[kMostClients];
  // Only those before it were ever used.
  std::atomic<size_t> clients_used{1};
  std::atomic<CUpti_TimestampCallbackFunc> timestamp{nullptr};
  ClockReading registered;  // as it was then
  std::atomic<bool> driver_exited{false};
  // Counters of unified memory that were configured, a bit each.
  std::atomic<uint32_t> um_counters{0};
  // Subscribed by way of 13.3 with others allowed: the entry points of before are refused.
  std::atomic<bool> several{false};
  // Of those: graphs have one record a launch, and their nodes none.
  std::atomic<bool> graphs_as_wholes{false};
};

State& TheState();

// Calls visit with each client.
template <typename Visit>
inline void EachClient(Visit visit) {
  State& state = TheState();
  const size_t used = state.clients_used.load(std::memory_order_acquire);
  for (size_t i = 0; i < used; ++i) visit(state.clients[i], i);
}

inline bool Enabled(const Client& client, uint32_t kind) {
  return (client.kinds.load(std::memory_order_relaxed) >> kind & 1) != 0;
}

// By anyone.
inline bool Enabled(uint32_t kind) {
  bool any = false;
  EachClient([&](const Client& client, size_t) { any = any || Enabled(client, kind); });
  return any;
}

// Tells the device what is wanted, after any change.
void UpdateWants();

// To each subscriber that asked for it.
void CallBack(uint32_t domain, uint32_t id, const void* data);

// Now, as records of calls tell it.
uint64_t CallTime();
// The device's time as records tell it. A clock that the tool has registered, of a unit of its own,
// is read when this is made: times converted by one of these keep their order.
class DeviceClock {
 public:
  DeviceClock();
  uint64_t Time(uint64_t monotonic) const;

 private:
  bool is_own_;
  ClockReading first_;
  double rate_ = 1;
};

// Every entry point begins with it: blocks for ever in a forked child; the scripted result; and
// with `needs_driver`, 999 without one and 15 with one that is too old.
CUptiResult Gate(const char* function, bool needs_driver);

// Whether there is a libcuda.so.1.
bool HasDriver();

// The calling thread, as the client wants it told.
uint32_t ThreadId(const Client& client);

CUptiResult SetKind(Client* client, uint32_t kind, bool enable);
CUptiResult SetCall(Client* client, uint32_t domain, CUpti_CallbackId id, bool enable);
// All of it off.
void Reset(Client* client);

// Of existing things, for cuptiActivityEnableAndDump.
void Dump(CUpti_ActivityKind kind);

void PushExternal(CUpti_ExternalCorrelationKind kind, uint64_t id);
bool PopExternal(CUpti_ExternalCorrelationKind kind, uint64_t* id);

// Ends the process with a word, and tells the truth: the tool did what is forbidden.
[[noreturn]] void Violation(const char* what);

}  // namespace fake_gpu_cupti
