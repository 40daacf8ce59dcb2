// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hooks of the source `naps`: how long the program sleeps in usleep(). A template for a new family.

#include "inject/hook_list.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

// Writes the span of a call that has returned. usleep() is a cancellation point, so no guard is
// held while it runs.
void RecordNap(uint64_t start, uint64_t wanted_us) {
  Recorder recorder(proto::kSourceNaps);
  if (!recorder.active()) return;
  const uint64_t now = recorder.Now();
  recorder.WriteSpan({now, 0, static_cast<uint8_t>(proto::RecordKind::kNap), 0, 0, wanted_us, 0},
                     now > start ? now - start : 0);
}

}  // namespace

extern "C" {

GPUPROF_EXPORT int usleep(unsigned microseconds) {
  if (!Recording(proto::kSourceNaps)) return real.usleep(microseconds);
  const uint64_t start = proto::ReadTicks(g_process.clock);
  const int result = real.usleep(microseconds);
  RecordNap(start, microseconds);
  return result;
}

}  // extern "C"
