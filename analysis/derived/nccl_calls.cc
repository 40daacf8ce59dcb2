// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/nccl_calls.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <utility>

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

}  // namespace

NcclCalls::NcclCalls(const Process& process) : process_(process) {
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
    std::optional<uint64_t> ranks;
    for (size_t i = values[row].first; i < values[row].second; ++i) {
      if (!IsWhole(RangeValueOf(track.range_value.operation[i]))) continue;
      const std::string key = process_.String(track.range_value.name[i]);
      const uint64_t value = track.range_value.value[i];
      // Releases write "NCCL communicator ID" and "NCCL Communicator ID".
      if (key.find("ommunicator") != std::string::npos) range.communicator = value;
      if (key.find("[bytes]") != std::string::npos) range.bytes = value;
      if (key.find("Peer") != std::string::npos) range.peer = value;
      if (key.find("of ranks") != std::string::npos) ranks = value;
    }
    if (!range.communicator) continue;
    if (ranks) {
      sizes_[*range.communicator] = static_cast<uint32_t>(*ranks);
    } else {
      ranges.push_back(range);
    }
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Range& a, const Range& b) { return a.span.start < b.span.start; });
}

const NcclCalls::Range* NcclCalls::Find(uint32_t correlation) const {
  const std::optional<Call> call = calls_->Find(correlation);
  if (!call || ranges_[call->track].empty()) return nullptr;
  const std::vector<Range>& ranges = ranges_[call->track];
  const auto after = std::partition_point(ranges.begin(), ranges.end(), [&](const Range& each) {
    return each.span.start <= call->start_ns;
  });
  if (after == ranges.begin()) return nullptr;
  const Range& last = *(after - 1);
  // The end of a group launches what the calls before it asked for.
  const bool is_inside = last.span.end >= call->start_ns;
  return is_inside || last.kind != CollectiveKind::kUnknown ? &last : nullptr;
}

void NcclCalls::Read(uint32_t correlation, RankEntries* rank, CollectiveEntry* entry) {
  if (!calls_ || correlation == 0) return;
  const Range* range = Find(correlation);
  if (range == nullptr) return;
  const std::string name = CommunicatorName(*range->communicator);
  const auto size = sizes_.find(*range->communicator);
  const uint32_t ranks = size == sizes_.end() ? 0 : size->second;
  const auto known = std::find_if(rank->groups.begin(), rank->groups.end(),
                                  [&](const EntryGroup& group) { return group.name == name; });
  entry->group = static_cast<uint32_t>(known - rank->groups.begin());
  if (known == rank->groups.end()) rank->groups.push_back({name, "", ranks, {}, ""});
  if (range->kind != CollectiveKind::kUnknown) entry->kind = range->kind;
  if (range->peer) entry->peer = static_cast<int32_t>(*range->peer);
  // NCCL gives a rank's part of what all gather, and of what each keeps of a sum.
  const bool is_part =
      entry->kind == CollectiveKind::kAllGather || entry->kind == CollectiveKind::kReduceScatter;
  if (range->bytes && is_part && ranks != 0) entry->bytes = *range->bytes * ranks;
  if (range->bytes && !is_part) entry->bytes = range->bytes;
}

}  // namespace gpuprof::analysis
