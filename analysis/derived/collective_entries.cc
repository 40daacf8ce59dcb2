// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See collective_entries.h.

#include "analysis/derived/collective_entries.h"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_set>
#include <utility>

#include "analysis/derived/kernel_class.h"
#include "analysis/symbols/mangled_names.h"
#include "proto/record.h"

namespace gpuprof::analysis {
namespace {

// What the dispatcher's operations of process groups begin with.
constexpr std::string_view kGroupCalls = "c10d::";
constexpr std::array<std::string_view, 17> kCollectiveCalls = {"allgather_",
                                                               "allgather_coalesced_",
                                                               "allgather_into_tensor_coalesced_",
                                                               "_allgather_base_",
                                                               "allreduce_",
                                                               "allreduce_coalesced_",
                                                               "alltoall_",
                                                               "alltoall_base_",
                                                               "barrier",
                                                               "broadcast_",
                                                               "gather_",
                                                               "monitored_barrier_",
                                                               "reduce_",
                                                               "reduce_scatter_",
                                                               "reduce_scatter_tensor_coalesced_",
                                                               "_reduce_scatter_base_",
                                                               "scatter_"};

bool ByStart(const CollectiveEntry& a, const CollectiveEntry& b) { return a.start_ns < b.start_ns; }

// Returns the signatures of the process's collectives.
std::unordered_set<uint32_t> CollectiveKernels(const Process& process) {
  std::unordered_set<uint32_t> found;
  for (const auto& [id, signature] : process.signatures) {
    if (IsCollective(process, Demangle(process.String(signature.name()).c_str()))) found.insert(id);
  }
  return found;
}

std::map<uint32_t, RankEntries> KernelEntries(const Process& process) {
  std::map<uint32_t, RankEntries> ranks;
  const std::unordered_set<uint32_t> collectives = CollectiveKernels(process);
  if (collectives.empty()) return ranks;
  for (size_t at = 0; at < process.tracks.size(); ++at) {
    const Track& track = process.tracks[at];
    if (!track.is_stream) continue;
    for (size_t i = 0; i < track.kernel.rows(); ++i) {
      const uint32_t signature = track.kernel.signature[i];
      if (collectives.count(signature) == 0) continue;
      const uint32_t name = process.signatures.at(signature).name();
      const int64_t end = track.kernel.end_ns[i];
      RankEntries& rank = ranks[track.device];
      rank.device = track.device;
      rank.has_waits = true;
      rank.entries.push_back(
          {end - track.kernel.duration_ns[i], end, name, static_cast<uint32_t>(at)});
    }
  }
  for (auto& [device, rank] : ranks)
    std::stable_sort(rank.entries.begin(), rank.entries.end(), ByStart);
  return ranks;
}

std::vector<Interval> ConditionWaits(const WaitTable& table) {
  std::vector<Interval> waits;
  for (size_t i = 0; i < table.rows(); ++i) {
    if (proto::WaitKindOf(table.operation[i]) != proto::WaitKind::kCondition) continue;
    waits.push_back({table.end_ns[i] - table.duration_ns[i], table.end_ns[i]});
  }
  return UnionOf(std::move(waits));
}

// Gives each entry of a thread the end of the first wait that began before the thread's next entry.
void FindEnds(const std::vector<Interval>& waits, std::vector<CollectiveEntry>* entries) {
  size_t next = 0;
  for (size_t i = 0; i < entries->size(); ++i) {
    CollectiveEntry& entry = (*entries)[i];
    while (next < waits.size() && waits[next].start < entry.start_ns) ++next;
    if (next == waits.size()) return;
    const bool is_last = i + 1 == entries->size();
    if (is_last || waits[next].start < (*entries)[i + 1].start_ns) entry.done_ns = waits[next].end;
  }
}

std::optional<RankEntries> HostEntries(const Process& process) {
  std::unordered_set<uint32_t> collectives;  // string ids
  for (const auto& [id, name] : process.strings)
    if (IsCollectiveCall(name)) collectives.insert(id);
  if (collectives.empty()) return std::nullopt;
  RankEntries rank;
  rank.waits.resize(process.tracks.size());
  for (size_t at = 0; at < process.tracks.size(); ++at) {
    const Track& track = process.tracks[at];
    if (track.wait.rows() != 0) rank.has_waits = true;
    std::vector<CollectiveEntry> entries;
    for (size_t i = 0; i < track.op.rows(); ++i) {
      const uint32_t name = track.op.name[i];
      if (collectives.count(name) == 0) continue;
      entries.push_back({track.op.end_ns[i] - track.op.duration_ns[i], std::nullopt, name,
                         static_cast<uint32_t>(at)});
    }
    if (entries.empty()) continue;
    std::stable_sort(entries.begin(), entries.end(), ByStart);
    rank.waits[at] = ConditionWaits(track.wait);
    FindEnds(rank.waits[at], &entries);
    rank.entries.insert(rank.entries.end(), entries.begin(), entries.end());
  }
  if (rank.entries.empty()) return std::nullopt;
  std::stable_sort(rank.entries.begin(), rank.entries.end(), ByStart);
  return rank;
}

}  // namespace

bool IsCollectiveCall(std::string_view op) {
  if (!op.starts_with(kGroupCalls)) return false;
  op.remove_prefix(kGroupCalls.size());
  return std::find(kCollectiveCalls.begin(), kCollectiveCalls.end(), op) != kCollectiveCalls.end();
}

std::vector<RankEntries> FindCollectiveEntries(const Process& process) {
  std::vector<RankEntries> ranks;
  for (auto& [device, rank] : KernelEntries(process)) ranks.push_back(std::move(rank));
  if (!ranks.empty()) return ranks;
  if (std::optional<RankEntries> rank = HostEntries(process)) ranks.push_back(std::move(*rank));
  return ranks;
}

}  // namespace gpuprof::analysis
