// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See collective_ends.h.

#include "analysis/derived/collective_ends.h"

#include <algorithm>
#include <array>
#include <string>
#include <unordered_map>

namespace gpuprof::analysis {
namespace {

// Collectives of a process that are under way at once.
constexpr size_t kMostUnderWay = 256;
constexpr std::array<std::string_view, 5> kBackends = {"gloo:", "mpi:", "ucc:", "xccl:", "nccl:"};

struct BackendMark {
  int64_t start_ns = 0, end_ns = 0;
  const std::string* name = nullptr;  // as Squeezed() gives it
  bool is_used = false;
};

// Returns the letters of a name behind its colons: "c10d::allreduce_" and "gloo:all_reduce" agree.
std::string Squeezed(std::string_view name) {
  if (const size_t colon = name.rfind(':'); colon != std::string_view::npos)
    name.remove_prefix(colon + 1);
  std::string letters;
  for (const char c : name)
    if (c != '_') letters += c;
  return letters;
}

bool AreAlike(const std::string& a, const std::string& b) {
  return !a.empty() && !b.empty() && (a.starts_with(b) || b.starts_with(a));
}

}  // namespace

bool IsBackendMark(std::string_view op) {
  return std::any_of(kBackends.begin(), kBackends.end(),
                     [op](std::string_view backend) { return op.starts_with(backend); });
}

void FindEndsByMarks(const Process& process, std::vector<CollectiveEntry>* entries) {
  std::unordered_map<uint32_t, std::string> names;  // of marks, by string id
  for (const auto& [id, name] : process.strings)
    if (IsBackendMark(name)) names.emplace(id, Squeezed(name));
  if (names.empty()) return;
  std::vector<BackendMark> marks;
  for (const Track& track : process.tracks) {
    for (size_t i = 0; i < track.op.rows(); ++i) {
      const auto found = names.find(track.op.name[i]);
      if (found == names.end()) continue;
      const int64_t end = track.op.end_ns[i];
      marks.push_back({end - track.op.duration_ns[i], end, &found->second});
    }
  }
  std::stable_sort(marks.begin(), marks.end(), [](const BackendMark& a, const BackendMark& b) {
    return a.start_ns < b.start_ns;
  });
  size_t first = 0;  // marks before it are used, or too early
  for (CollectiveEntry& entry : *entries) {
    const std::string name = Squeezed(process.String(entry.name));
    while (first < marks.size() && (marks[first].is_used || marks[first].start_ns < entry.start_ns))
      ++first;
    const auto last =
        marks.begin() + static_cast<std::ptrdiff_t>(std::min(marks.size(), first + kMostUnderWay));
    const auto found = std::find_if(
        marks.begin() + static_cast<std::ptrdiff_t>(std::min(first, marks.size())), last,
        [&](const BackendMark& mark) { return !mark.is_used && AreAlike(*mark.name, name); });
    if (found == last) continue;
    found->is_used = true;
    if (!entry.done_ns) entry.done_ns = found->end_ns;
  }
}

}  // namespace gpuprof::analysis
