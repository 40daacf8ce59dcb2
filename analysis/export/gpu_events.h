// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What devices did, as events in Kineto's words: kernels, copies, memsets and waits, each with the
// arrow from its call. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "analysis/derived/call_index.h"
#include "analysis/derived/event_records.h"
#include "analysis/export/event_out.h"
#include "analysis/export/object_members.h"
#include "analysis/export/op_links.h"
#include "analysis/export/places.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class GpuEvents {
 public:
  // Uses all arguments, which must outlive it.
  GpuEvents(const Process& process, const Places& places, const OpLinks& links,
            const CallIndex& calls, bool is_imported, EventOut* out)
      : process_(process),
        places_(places),
        links_(links),
        is_imported_(is_imported),
        index_(calls),
        records_(process, calls),
        members_(process),
        out_(out) {}

  // Writes the rows of a stream's track: index in Process::tracks. Returns false if the sink wants
  // no more.
  bool Write(size_t track);

 private:
  // What is the same for all kernels of a signature: a name, and arguments as JSON.
  struct Shape {
    std::string name;
    std::string front;  // registers, shared memory, blocks and warps, grid, block, occupancy
  };
  bool Kernels(const Track& track);
  bool Copies(const Track& track);
  bool Sets(const Track& track);
  bool Waits(const Track& track);
  bool HostFunctions(const Track& track);
  Place PlaceOf(const Track& track) const { return places_.OfStream(*home_, track.stream); }
  const Shape& ShapeOf(uint32_t signature, uint32_t device);
  void Origin(const Track& track, uint32_t correlation);
  void GraphNode(uint32_t graph, uint64_t node);
  void Bandwidth(uint64_t bytes, int64_t duration_ns);
  void FlowEnd(const Track& track, uint32_t correlation, int64_t start_ns);

  const Process& process_;
  const Places& places_;
  const OpLinks& links_;
  bool is_imported_;
  const CallIndex& index_;
  EventRecords records_;
  ObjectMembers members_;  // about collectives
  EventOut* out_;
  const Track* home_ = nullptr;                 // the track of this stream whose device is known
  std::unordered_map<uint64_t, Shape> shapes_;  // by signature and device
};

}  // namespace gpuprof::analysis
