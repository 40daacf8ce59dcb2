// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hooks of the source `naps`: how long the program yields its processor in
// sched_yield(). A template for a new family.

#include "inject/hook_list.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

// Writes the span of a call that has returned. No guard is held while the call runs.
void RecordNap(uint64_t start) {
  Recorder recorder(proto::kSourceNaps);
  if (!recorder.active()) return;
  const uint64_t now = recorder.Now();
  // A span without a stack and without an owner. WriteWait() also writes spans of any length.
  recorder.WriteWait({now, 0, static_cast<uint8_t>(proto::RecordKind::kNap), 0, 0, 0, 0},
                     now > start ? now - start : 0, 0, nullptr, 0);
}

}  // namespace

extern "C" {

GPUPROF_EXPORT int sched_yield(void) {
  if (!Recording(proto::kSourceNaps)) return real.sched_yield();
  const uint64_t start = proto::ReadTicks(g_process.clock);
  const int result = real.sched_yield();
  RecordNap(start);
  return result;
}

}  // extern "C"
