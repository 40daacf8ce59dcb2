// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/cupti/late_start.h"

#include <atomic>

#include "proto/ticks.h"
#include "tracer/cupti/driver.h"
#include "tracer/cupti/text.h"

namespace gpuprof::tracer::cupti {
namespace {

constexpr uint64_t kMillisecond = 1'000'000u;

// When this capture looked last; 0: not yet.
uint64_t g_looked = 0;
bool g_with_process = false;
// Whole once g_noted is set.
char g_note[400];
std::atomic<uint32_t> g_noted{0};

void Say(const Host& host, uint64_t missed_ns) {
  if (g_noted.load() != 0) return;
  Text(g_note)
      .Add("up to ")
      .Number(missed_ns / kMillisecond + 1)
      .Add(
          " ms of GPU activity are missing at the start: CUDA_INJECTION64_PATH does not name "
          "gpuprof in this process, so the driver did not call gpuprof");
  host.say(g_note);
  g_noted.store(1, std::memory_order_release);
}

}  // namespace

void BeginLooking(bool with_process) {
  g_looked = 0;
  g_with_process = with_process;
}

bool HasBegunUnnoticed(const Host& host) {
  if (host.settings->injection_lost == 0) return false;
  const uint64_t now = proto::ReadClockNs(CLOCK_MONOTONIC);
  const uint64_t looked = g_looked;
  g_looked = now;
  if (!DriverIsInitialized()) return false;
  if (looked != 0) {
    Say(host, now - looked);
  } else if (g_with_process) {
    Say(host, proto::ReadClockNs(CLOCK_REALTIME) - host.settings->start_id * 1000);
  }  // else it had begun before the capture, which misses nothing
  return true;
}

const char* LateStartNote() { return g_noted.load(std::memory_order_acquire) != 0 ? g_note : ""; }

}  // namespace gpuprof::tracer::cupti
