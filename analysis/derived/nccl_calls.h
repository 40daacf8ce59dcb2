// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What NCCL's ranges of NVTX tell about its kernels: the communicator, and the size of the message.
// NCCL writes them as payloads: nvtx_payload_schemas.h. A communicator has one id on all its ranks.
// Made for one process, which must outlive it; one thread.

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/collective_entries.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class NcclCalls {
 public:
  explicit NcclCalls(const Process& process);

  // Fills what the range says from which the kernel was launched. `correlation`: the kernel's.
  void Read(uint32_t correlation, RankEntries* rank, CollectiveEntry* entry);

 private:
  struct Range {
    Interval span;
    CollectiveKind kind = CollectiveKind::kUnknown;
    std::optional<uint64_t> communicator, bytes, peer;
  };
  void AddTrack(const Track& track, uint32_t nccl);
  const Range* Find(uint32_t correlation) const;

  const Process& process_;
  std::vector<std::vector<Range>> ranges_;  // by track, by start
  std::map<uint64_t, uint32_t> sizes_;      // ranks by communicator
  std::unique_ptr<CallIndex> calls_;        // null: there are no ranges
};

}  // namespace gpuprof::analysis
