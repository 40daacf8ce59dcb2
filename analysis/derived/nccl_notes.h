// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What NCCL reported to its profiler plugin about the kernels that it launched: proto/nccl_names.h.
// NCCL reports right behind the launch, on the thread of the launch. A report on a thread of CUDA
// is of a graph that runs again, and belongs to no launch. Pure, any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/collective_message.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

// One collective or one message.
struct NcclNote {
  CollectiveKind kind = CollectiveKind::kUnknown;
  uint64_t communicator = 0;
  std::string description;        // the communicator's name
  int64_t number = -1;            // among the communicator's of this kind; -1: a message
  std::optional<uint64_t> bytes;  // of one rank's part, as proto::kNcclBytes
  uint32_t ranks = 0, nodes = 0;  // of the communicator; 0: not known
  int32_t rank = -1;              // of this process in the communicator
  int32_t peer = -1;              // likewise; -1: a collective
};

class NcclNotes {
 public:
  explicit NcclNotes(const Process& process);

  // Returns the notes of a launch, in their order; null: there is no note. `correlation`: the
  // call's.
  const std::vector<NcclNote>* OfCall(uint32_t correlation) const;
  // Does the same for the launch in which the thread was: a kernel of a graph was captured there.
  const std::vector<NcclNote>* OfMoment(size_t track, int64_t time_ns) const;

 private:
  using Launch = std::pair<int64_t, uint32_t>;  // begin, correlation

  std::unordered_map<uint32_t, std::vector<NcclNote>> notes_;  // by correlation
  std::unordered_map<size_t, std::vector<Launch>> launches_;   // of tracks with notes, by begin
};

}  // namespace gpuprof::analysis
