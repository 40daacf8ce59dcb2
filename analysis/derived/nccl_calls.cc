// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/nccl_calls.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <utility>

#include "analysis/derived/launch_functions.h"
#include "analysis/derived/range_value_rows.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kNcclDomain = "NCCL";

bool IsWhole(RangeValue type) { return type == RangeValue::kUint64 || type == RangeValue::kInt64; }

std::string CommunicatorName(uint64_t id) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%" PRIx64, id);
  return text;
}

// Returns the process's group of the communicator, and makes it the entry's.
EntryGroup& GroupOf(uint64_t communicator, RankEntries* rank, CollectiveEntry* entry) {
  const std::string name = CommunicatorName(communicator);
  const auto known = std::find_if(rank->groups.begin(), rank->groups.end(),
                                  [&](const EntryGroup& group) { return group.name == name; });
  entry->group = static_cast<uint32_t>(known - rank->groups.begin());
  if (known != rank->groups.end()) return *known;
  EntryGroup& group = rank->groups.emplace_back();
  group.name = name;
  return group;
}

// Returns the size of a message. NCCL gives a rank's part of what all gather, and of what each
// keeps of a sum. None: the number of ranks is not known.
std::optional<uint64_t> SizeOfPart(CollectiveKind kind, uint64_t bytes, uint32_t ranks) {
  const bool is_part = kind == CollectiveKind::kAllGather || kind == CollectiveKind::kReduceScatter;
  if (!is_part) return bytes;
  if (ranks == 0) return std::nullopt;
  return bytes * ranks;
}

}  // namespace

NcclCalls::NcclCalls(const Process& process)
    : process_(process), notes_(process), launches_(LaunchFunctions(process)) {
  for (size_t at = 0; at < process.tracks.size(); ++at)
    if (!process.tracks[at].is_stream) tracks_.emplace(process.tracks[at].tid, at);
  uint32_t nccl = 0;
  for (const auto& [id, text] : process.strings)
    if (text == kNcclDomain) nccl = id;
  if (nccl == 0) return;
  ranges_.resize(process.tracks.size());
  bool has_ranges = false;
  for (size_t at = 0; at < process.tracks.size(); ++at) {
    const Track& track = process.tracks[at];
    if (track.range_value.rows() == 0) continue;
    AddTrack(track, nccl);
    has_ranges |= !ranges_[at].empty();
  }
  if (has_ranges) calls_ = std::make_unique<CallIndex>(process);
}

void NcclCalls::AddTrack(const Track& track, uint32_t nccl) {
  const auto values = ValuesOfRanges(track);
  std::vector<Range>& ranges = ranges_[static_cast<size_t>(&track - process_.tracks.data())];
  for (size_t row = 0; row < values.size(); ++row) {
    if (track.range.domain[row] != nccl) continue;
    Range range;
    const int64_t end = track.range.end_ns[row];
    range.span = {end - track.range.duration_ns[row], end};
    const std::string name = process_.String(track.range.name[row]);
    range.kind = KindOfCollective(name);
    std::optional<uint64_t> ranks, own_rank;
    for (size_t i = values[row].first; i < values[row].second; ++i) {
      if (!IsWhole(RangeValueOf(track.range_value.operation[i]))) continue;
      const std::string key = process_.String(track.range_value.name[i]);
      const uint64_t value = track.range_value.value[i];
      // Releases write "NCCL communicator ID" and "NCCL Communicator ID".
      if (key.find("ommunicator") != std::string::npos) range.communicator = value;
      if (key.find("[bytes]") != std::string::npos) range.bytes = value;
      if (key.find("Peer") != std::string::npos) range.peer = value;
      if (key.find("of ranks") != std::string::npos) ranks = value;
      if (key == "Rank") own_rank = value;
    }
    if (!range.communicator) continue;
    if (ranks) {
      Size& size = sizes_[*range.communicator];
      size.ranks = static_cast<uint32_t>(*ranks);
      if (own_rank) size.own_rank = static_cast<int32_t>(*own_rank);
    } else {
      ranges.push_back(range);
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Range& a, const Range& b) { return a.span.start < b.span.start; });
}

std::optional<NcclCalls::Moment> NcclCalls::CaptureOf(uint64_t graph_node) const {
  const auto node = process_.graphs.nodes.find(process_.graphs.RootOf(graph_node));
  if (node == process_.graphs.nodes.end() || node->second.made_by == 0) return std::nullopt;
  const auto track = tracks_.find(node->second.made_by);
  if (track == tracks_.end()) return std::nullopt;
  return Moment{track->second, node->second.made_ns};
}

bool NcclCalls::LaunchesGraph(const Call& call) const {
  const ApiTable& calls = process_.tracks[call.track].api;
  if (calls.has_ids_alone()) return false;
  const auto function = launches_.find(calls.function[call.row]);
  return function != launches_.end() && function->second;
}

const NcclCalls::Range* NcclCalls::Find(const Moment& moment) const {
  const std::vector<Range>& ranges = ranges_[moment.track];
  const auto after = std::partition_point(ranges.begin(), ranges.end(), [&](const Range& each) {
    return each.span.start <= moment.time_ns;
  });
  if (after == ranges.begin()) return nullptr;
  const Range& last = *(after - 1);
  // The end of a group launches what the calls before it asked for.
  const bool is_inside = last.span.end >= moment.time_ns;
  return is_inside || last.kind != CollectiveKind::kUnknown ? &last : nullptr;
}

void NcclCalls::ReadRange(const Range& range, RankEntries* rank, CollectiveEntry* entry) const {
  const auto known = sizes_.find(*range.communicator);
  const Size size = known == sizes_.end() ? Size() : known->second;
  EntryGroup& group = GroupOf(*range.communicator, rank, entry);
  group.size = size.ranks;
  group.own_rank = size.own_rank;
  if (range.kind != CollectiveKind::kUnknown) entry->kind = range.kind;
  if (range.peer) entry->peer = static_cast<int32_t>(*range.peer);
  if (range.bytes) entry->bytes = SizeOfPart(entry->kind, *range.bytes, size.ranks);
}

void NcclCalls::ReadNotes(const std::vector<NcclNote>& notes, RankEntries* rank,
                          CollectiveEntry* entry) {
  const NcclNote& first = notes.front();
  EntryGroup& group = GroupOf(first.communicator, rank, entry);
  if (first.ranks != 0) group.size = first.ranks;
  group.nodes = first.nodes;
  group.own_rank = first.rank;
  group.description = first.description;
  entry->sequence = first.number;
  entry->is_of_kind = true;
  if (first.kind != CollectiveKind::kUnknown) entry->kind = first.kind;
  entry->peer = first.peer;
  uint64_t bytes = 0;
  bool has_bytes = true;
  for (const NcclNote& note : notes) {
    has_bytes &= note.bytes.has_value();
    bytes += note.bytes.value_or(0);
    // A kernel may send to several ranks, and receive from several.
    if (note.peer != first.peer) entry->peer = -1;
    if (note.kind != first.kind && IsMessage(note.kind)) entry->kind = CollectiveKind::kSend;
    if (note.kind != first.kind) entry->peer = -1;
  }
  if (has_bytes) entry->bytes = SizeOfPart(entry->kind, bytes, group.size);
}

void NcclCalls::Read(const KernelTable& kernels, size_t row, RankEntries* rank,
                     CollectiveEntry* entry) {
  const uint32_t correlation = kernels.correlation[row];
  const uint64_t node = kernels.graph_node[row];
  const std::optional<Call> call = calls_ ? calls_->Find(correlation) : std::nullopt;
  const bool is_of_graph = kernels.graph[row] != 0 || node != 0 || (call && LaunchesGraph(*call));
  std::optional<Moment> moment;
  if (is_of_graph) moment = CaptureOf(node);
  if (!is_of_graph && call) moment = Moment{call->track, call->start_ns};
  const Range* range = calls_ && moment ? Find(*moment) : nullptr;
  if (range != nullptr) ReadRange(*range, rank, entry);
  const std::vector<NcclNote>* notes = nullptr;
  if (!is_of_graph) notes = notes_.OfCall(correlation);
  if (is_of_graph && moment) notes = notes_.OfMoment(moment->track, moment->time_ns);
  // What the range said of another communicator of the same group of calls is wrong here.
  if (notes != nullptr) ReadNotes(*notes, rank, entry);
  if (is_of_graph) entry->sequence = -1;
}

}  // namespace gpuprof::analysis
