// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/read/stream_names.h"

#include <algorithm>
#include <cstdint>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "proto/schema.h"

namespace gpuprof::analysis {
namespace {

// A stream has a handle from `since` on, until the next one in the list has it.
struct Holder {
  int64_t since;
  size_t track;
};
using Holders = std::unordered_map<uint64_t, std::vector<Holder>>;  // by handle

// By time, and those of one stream beside each other.
Holders HoldersOf(const Process& process) {
  Holders holders;
  const std::vector<Track>& tracks = process.tracks;
  for (size_t i = 0; i < tracks.size(); ++i) {
    if (tracks[i].is_stream && tracks[i].handle != 0)
      holders[tracks[i].handle].push_back({tracks[i].handle_since_ns, i});
  }
  for (auto& [handle, list] : holders) {
    std::sort(list.begin(), list.end(), [&](const Holder& x, const Holder& y) {
      const Track& a = tracks[x.track];
      const Track& b = tracks[y.track];
      return std::tie(x.since, a.context, a.stream, x.track) <
             std::tie(y.since, b.context, b.stream, y.track);
    });
  }
  return holders;
}

// When captures began, but for the first: nothing is known from before it.
std::vector<int64_t> LaterStarts(const Process& process) {
  std::vector<int64_t> starts;
  for (size_t i = 1; i < process.captures.size(); ++i)
    starts.push_back(process.captures[i].start_ns);
  std::sort(starts.begin(), starts.end());
  return starts;
}

struct Given {
  int64_t time_ns = INT64_MIN;
  uint32_t name = 0;  // string id
};

// Between a stream's creation and the naming of its handle nobody looked away.
bool IsOneCapture(const std::vector<int64_t>& starts, int64_t since, int64_t time) {
  const auto next = std::upper_bound(starts.begin(), starts.end(), since);
  return next == starts.end() || *next > time;
}

void TakeNames(const RangeTable& names, const Holders& holders, const std::vector<int64_t>& starts,
               std::vector<Given>* given) {
  for (size_t i = 0; i < names.rows(); ++i) {
    const uint32_t operation = names.operation[i];
    if (proto::RangeKindOf(operation) != proto::RangeKind::kNameStream) continue;
    // When it was given is not known, and so not to which stream.
    if (proto::IsEarlierName(operation)) continue;
    const auto found = holders.find(names.payload[i]);
    if (found == holders.end()) continue;
    const int64_t time = names.end_ns[i];
    const std::vector<Holder>& list = found->second;
    const auto after = std::upper_bound(list.begin(), list.end(), time,
                                        [](int64_t t, const Holder& x) { return t < x.since; });
    if (after == list.begin()) continue;
    const Holder& holder = *(after - 1);
    if (!IsOneCapture(starts, holder.since, time)) continue;
    Given& last = (*given)[holder.track];
    if (time >= last.time_ns) last = {time, names.name[i]};
  }
}

// A stream has two tracks where its device was not known at first: what is given to the last of
// them is both's.
void SetNames(const Process& process, const std::vector<Given>& given,
              const std::vector<Holder>& list, std::vector<Track>* tracks) {
  const Track* next = nullptr;
  for (size_t i = list.size(); i-- > 0;) {
    Track& track = (*tracks)[list[i].track];
    const bool is_same = next != nullptr && next->handle_since_ns == track.handle_since_ns &&
                         next->context == track.context && next->stream == track.stream;
    track.name = is_same ? next->name : process.String(given[list[i].track].name);
    next = &track;
  }
}

}  // namespace

void NameStreams(Process* process) {
  const Holders holders = HoldersOf(*process);
  if (holders.empty()) return;
  const std::vector<int64_t> starts = LaterStarts(*process);
  std::vector<Given> given(process->tracks.size());
  for (const Track& track : process->tracks) TakeNames(track.range, holders, starts, &given);
  for (const auto& [handle, list] : holders) SetNames(*process, given, list, &process->tracks);
}

}  // namespace gpuprof::analysis
