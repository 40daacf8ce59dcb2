// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/derived/gloo_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/derived/row_details.h"
#include "analysis/model/process_groups.h"

namespace gpuprof::analysis {
namespace {

constexpr std::string_view kGlooPrefix = "gloo:";

struct GlooWork {
  Interval span;
  int32_t tid = 0;
  std::optional<uint64_t> bytes;  // of the rank's input
};

// Returns the bytes of an operation's first tensor.
std::optional<uint64_t> BytesOf(const RowDetail& detail) {
  if (detail.inputs.empty()) return std::nullopt;
  const OpInput& input = detail.inputs.front();
  const uint64_t each = BytesOfType(input.type);
  if (!input.is_tensor || each == 0) return std::nullopt;
  uint64_t bytes = each;
  for (const int64_t size : input.dims) bytes *= static_cast<uint64_t>(std::max<int64_t>(0, size));
  return bytes;
}

// Returns the work of gloo by its kind, by start.
std::map<CollectiveKind, std::vector<GlooWork>> WorkOf(const Process& process) {
  std::map<uint32_t, CollectiveKind> names;
  for (const auto& [id, name] : process.strings)
    if (std::string_view(name).starts_with(kGlooPrefix)) names.emplace(id, KindOfCollective(name));
  std::map<CollectiveKind, std::vector<GlooWork>> found;
  if (names.empty()) return found;
  RowDetails details(process);
  for (const Track& track : process.tracks) {
    for (size_t i = 0; i < track.op.rows(); ++i) {
      const auto name = names.find(track.op.name[i]);
      if (name == names.end()) continue;
      const int64_t end = track.op.end_ns[i];
      found[name->second].push_back({{end - track.op.duration_ns[i], end},
                                     track.tid,
                                     BytesOf(details.Of(DetailOf(track.op, i)))});
    }
  }
  for (auto& [kind, works] : found)
    std::stable_sort(works.begin(), works.end(), [](const GlooWork& a, const GlooWork& b) {
      return a.span.start < b.span.start;
    });
  return found;
}

}  // namespace

void AddGlooWork(const Process& process, RankEntries* rank) {
  for (const ProcessGroup& group : GroupsOf(process))
    rank->groups.push_back({group.name, group.description,
                            static_cast<uint32_t>(group.ranks.size()), group.ranks, ""});
  const bool has_one_group = rank->groups.size() == 1;
  if (has_one_group)
    for (CollectiveEntry& entry : rank->entries) entry.group = 0;
  const std::map<CollectiveKind, std::vector<GlooWork>> found = WorkOf(process);
  rank->gloo_threads.resize(rank->entries.size(), 0);
  std::map<CollectiveKind, size_t> next;
  for (size_t i = 0; i < rank->entries.size(); ++i) {
    CollectiveEntry& entry = rank->entries[i];
    const auto works = found.find(entry.kind);
    if (works == found.end()) continue;
    size_t& at = next[entry.kind];
    // What was asked for before the recording began has no call.
    while (at < works->second.size() && works->second[at].span.start < entry.start_ns) ++at;
    if (at == works->second.size()) continue;
    const GlooWork& work = works->second[at++];
    // PyTorch may let a work go late: with the next one. The wait of the thread ends on time.
    const bool has_wait = entry.done_ns && *entry.done_ns > work.span.start;
    entry.done_ns = has_wait ? std::min(*entry.done_ns, work.span.end) : work.span.end;
    entry.bytes = work.bytes;
    rank->gloo_threads[i] = work.tid;
  }
}

}  // namespace gpuprof::analysis
