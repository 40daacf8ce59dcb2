// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See collective_entries.h.

#include "analysis/derived/collective_entries.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "analysis/derived/collective_ends.h"
#include "analysis/derived/gloo_work.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/derived/nccl_calls.h"
#include "analysis/model/process_groups.h"
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

// Reads the details of a process's collectives.
class MessageReader {
 public:
  MessageReader(const Process& process, RankEntries* rank) : process_(process), rank_(*rank) {}

  // Fills what the detail says. `detail`: string id.
  void Read(uint32_t detail, bool is_send_receive, CollectiveEntry* entry) {
    const auto text = process_.strings.find(detail);
    if (text == process_.strings.end()) return;
    const auto message = ReadMessage(text->second);
    if (!message) return;
    entry->kind = KindOf(message->name);
    // Messages that were joined into one kernel do not tell their ranks.
    if (entry->kind == CollectiveKind::kUnknown && is_send_receive)
      entry->kind = CollectiveKind::kSend;
    entry->sequence = message->sequence;
    entry->bytes = SizeOf(*message);
    entry->received_bytes = message->out_bytes;
    if (entry->kind == CollectiveKind::kSend)
      entry->peer = static_cast<int32_t>(message->destination);
    if (entry->kind == CollectiveKind::kReceive)
      entry->peer = static_cast<int32_t>(message->source);
    if (!message->group.empty()) entry->group = GroupOf(*message);
  }

 private:
  CollectiveKind KindOf(std::string_view name) {
    const auto [at, is_new] = kinds_.try_emplace(name, CollectiveKind::kUnknown);
    if (is_new) at->second = KindOfCollective(name);
    return at->second;
  }

  uint32_t GroupOf(const CollectiveMessage& message) {
    const auto number = static_cast<uint32_t>(rank_.groups.size());
    const auto [at, is_new] = groups_.try_emplace({message.group, message.ranks}, number);
    if (is_new) rank_.groups.push_back(MakeGroup(message));
    return at->second;
  }

  EntryGroup MakeGroup(const CollectiveMessage& message) {
    if (!has_known_) known_ = GroupsOf(process_);
    has_known_ = true;
    EntryGroup group;
    group.name = message.group;
    group.description = message.description;
    group.size = message.group_size;
    std::string& list = group.first_ranks;
    for (const char c : message.ranks)
      if (c != ' ' && c != '[' && c != ']') list += c;
    group.ranks = ReadRankList(list);
    if (group.size == 0) group.size = static_cast<uint32_t>(group.ranks.size());
    for (const ProcessGroup& each : known_) {
      const bool is_same = each.name == group.name && each.ranks.size() == group.size;
      if (is_same && group.ranks.empty()) group.ranks = each.ranks;
      if (is_same && group.description.empty()) group.description = each.description;
    }
    // The text does not grow with the size that it names, so damage could ask for any.
    const bool is_strided = message.rank_start >= 0 && message.rank_start < kMostRanks &&
                            message.rank_stride > 0 && message.rank_stride < kMostRanks;
    if (group.ranks.empty() && is_strided && group.size <= ranks_left_) {
      ranks_left_ -= group.size;
      for (uint32_t i = 0; i < group.size; ++i)
        group.ranks.push_back(
            static_cast<uint32_t>(message.rank_start + message.rank_stride * int64_t{i}));
    }
    if (group.ranks.size() != group.size) group.ranks.clear();
    return group;
  }

  const Process& process_;
  RankEntries& rank_;
  std::vector<ProcessGroup> known_;
  bool has_known_ = false;
  static constexpr uint32_t kMostRanks = 1'000'000;
  uint32_t ranks_left_ = kMostRanks;
  std::unordered_map<std::string_view, CollectiveKind> kinds_;
  std::map<std::pair<std::string_view, std::string_view>, uint32_t> groups_;
};

// What is known of a collective by its kernel alone.
struct CollectiveKernel {
  uint32_t name = 0;
  CollectiveKind kind = CollectiveKind::kUnknown;
  bool is_send_receive = false;
};

std::map<uint32_t, RankEntries> KernelEntries(const Process& process) {
  std::map<uint32_t, RankEntries> ranks;
  std::unordered_map<uint32_t, CollectiveKernel> collectives;  // by signature
  for (const uint32_t signature : CollectiveKernels(process)) {
    CollectiveKernel& kernel = collectives[signature];
    kernel.name = process.signatures.at(signature).name();
    const std::string name = process.String(kernel.name);
    kernel.kind = KindOfCollective(name);
    kernel.is_send_receive = name.find("SendRecv") != std::string::npos;
    // A kernel of the name alone may be a part of an operation of all ranks.
    if (IsMessage(kernel.kind)) kernel.kind = CollectiveKind::kUnknown;
  }
  if (collectives.empty()) return ranks;
  std::map<uint32_t, MessageReader> readers;
  std::unique_ptr<NcclCalls> calls;
  for (size_t at = 0; at < process.tracks.size(); ++at) {
    const Track& track = process.tracks[at];
    if (!track.is_stream || track.kernel.rows() == 0) continue;
    const Column<uint32_t>::Reader signatures(track.kernel.signature);
    const Column<int64_t>::Reader ends(track.kernel.end_ns);
    const Column<int64_t>::Reader durations(track.kernel.duration_ns);
    const bool has_details = track.kernel.detail.size() == track.kernel.rows();
    for (size_t i = 0; i < track.kernel.rows(); ++i) {
      const auto known = collectives.find(signatures[i]);
      if (known == collectives.end()) continue;
      RankEntries& rank = ranks[track.device];
      rank.device = track.device;
      rank.has_waits = true;
      CollectiveEntry entry;
      entry.start_ns = ends[i] - durations[i];
      entry.done_ns = ends[i];
      entry.name = known->second.name;
      entry.track = static_cast<uint32_t>(at);
      entry.kind = known->second.kind;
      if (has_details && track.kernel.detail[i] != 0) {
        readers.try_emplace(track.device, process, &rank)
            .first->second.Read(track.kernel.detail[i], known->second.is_send_receive, &entry);
      } else {
        if (!calls) calls = std::make_unique<NcclCalls>(process);
        calls->Read(track.kernel, i, &rank, &entry);
      }
      rank.entries.push_back(entry);
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
  std::unordered_map<uint32_t, CollectiveKind> collectives;  // by string id
  for (const auto& [id, name] : process.strings)
    if (IsCollectiveCall(name)) collectives.emplace(id, KindOfCollective(name));
  if (collectives.empty()) return std::nullopt;
  RankEntries rank;
  rank.waits.resize(process.tracks.size());
  for (size_t at = 0; at < process.tracks.size(); ++at) {
    const Track& track = process.tracks[at];
    if (track.wait.rows() != 0) rank.has_waits = true;
    std::vector<CollectiveEntry> entries;
    for (size_t i = 0; i < track.op.rows(); ++i) {
      const auto known = collectives.find(track.op.name[i]);
      if (known == collectives.end()) continue;
      CollectiveEntry& entry = entries.emplace_back();
      entry.start_ns = track.op.end_ns[i] - track.op.duration_ns[i];
      entry.name = known->first;
      entry.track = static_cast<uint32_t>(at);
      entry.kind = known->second;
    }
    if (entries.empty()) continue;
    std::stable_sort(entries.begin(), entries.end(), ByStart);
    rank.waits[at] = ConditionWaits(track.wait);
    FindEnds(rank.waits[at], &entries);
    rank.entries.insert(rank.entries.end(), entries.begin(), entries.end());
  }
  if (rank.entries.empty()) return std::nullopt;
  std::stable_sort(rank.entries.begin(), rank.entries.end(), ByStart);
  AddGlooWork(process, &rank);
  FindEndsByMarks(process, &rank.entries);
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

std::vector<uint32_t> CollectiveDevices(const Process& process) {
  std::set<uint32_t> devices;
  const std::unordered_set<uint32_t> collectives = CollectiveKernels(process);
  for (const Track& track : process.tracks) {
    if (collectives.empty() || !track.is_stream || devices.contains(track.device)) continue;
    for (size_t i = 0; i < track.kernel.rows(); ++i) {
      if (!collectives.contains(track.kernel.signature[i])) continue;
      devices.insert(track.device);
      break;
    }
  }
  return {devices.begin(), devices.end()};
}

}  // namespace gpuprof::analysis
