// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See busy_time.h.

#include "analysis/derived/busy_time.h"

#include <algorithm>
#include <atomic>
#include <limits>

#include "analysis/base/parallel.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {
namespace {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
constexpr size_t kWindowRows = 1u << 17;

// The first row that ends after `ns`: ends rise.
size_t FirstEndingAfter(const Column<int64_t>& ends, int64_t ns) {
  size_t first = 0, behind = ends.size();
  while (first < behind) {
    const size_t middle = first + (behind - first) / 2;
    ends[middle] > ns ? behind = middle : first = middle + 1;
  }
  return first;
}

// What is covered so far of a window, by spans that come in the order of their starts.
struct Cover {
  int64_t until;  // all before it is counted
  int64_t busy = 0;
};

// Walks the rows of a stream that lie in a window.
class Walk {
 public:
  Walk(const KernelTable& table, Interval window)
      : table_(&table), window_(window), next_(FirstEndingAfter(table.end_ns, window.start)) {
    Load();
  }

  // Where the current span starts; kNever: none is left.
  int64_t start() const { return at_ == count_ ? kNever : starts_[at_]; }

  // Adds the current span, and those behind it that start before or at `last`. What is beyond the
  // window is cut off.
  void AddUpTo(int64_t last, Cover* cover) {
    Cover to = *cover;
    do {
      do {
        const int64_t end = std::min(ends_[at_], window_.end);
        to.busy += std::max<int64_t>(end - std::max(starts_[at_], to.until), 0);
        to.until = std::max(to.until, end);
        ++at_;
      } while (at_ != count_ && starts_[at_] <= last);
      if (at_ == count_) Load();
    } while (at_ != count_ && starts_[at_] <= last);
    *cover = to;
  }

 private:
  static constexpr size_t kPiece = 256;

  void Load() {
    count_ = std::min(kPiece, table_->rows() - next_);
    at_ = 0;
    if (count_ == 0) return;
    table_->end_ns.Copy(next_, count_, ends_);
    table_->duration_ns.Copy(next_, count_, starts_);
    for (size_t i = 0; i < count_; ++i) starts_[i] = ends_[i] - starts_[i];
    next_ += count_;
    // The first row behind the window ends the walk.
    if (starts_[count_ - 1] < window_.end) return;
    count_ =
        static_cast<size_t>(std::lower_bound(starts_, starts_ + count_, window_.end) - starts_);
    next_ = table_->rows();
  }

  const KernelTable* table_;
  Interval window_;
  size_t next_;  // row to load
  size_t at_ = 0, count_ = 0;
  int64_t ends_[kPiece];
  int64_t starts_[kPiece];
};

int64_t BusyTimeOf(const std::vector<const KernelTable*>& streams, Interval window) {
  std::vector<Walk> walks;
  walks.reserve(streams.size());
  for (const KernelTable* stream : streams) {
    if (stream->rows() == 0) continue;
    walks.emplace_back(*stream, window);
    if (walks.back().start() == kNever) walks.pop_back();
  }
  const auto later = [&](size_t x, size_t y) { return walks[x].start() > walks[y].start(); };
  std::vector<size_t> heads(walks.size());
  for (size_t i = 0; i < heads.size(); ++i) heads[i] = i;
  std::make_heap(heads.begin(), heads.end(), later);
  Cover cover = {window.start};
  while (!heads.empty()) {
    std::pop_heap(heads.begin(), heads.end(), later);
    Walk& walk = walks[heads.back()];
    // The others begin later than this.
    walk.AddUpTo(heads.size() == 1 ? kNever : walks[heads.front()].start(), &cover);
    if (walk.start() == kNever) {
      heads.pop_back();
    } else {
      std::push_heap(heads.begin(), heads.end(), later);
    }
  }
  return cover.busy;
}

}  // namespace

int64_t BusyTime(const std::vector<const KernelTable*>& streams, int threads) {
  const auto longest = std::max_element(
      streams.begin(), streams.end(),
      [](const KernelTable* x, const KernelTable* y) { return x->rows() < y->rows(); });
  if (longest == streams.end() || (*longest)->rows() == 0) return 0;
  const KernelTable& table = **longest;
  // Times lie within +-2^61, durations too.
  std::vector<int64_t> cuts = {std::numeric_limits<int64_t>::min() / 2};
  for (size_t row = kWindowRows; row < table.rows(); row += kWindowRows) {
    const int64_t start = table.end_ns[row] - table.duration_ns[row];
    if (start > cuts.back()) cuts.push_back(start);
  }
  cuts.push_back(kNever - 1);
  std::atomic<int64_t> busy = 0;
  ParallelFor(cuts.size() - 1, threads, [&](size_t i, int) {
    busy += BusyTimeOf(streams, {cuts[i], cuts[i + 1]});
  });
  return busy;
}

}  // namespace gpuprof::analysis
