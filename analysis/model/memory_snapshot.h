// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What PyTorch's caching allocator wrote of itself (torch.cuda.memory._dump_snapshot): its segments
// and blocks at the end, and the events before, of all devices. Filled by one thread, then read by
// any.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "analysis/base/column.h"

namespace gpuprof::analysis {

enum class SnapshotAction : uint8_t {
  kOther,  // a word that this reader does not know
  kAlloc,
  kFreeRequested,  // the program gave the block back; a stream may still use it
  kFreeCompleted,  // the block is in the pool again
  kSegmentAlloc,   // memory of the device came into the pool
  kSegmentFree,
  kSegmentMap,  // likewise, of an expandable segment
  kSegmentUnmap,
  kSnapshot,
  kOutOfMemory,
};

enum class SnapshotBlockState : uint8_t { kFree, kAllocated, kAwaitsFree };

struct SnapshotFrame {
  uint32_t file = 0;  // of texts
  uint32_t function = 0;
  uint32_t line = 0;
};

struct SnapshotBlock {
  uint64_t address = 0;
  uint64_t size = 0;  // bytes, rounded up by the allocator
  uint64_t requested = 0;
  uint32_t stack = 0;
  SnapshotBlockState state = SnapshotBlockState::kFree;
};

struct SnapshotSegment {
  uint64_t address = 0;
  uint64_t size = 0;
  uint64_t stream = 0;
  uint32_t device = 0;
  bool is_expandable = false;
  bool is_private = false;  // in a pool of its own, as those of graphs are
  size_t first_block = 0, blocks = 0;
};

// A place in the program: a range that it named.
struct SnapshotMark {
  int64_t time_ns = 0;  // as those of events
  uint32_t name = 0;    // of texts
  uint32_t device = 0;
  bool is_begin = false;
};

struct SnapshotEvents {
  Column<int64_t> time_ns;  // since MemorySnapshot::first_ns
  Column<uint32_t> action;  // SnapshotAction
  Column<uint64_t> address;
  Column<uint64_t> size;
  Column<uint32_t> stack;  // 0: none was taken
  size_t rows() const { return time_ns.size(); }
};

struct FlightDump;  // model/flight_dump.h

struct MemorySnapshot {
  // What PyTorch's flight recorder wrote in place of the allocator: then all else is empty. Null:
  // the file is of the allocator. Readers ask FlightDumpOf().
  std::shared_ptr<const FlightDump> flight_dump;
  int64_t first_ns = 0;            // time of the first event, since 1970
  int64_t start_ns = 0;            // the same, since the origin of the trace
  std::vector<std::string> texts;  // the first is empty
  std::vector<SnapshotFrame> frames;
  // Frames of stack i, innermost first: stack_frames from stack_ends[i - 1] up to stack_ends[i].
  // Stack 0 is empty.
  std::vector<uint32_t> stack_frames;
  std::vector<uint64_t> stack_ends = {0};
  std::vector<SnapshotSegment> segments;
  std::vector<SnapshotBlock> blocks;
  SnapshotEvents events;
  std::vector<uint64_t> device_ends;  // events of device i end here
  // Bytes free on the device when a request failed, for each event kOutOfMemory in turn.
  std::vector<uint64_t> device_free;
  std::vector<SnapshotMark> marks;  // by time
  uint64_t unknown_events = 0;      // entries that are not events
  uint64_t bytes = 0;               // of the file

  size_t devices() const { return device_ends.size(); }
  size_t FirstEvent(size_t device) const { return device == 0 ? 0 : device_ends[device - 1]; }
};

}  // namespace gpuprof::analysis
