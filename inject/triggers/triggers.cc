// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/triggers/triggers.h"

#include <time.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/lifecycle.h"
#include "inject/raw_log.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/text.h"
#include "inject/triggers/step_judge.h"
#include "proto/snapshot_request.h"
#include "proto/ticks.h"

namespace gpuprof::inject {
namespace {

using proto::SnapshotCause;

// So many failures are said.
constexpr uint32_t kMostFailures = 10;

uint64_t g_percent = 0;
uint64_t g_stall_ns = 0;
uint64_t g_pause_ns = 300'000'000'000;

StepJudge g_judge;
std::atomic<uint32_t> g_is_judging{0};
std::atomic<uint64_t> g_step{0};
std::atomic<uint64_t> g_ended_ns{0};  // the latest step; 0: none yet
uint64_t g_stalled_since_ns = 0;      // the latest stall that was noted. Control thread.

// What a trigger has noted.
enum State : uint32_t { kIdle, kFilling, kWanted };
std::atomic<uint32_t> g_state{kIdle};
std::atomic<uint64_t> g_quiet_until_ns{0};
std::atomic<uint64_t> g_missed{0};
proto::SnapshotNumbers g_numbers;

[[gnu::cold]] void Fire(SnapshotCause cause, uint64_t ns, uint64_t median_ns, uint64_t now_ns) {
  if (!IsCapturing()) return;
  uint32_t idle = kIdle;
  if (now_ns < g_quiet_until_ns.load() || !g_state.compare_exchange_strong(idle, kFilling)) {
    g_missed.fetch_add(1);
    return;
  }
  g_numbers[proto::kSnapshotCause] = static_cast<uint64_t>(cause);
  g_numbers[proto::kSnapshotStep] = g_step.load();
  g_numbers[proto::kSnapshotNs] = ns;
  g_numbers[proto::kSnapshotMedianNs] = median_ns;
  g_state.store(kWanted);
  WakeControlThread();
}

// Moves `p` behind the word, if it stands there.
[[gnu::noinline]] bool Take(const char** p, const char* word) {
  const char* end = *p;
  for (; *word != 0; ++word, ++end) {
    if (*end != *word) return false;
  }
  *p = end;
  return true;
}

[[gnu::cold]] bool Parse(const char* p) {
  constexpr uint64_t kMost = 1'000'000;
  do {
    if (Take(&p, "step:")) {
      if (!ParseNumber(&p, &g_percent) || *p++ != '%' || g_percent > kMost) return false;
    } else if (Take(&p, "stall:")) {
      if (!ParseDuration(&p, &g_stall_ns)) return false;
    } else if (!Take(&p, "exit")) {
      return false;
    }
  } while (*p++ == ',');
  return p[-1] == 0;
}

}  // namespace

void ReadTriggers() noexcept {
  const char* text = Variable(proto::kEnvTrigger);
  if (text == nullptr || *text == 0) return;
  const char* pause = Variable(proto::kEnvTriggerPause);
  if (pause != nullptr && *pause != 0 && (!ParseDuration(&pause, &g_pause_ns) || *pause != 0))
    RejectSetting(proto::kEnvTriggerPause, pause, "a time such as 5m");
  if (!Parse(text) || g_settings.flight_bytes == 0) {
    g_percent = g_stall_ns = 0;
    RejectSetting(proto::kEnvTrigger, text,
                  "step:300%, stall:30s or exit, with commas between, and GPUPROF_RING");
  }
  g_launch.judges_steps = (g_percent | g_stall_ns) != 0 && g_launch.capture != CaptureMode::kRange;
}

void JudgeStep(uint64_t step, uint64_t began_ns, uint64_t now_ns) noexcept {
  g_step.store(step);
  g_ended_ns.store(now_ns);
  // Of two at the same moment one is judged.
  if (began_ns == 0 || g_percent == 0 || g_is_judging.exchange(1) != 0) return;
  const uint64_t ns = now_ns - began_ns;
  const uint64_t median_ns = g_judge.Add(ns, g_percent);
  g_is_judging.store(0);
  if (median_ns != 0) Fire(SnapshotCause::kSlowStep, ns, median_ns, now_ns);
}

void ForgetSteps() noexcept { g_judge.Forget(); }

void SnapshotOrSay(proto::SnapshotNumbers* numbers) noexcept {
  static uint32_t failures = 0;
  char path[1024];
  const char* error = TakeSnapshot("", numbers, path, sizeof(path));
  if (error == nullptr) return Debug(path);
  if (failures++ >= kMostFailures) return;
  char line[256];
  Text text(line, sizeof(line));
  text.Add("no snapshot could be taken: ").Add(error);
  Say(line);
}

void RunTriggers(uint64_t now_ns) noexcept {
  const uint64_t ended_ns = g_ended_ns.load();
  // A stall that lasts longer than the pause takes a snapshot then.
  if (g_stall_ns != 0 && ended_ns != g_stalled_since_ns && now_ns > ended_ns &&
      now_ns - ended_ns >= g_stall_ns && now_ns >= g_quiet_until_ns.load()) {
    g_stalled_since_ns = ended_ns;
    Fire(SnapshotCause::kStall, now_ns - ended_ns, 0, now_ns);
  }
  if (g_state.load() != kWanted) return;
  g_numbers[proto::kMissedTriggers] = g_missed.exchange(0);
  SnapshotOrSay(&g_numbers);
  g_quiet_until_ns.store(proto::ReadClockNs(CLOCK_MONOTONIC) + g_pause_ns);
  g_state.store(kIdle);
}

void TellMissedTriggers() noexcept {
  const uint64_t missed = g_missed.exchange(0);
  if (missed == 0) return;
  char line[160];
  Text text(line, sizeof(line));
  text.Add("slow steps that took no snapshot (--trigger-pause): ")
      .Number(static_cast<int64_t>(missed));
  Say(line);
}

void ForgetTriggers() noexcept {
  g_judge.Forget();
  g_is_judging.store(0);
  g_ended_ns.store(0);
  g_stalled_since_ns = 0;
  g_state.store(kIdle);
  g_missed.store(0);
  g_quiet_until_ns.store(0);
}

}  // namespace gpuprof::inject
