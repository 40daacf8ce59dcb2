// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/nccl_notes.h"

#include <algorithm>
#include <utility>

#include "analysis/derived/launch_functions.h"
#include "analysis/derived/range_value_rows.h"
#include "proto/nccl_names.h"

namespace gpuprof::analysis {
namespace {

struct PlacedNote {
  int64_t time_ns = 0;
  NcclNote note;
};

void Take(const Process& process, const RangeValueTable& table, size_t row, NcclNote* note) {
  const std::string key = process.String(table.name[row]);
  const uint64_t value = table.value[row];
  const auto whole = static_cast<int32_t>(value);
  if (key == proto::kNcclCommunicator) note->communicator = value;
  if (key == proto::kNcclNumber) note->number = static_cast<int64_t>(value);
  // The type of the data is not known if it is 0.
  if (key == proto::kNcclBytes && value != 0) note->bytes = value;
  if (key == proto::kNcclRanks) note->ranks = static_cast<uint32_t>(value);
  if (key == proto::kNcclNodes) note->nodes = static_cast<uint32_t>(value);
  if (key == proto::kNcclRank) note->rank = whole;
  if (key == proto::kNcclPeer) note->peer = whole;
  if (key == proto::kNcclCommunicatorName)
    note->description = process.String(static_cast<uint32_t>(value));
}

std::vector<PlacedNote> NotesOf(const Process& process, const Track& track, uint32_t domain) {
  std::vector<PlacedNote> notes;
  const auto values = ValuesOfRanges(track);
  for (size_t row = 0; row < values.size(); ++row) {
    if (track.range.domain[row] != domain || values[row].first == values[row].second) continue;
    PlacedNote& placed = notes.emplace_back();
    placed.time_ns = track.range.end_ns[row];
    placed.note.kind = KindOfCollective(process.String(track.range.name[row]));
    for (size_t i = values[row].first; i < values[row].second; ++i)
      Take(process, track.range_value, i, &placed.note);
  }
  std::stable_sort(notes.begin(), notes.end(),
                   [](const PlacedNote& a, const PlacedNote& b) { return a.time_ns < b.time_ns; });
  return notes;
}

// Returns the launches of the track: their begins, and their correlations.
std::vector<std::pair<int64_t, uint32_t>> LaunchesOf(
    const Track& track, const std::unordered_map<uint32_t, bool>& functions) {
  std::vector<std::pair<int64_t, uint32_t>> launches;
  if (track.api.has_ids_alone()) return launches;
  for (size_t row = 0; row < track.api.rows(); ++row) {
    if (functions.contains(track.api.function[row]))
      launches.emplace_back(track.api.end_ns[row] - track.api.duration_ns[row],
                            track.api.correlation[row]);
  }
  std::sort(launches.begin(), launches.end());
  return launches;
}

}  // namespace

NcclNotes::NcclNotes(const Process& process) {
  uint32_t domain = 0;
  for (const auto& [id, text] : process.strings)
    if (text == proto::kNcclProfilerDomain) domain = id;
  if (domain == 0) return;
  const std::unordered_map<uint32_t, bool> functions = LaunchFunctions(process);
  for (size_t at = 0; at < process.tracks.size(); ++at) {
    const Track& track = process.tracks[at];
    if (track.range_value.rows() == 0) continue;
    const std::vector<PlacedNote> notes = NotesOf(process, track, domain);
    if (notes.empty()) continue;
    const std::vector<Launch>& launches = launches_[at] = LaunchesOf(track, functions);
    size_t next = 0;
    for (const PlacedNote& placed : notes) {
      while (next < launches.size() && launches[next].first <= placed.time_ns) ++next;
      if (next != 0) notes_[launches[next - 1].second].push_back(placed.note);
    }
  }
}

const std::vector<NcclNote>* NcclNotes::OfCall(uint32_t correlation) const {
  const auto found = notes_.find(correlation);
  return found == notes_.end() ? nullptr : &found->second;
}

const std::vector<NcclNote>* NcclNotes::OfMoment(size_t track, int64_t time_ns) const {
  const auto known = launches_.find(track);
  if (known == launches_.end()) return nullptr;
  const std::vector<Launch>& launches = known->second;
  const auto after =
      std::partition_point(launches.begin(), launches.end(),
                           [time_ns](const Launch& launch) { return launch.first <= time_ns; });
  return after == launches.begin() ? nullptr : OfCall((after - 1)->second);
}

}  // namespace gpuprof::analysis
