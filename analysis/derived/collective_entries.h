// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When the ranks of one process entered collectives: kernels of collectives on a device, or calls
// of PyTorch's process groups on the host. Pure, any thread.
//
// The kernel's own detail names the group of ranks of a collective. Otherwise NCCL names it:
// nccl_calls.h. Calls of the host lack one if a process has several groups: gloo_groups.h finds it.
// A process of one group alone has all its calls in that group.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/derived/collective_message.h"
#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// No group: nothing tells it.
inline constexpr uint32_t kNoGroup = 0xffffffff;

struct CollectiveEntry {
  int64_t start_ns = 0;
  // When this rank had the result: the end of the kernel, of gloo's work, or of a wait for a
  // condition. The wait is the first that the thread began before its next collective. None: no end
  // was recorded there.
  std::optional<int64_t> done_ns;
  uint32_t name = 0;   // string id of the process
  uint32_t track = 0;  // of the process
  CollectiveKind kind = CollectiveKind::kUnknown;
  uint32_t group = kNoGroup;  // index in RankEntries::groups
  int32_t peer = -1;      // the other rank of a message, in its group; -1: not known, or no message
  int64_t sequence = -1;  // among the group's collectives; -1: not known
  bool is_of_kind = false;        // `sequence` counts the group's collectives of this kind alone
  std::optional<uint64_t> bytes;  // SizeOf the message
  std::optional<uint64_t> received_bytes;
};

// A group of ranks as one process knows it.
struct EntryGroup {
  std::string name;  // "3"; of no other group of the process
  std::string description;
  uint32_t size = 0;            // 0: not known
  std::vector<uint32_t> ranks;  // of the whole job; empty: not known
  std::string first_ranks;      // as the trace writes them; a long list is cut
  uint32_t nodes = 0;           // machines of its ranks; 0: not known
  int32_t own_rank = -1;        // of the process in the group; -1: as in the whole job
};

// A device of a process whose kernels are collectives, or the host's part of a process.
struct RankEntries {
  std::optional<uint32_t> device;        // none: the host's calls
  std::vector<CollectiveEntry> entries;  // by start
  std::vector<EntryGroup> groups;
  std::vector<int32_t> gloo_threads;  // by entry: which thread of gloo did it; 0: not known
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

// Returns the devices of the process on which collectives run, in ascending order.
std::vector<uint32_t> CollectiveDevices(const Process& process);

}  // namespace gpuprof::analysis
