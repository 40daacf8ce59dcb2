// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See slices.h.

#include "analysis/export/slices.h"

#include <algorithm>

#include "analysis/base/utf8.h"

namespace gpuprof::analysis {

uint32_t SliceTexts::Of(std::string_view text) {
  std::string utf8 = Utf8Of(text);
  const auto [at, added] =
      numbers_.try_emplace(std::move(utf8), static_cast<uint32_t>(texts_.size() + 1));
  if (added) texts_.push_back(at->first);
  return at->second;
}

void Slices::Begin(std::string_view category, std::string_view name, std::string_view pid,
                   int64_t tid, int64_t start_ns, int64_t end_ns) {
  if (last_row_ == nullptr || last_key_.second != tid || last_key_.first != pid) {
    last_key_ = {std::string(pid), tid};
    last_row_ = &rows_[last_key_];
  }
  last_row_->push_back(static_cast<uint32_t>(slices_.size()));
  Slice& slice = slices_.emplace_back();
  slice.start_ns = start_ns;
  slice.end_ns = std::max(start_ns, end_ns);
  slice.name = names_.Of(name);
  if (!category.empty()) slice.category = categories_.Of(category);
  slice.args = args_.size();
}

void Slices::Span(std::string_view category, std::string_view name, const Place& place,
                  int64_t start_ns, int64_t duration_ns) {
  Begin(category, name, place.pid, place.tid, start_ns,
        start_ns + std::max<int64_t>(duration_ns, 0));
}

void Slices::Instant(std::string_view category, std::string_view name, const Place& place,
                     int64_t time_ns) {
  Begin(category, name, place.pid, place.tid, time_ns, time_ns);
  slices_.back().is_instant = true;
}

void Slices::AsyncBegin(std::string_view category, std::string_view name, uint64_t,
                        const Place& place, int64_t time_ns) {
  Begin(category, name, place.pid, kBetweenThreads, time_ns, time_ns);
}

// The end follows its begin.
void Slices::AsyncEnd(std::string_view, std::string_view, uint64_t, const Place&, int64_t time_ns) {
  slices_.back().end_ns = std::max(slices_.back().start_ns, time_ns);
}

void Slices::AddArrow(std::string_view category, uint64_t id, bool is_end) {
  constexpr uint64_t kBackward = uint64_t{1} << 63;  // numbers of the two kinds repeat
  const uint64_t own = category == kBackwardFlow ? id | kBackward : id;
  arrows_.push_back({static_cast<uint32_t>(slices_.size() - 1), is_end, own});
}

bool Slices::is_call() const {
  const std::string& category = categories_.texts()[slices_.back().category - 1];
  return category == "cuda_runtime" || category == "cuda_driver";
}

bool Slices::End() {
  slices_.back().args_end = args_.size();
  return true;
}

std::vector<Lane> LanesOf(const Slices& slices, std::vector<uint32_t> row) {
  std::sort(row.begin(), row.end(), [&](uint32_t x, uint32_t y) {
    const Slices::Slice &a = slices.At(x), &b = slices.At(y);
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : x < y;
  });
  std::vector<Lane> lanes(1);
  std::vector<std::vector<int64_t>> begun(1);  // by lane: ends, innermost last
  for (const uint32_t each : row) {
    const Slices::Slice& slice = slices.At(each);
    if (slice.is_instant) {
      lanes.front().push_back(each);
      continue;
    }
    size_t lane = 0;
    for (; lane < lanes.size(); ++lane) {
      std::vector<int64_t>& ends = begun[lane];
      while (!ends.empty() && ends.back() <= slice.start_ns) ends.pop_back();
      if (ends.empty() || ends.back() >= slice.end_ns) break;
    }
    if (lane == lanes.size()) {
      lanes.emplace_back();
      begun.emplace_back();
    }
    lanes[lane].push_back(each);
    begun[lane].push_back(slice.end_ns);
  }
  return lanes;
}

}  // namespace gpuprof::analysis
