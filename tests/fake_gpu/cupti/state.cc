// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tests/fake_gpu/cupti/state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "tests/fake_gpu/cupti/host_records.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/sink.h"
#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/playback.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

namespace fake_gpu_cupti {
namespace {

bool Any(const std::atomic<bool> (&flags)[kMostIds]) {
  for (const auto& flag : flags) {
    if (flag.load(std::memory_order_relaxed)) return true;
  }
  return false;
}

constexpr uint64_t Bit(uint32_t kind) { return uint64_t{1} << kind; }

constexpr uint64_t kWorkKinds =
    Bit(CUPTI_ACTIVITY_KIND_KERNEL) | Bit(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) |
    Bit(CUPTI_ACTIVITY_KIND_MEMCPY) | Bit(CUPTI_ACTIVITY_KIND_MEMCPY2) |
    Bit(CUPTI_ACTIVITY_KIND_MEMSET) | Bit(CUPTI_ACTIVITY_KIND_GRAPH_TRACE) | Bit(kKindHostLaunch) |
    Bit(kKindGraphHostNode);
constexpr uint64_t kSyncKinds =
    Bit(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) | Bit(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
constexpr uint64_t kMemoryKinds =
    Bit(CUPTI_ACTIVITY_KIND_MEMORY2) | Bit(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
constexpr uint64_t kObjectKinds = Bit(CUPTI_ACTIVITY_KIND_DEVICE) |
                                  Bit(CUPTI_ACTIVITY_KIND_CONTEXT) |
                                  Bit(CUPTI_ACTIVITY_KIND_STREAM);

uint32_t WantsOf(const Client& client) {
  const uint64_t kinds = client.kinds.load();
  uint32_t wants = 0;
  const bool recorded = Any(client.recorded[1]) || Any(client.recorded[2]);
  if (recorded) wants |= fake_gpu::kWantIds | fake_gpu::kWantCalls;
  if (Any(client.called_back[1]) || Any(client.called_back[2])) wants |= fake_gpu::kWantCalls;
  if ((kinds & kWorkKinds) != 0) wants |= fake_gpu::kWantWork;
  if ((kinds & kSyncKinds) != 0 || Any(client.called_back[4])) wants |= fake_gpu::kWantSyncs;
  if ((kinds & kMemoryKinds) != 0) wants |= fake_gpu::kWantMemory;
  if ((kinds & kObjectKinds) != 0 || Any(client.called_back[3])) wants |= fake_gpu::kWantObjects;
  if ((kinds & Bit(CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER)) != 0)
    wants |= fake_gpu::kWantManaged;
  if (wants != 0 || kinds != 0) wants |= fake_gpu::kWantAny;
  return wants;
}

}  // namespace

State& TheState() {
  static State* const state = new State;
  return *state;
}

void UpdateWants() {
  static CuptiSink* const sink = new CuptiSink;
  uint32_t wants = 0;
  bool subscribed = false;
  EachClient([&](const Client& client, size_t) {
    wants |= WantsOf(client);
    subscribed = subscribed || client.subscriber.load() != nullptr;
  });
  fake_gpu::SetSink(sink, wants);
  static std::atomic<uint32_t> told{0};
  const uint32_t now = wants << 1 | (subscribed ? 1 : 0);
  if (told.exchange(now) != now) {
    fake_gpu::TruthLine("{\"t\":\"tool\",\"subscribed\":%d,\"wants\":%u,\"time\":%lu}",
                        subscribed ? 1 : 0, wants, fake_gpu::Monotonic());
  }
}

void CallBack(uint32_t domain, uint32_t id, const void* data) {
  EachClient([&](const Client& client, size_t) {
    CUpti_SubscriberHandle subscriber = client.subscriber.load(std::memory_order_acquire);
    if (subscriber == nullptr) return;
    const CUpti_CallbackFunc callback = subscriber->callback.load();
    if (callback == nullptr) return;
    if (!client.called_back[domain][id % kMostIds].load(std::memory_order_relaxed)) return;
    callback(subscriber->data.load(), static_cast<CUpti_CallbackDomain>(domain), id, data);
  });
}

uint64_t CallTime() {
  const auto own = TheState().timestamp.load(std::memory_order_relaxed);
  if (own != nullptr) return own();
  return fake_gpu::ThePlayback() != nullptr ? fake_gpu::PlaybackTime() : fake_gpu::ToolTime();
}

// Between two readings of ours as close together as can be had: the thread may have to wait there.
ClockReading ReadClock(CUpti_TimestampCallbackFunc own) {
  constexpr uint64_t kClose = 1000;
  constexpr int kMostTries = 20;
  ClockReading best;
  uint64_t width = UINT64_MAX;
  for (int i = 0; i < kMostTries && width > kClose; ++i) {
    const uint64_t before = fake_gpu::Monotonic();
    const uint64_t read = own();
    const uint64_t after = fake_gpu::Monotonic();
    if (after - before >= width) continue;
    width = after - before;
    best = {before + width / 2, read};
  }
  return best;
}

DeviceClock::DeviceClock() {
  const auto own = TheState().timestamp.load();
  is_own_ = own != nullptr;
  if (!is_own_) return;
  first_ = TheState().registered;
  const ClockReading now = ReadClock(own);
  if (now.monotonic > first_.monotonic)
    rate_ = static_cast<double>(now.own - first_.own) /
            static_cast<double>(now.monotonic - first_.monotonic);
}

uint64_t DeviceClock::Time(uint64_t monotonic) const {
  if (!is_own_) return fake_gpu::ToolTimeOf(monotonic);
  const double then = static_cast<double>(monotonic) - static_cast<double>(first_.monotonic);
  return first_.own + static_cast<uint64_t>(static_cast<int64_t>(then * rate_));
}

bool HasDriver() {
  static const bool has = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL) != nullptr;
  return has;
}

CUptiResult Gate(const char* function, bool needs_driver) {
  fake_gpu::RememberProcess();
  if (TheState().driver_exited.load())
    fake_gpu::TruthLine("{\"t\":\"after_exit\",\"what\":\"%s\"}", function);
  // The real one's threads and locks do not survive fork: a call in the child never returns.
  while (fake_gpu::Forked()) pause();
  fake_gpu::ScriptedHang(function);
  if (const int scripted = fake_gpu::ScriptedFailure(function); scripted != 0) {
    return static_cast<CUptiResult>(scripted);
  }
  if (!needs_driver) return CUPTI_SUCCESS;
  if (!HasDriver()) return CUPTI_ERROR_UNKNOWN;
  if (fake_gpu::TheScript().driver_version / 1000 < kMajor) return CUPTI_ERROR_NOT_INITIALIZED;
  return CUPTI_SUCCESS;
}

uint32_t ThreadId(const Client& client) {
  if (client.system_thread_ids.load(std::memory_order_relaxed)) return fake_gpu::CurrentTid();
  return static_cast<uint32_t>(pthread_self());
}

void Violation(const char* what) {
  fake_gpu::TruthLine("{\"t\":\"violation\",\"what\":\"%s\"}", what);
  fprintf(stderr, "fake_gpu: violation: %s\n", what);
  abort();
}

}  // namespace fake_gpu_cupti
