// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When the ranks of one process entered collectives: kernels of collectives on a device, or calls
// of PyTorch's process groups on the host. Pure, any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

struct CollectiveEntry {
  int64_t start_ns = 0;
  // When this rank had the result: the end of the kernel, or of a wait for a condition. The wait is
  // the first that the thread began before its next collective. None: no wait was recorded there.
  std::optional<int64_t> done_ns;
  uint32_t name = 0;   // string id of the process
  uint32_t track = 0;  // of the process
};

// A device of a process whose kernels are collectives, or the host's part of a process.
struct RankEntries {
  std::optional<uint32_t> device;        // none: the host's calls
  std::vector<CollectiveEntry> entries;  // by start
  // By track, for those with entries: when the thread waited for a condition. Sorted, disjoint.
  std::vector<std::vector<Interval>> waits;
  bool has_waits = false;  // waits were recorded: those of the host, or kernels
};

// Returns whether the operation is a call of a process group that all its ranks take part in:
// "c10d::allreduce_". Sends and receives are not.
bool IsCollectiveCall(std::string_view op);

// Returns the ranks of the process. A process with kernels of collectives has one for each device,
// and another process has at most one. Empty: it entered no collective.
std::vector<RankEntries> FindCollectiveEntries(const Process& process);

}  // namespace gpuprof::analysis
