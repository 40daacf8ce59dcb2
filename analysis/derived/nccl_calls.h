// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What NCCL tells about its kernels: the communicator, the number of the collective, and the size
// of the message. A communicator has one id on all its ranks. NCCL tells a profiler plugin most
// (nccl_notes.h). Its ranges of NVTX have payloads, without a number: nvtx_payload_schemas.h. Made
// for one process, which must outlive it; one thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/collective_entries.h"
#include "analysis/derived/nccl_notes.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class NcclCalls {
 public:
  explicit NcclCalls(const Process& process);

  // Fills what NCCL reported about the kernel. For a kernel of a graph NCCL reported when the graph
  // was captured. Then there is no number, as the graph runs again and again.
  void Read(const KernelTable& kernels, size_t row, RankEntries* rank, CollectiveEntry* entry);

 private:
  struct Range {
    Interval span;
    CollectiveKind kind = CollectiveKind::kUnknown;
    std::optional<uint64_t> communicator, bytes, peer;
  };
  // What the program's call of ncclCommInitRank says.
  struct Size {
    uint32_t ranks = 0;
    int32_t own_rank = -1;
  };
  // The place at which the program launched a kernel, or captured it.
  struct Moment {
    size_t track = 0;
    int64_t time_ns = 0;
  };
  void AddTrack(const Track& track, uint32_t nccl);
  std::optional<Moment> CaptureOf(uint64_t graph_node) const;
  bool LaunchesGraph(const Call& call) const;
  const Range* Find(const Moment& moment) const;
  void ReadRange(const Range& range, RankEntries* rank, CollectiveEntry* entry) const;
  static void ReadNotes(const std::vector<NcclNote>& notes, RankEntries* rank,
                        CollectiveEntry* entry);

  const Process& process_;
  std::vector<std::vector<Range>> ranges_;  // by track, by start
  std::map<uint64_t, Size> sizes_;          // by communicator
  std::unique_ptr<CallIndex> calls_;        // null: there are no ranges
  NcclNotes notes_;
  std::unordered_map<int32_t, size_t> tracks_;   // by thread
  std::unordered_map<uint32_t, bool> launches_;  // LaunchFunctions
};

}  // namespace gpuprof::analysis
