// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See follow_heap.h.

#include "analysis/passes/follow_heap.h"

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/passes/heap_order.h"
#include "analysis/passes/merge_tracks.h"

namespace gpuprof::analysis {

LiveMemory FollowHeap(const Process& process) {
  LiveMemory memory(process.heap_period, process.first_ns, process.last_ns, kHeapPoints);
  std::vector<const Column<int64_t>*> times;
  for (const Track& track : process.tracks) times.push_back(&track.heap.time_ns);
  HeapOrder order(&memory, static_cast<int64_t>(process.health.coarse_step_ns()));
  int capture = -1;
  MergeByTime(times, [&](size_t track, size_t row) {
    const HeapTable& heap = process.tracks[track].heap;
    if (heap.capture[row] != capture) {
      order.Flush();
      if (capture >= 0) memory.NewCapture();
      capture = heap.capture[row];
    }
    const uint32_t operation = heap.operation[row];
    const bool sampled = (proto::FlagsOf(operation) & proto::kFlagSampled) != 0;
    const bool is_coarse = (proto::FlagsOf(operation) & proto::kFlagCoarseTime) != 0;
    const HeapOrder::Event event{track, heap.time_ns[row], heap.address[row], is_coarse};
    if (proto::HeapIsFree(operation)) {
      order.Free(event);
    } else {
      order.Alloc(event, heap.size[row], sampled, heap.stack[row]);
    }
  });
  order.Flush();
  // A capture later than the last row knows nothing of the blocks before it.
  if (capture >= 0 && process.last_capture() > capture) memory.NewCapture();
  memory.Finish();
  return memory;
}

void LimitToSamples(uint64_t samples, results::Confidence* confidence) {
  if (confidence->level() <= results::LEVEL_LOW) return;
  const results::Level most = samples >= 1000  ? results::LEVEL_HIGH
                              : samples >= 100 ? results::LEVEL_MEDIUM
                                               : results::LEVEL_LOW;
  confidence->set_level(std::min(confidence->level(), most));
  confidence->set_reason(std::to_string(samples) +
                         " sampled allocations; the bounds hold with 95 % confidence");
}

}  // namespace gpuprof::analysis
