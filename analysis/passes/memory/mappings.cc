// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The part of the pass `heap` that tells of the mmap family. See passes.h.

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "analysis/model/process_name.h"
#include "analysis/passes/memory/mapped_memory.h"
#include "analysis/passes/memory/merge_tracks.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/heap.pb.h"

namespace gpuprof::analysis {
namespace {

// By MappingKind.
constexpr results::MappingKind kKinds[kMappingKinds] = {
    results::MAPPING_KIND_MEMORY, results::MAPPING_KIND_FILE, results::MAPPING_KIND_RESERVED};

struct Calls {
  uint64_t count = 0;
  uint64_t bytes = 0;
};
struct StackSums {
  Calls calls;
  uint64_t peak = 0;
  uint64_t end = 0;
};
using Key = std::pair<int, uint32_t>;  // kind, stack

MappingKind KindOf(uint8_t flags) {
  if ((flags & proto::kFlagNoAccess) != 0) return MappingKind::kReserved;
  return (flags & proto::kFlagFile) != 0 ? MappingKind::kFile : MappingKind::kMemory;
}

class Follower {
 public:
  void Row(const MappingTable& table, size_t row) {
    if (table.capture[row] != capture_) {
      if (capture_ >= 0) memory.NewCapture();
      capture_ = table.capture[row];
    }
    const uint64_t address = table.address[row];
    const uint64_t bytes = table.size[row];
    switch (proto::MapEventOf(table.operation[row])) {
      case proto::MapEvent::kMunmap:
        memory.Unmap(address, bytes);
        return;
      case proto::MapEvent::kMremapFrom:
        moved_ = memory.Unmap(address, bytes);
        return;
      case proto::MapEvent::kMremap:
        return Map(table, row, moved_);
      case proto::MapEvent::kMmap:
        return Map(table, row, KindOf(proto::FlagsOf(table.operation[row])));
    }
  }

  // A capture later than the last row knows nothing of what is mapped.
  void Finish(const Process& process) {
    if (capture_ >= 0 && process.last_capture() > capture_) memory.NewCapture();
  }

  MappedMemory memory;
  std::map<Key, StackSums> stacks;

 private:
  void Map(const MappingTable& table, size_t row, MappingKind kind) {
    memory.Map(table.time_ns[row], table.address[row], table.size[row], kind, table.stack[row]);
    Calls& calls = stacks[{static_cast<int>(kind), table.stack[row]}].calls;
    ++calls.count;
    calls.bytes += table.size[row];
  }

  int capture_ = -1;
  MappingKind moved_ = MappingKind::kMemory;  // of the range that mremap takes elsewhere
};

}  // namespace

void ComputeMappings(PassContext& context, size_t index, results::Heap* out) {
  const Process& process = context.process(index);
  std::vector<const Column<int64_t>*> times;
  for (const Track& track : process.tracks) times.push_back(&track.mapping.time_ns);
  Follower follower;
  MergeByTime(times,
              [&](size_t track, size_t row) { follower.Row(process.tracks[track].mapping, row); });
  follower.Finish(process);
  const MappedMemory& memory = follower.memory;
  std::array<uint64_t, kMappingKinds> end{};
  for (const MappedMemory::Piece& piece : memory.pieces()) {
    StackSums& sums = follower.stacks[{static_cast<int>(piece.kind), piece.group}];
    if (memory.LiveAtPeak(piece)) sums.peak += piece.bytes;
    if (!memory.LiveAtEnd(piece)) continue;
    sums.end += piece.bytes;
    end[static_cast<size_t>(piece.kind)] += piece.bytes;
  }
  std::array<Calls, kMappingKinds> calls{};
  for (const auto& [key, sums] : follower.stacks) {
    calls[static_cast<size_t>(key.first)].count += sums.calls.count;
    calls[static_cast<size_t>(key.first)].bytes += sums.calls.bytes;
    const auto kind = static_cast<MappingKind>(key.first);
    results::MappingStack* row = out->add_mapping_stacks();
    SetProcess(process, row);
    row->set_kind(kKinds[key.first]);
    row->set_stack_id(key.second);
    row->set_count(sums.calls.count);
    row->set_mapped_bytes(sums.calls.bytes);
    row->set_peak_bytes(sums.peak);
    row->set_peak_ratio(Ratio(sums.peak, memory.peak_bytes(kind)));
    row->set_end_bytes(sums.end);
  }
  for (int i = 0; i < kMappingKinds; ++i) {
    const auto kind = static_cast<MappingKind>(i);
    const uint64_t unmatched = i == 0 ? memory.unmatched_bytes() : 0;
    if (calls[static_cast<size_t>(i)].count == 0 && unmatched == 0) continue;
    results::MappedMemory* row = out->add_mapped();
    SetProcess(process, row);
    row->set_name(ProcessName(process));
    row->set_kind(kKinds[i]);
    row->set_count(calls[static_cast<size_t>(i)].count);
    row->set_mapped_bytes(calls[static_cast<size_t>(i)].bytes);
    row->set_peak_bytes(memory.peak_bytes(kind));
    row->set_peak_time_ns(memory.peak_time(kind));
    row->set_end_bytes(end[static_cast<size_t>(i)]);
    row->set_unmatched_bytes(unmatched);
  }
}

}  // namespace gpuprof::analysis
