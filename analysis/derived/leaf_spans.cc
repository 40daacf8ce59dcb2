// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See leaf_spans.h.

#include "analysis/derived/leaf_spans.h"

#include <utility>

#include "analysis/model/span_order.h"

namespace gpuprof::analysis {
namespace {

// Collects spans in the order of time. Empty spans vanish.
class Sweep {
 public:
  explicit Sweep(std::vector<Interval> rows) : rows_(std::move(rows)) {}

  void Enter(uint32_t row) {
    CloseUntil(rows_[row].start);
    Move(rows_[row].start);
    open_.push_back(row);
  }
  std::vector<LeafSpan> Finish() {
    while (!open_.empty()) Leave();
    return std::move(spans_);
  }

 private:
  void CloseUntil(int64_t time) {
    while (!open_.empty() && rows_[open_.back()].end <= time) Leave();
  }
  void Leave() {
    Move(rows_[open_.back()].end);
    open_.pop_back();
  }
  // Gives the time up to `time` to the innermost open row.
  void Move(int64_t time) {
    if (!open_.empty() && time > now_) {
      const int64_t from = std::max(now_, rows_[open_.back()].start);
      if (time > from) spans_.push_back({{from, time}, open_.back()});
    }
    now_ = std::max(now_, time);
  }

  std::vector<Interval> rows_;
  std::vector<uint32_t> open_;
  std::vector<LeafSpan> spans_;
  int64_t now_ = INT64_MIN;
};

}  // namespace

std::vector<LeafSpan> LeafSpans(const Column<int64_t>& end_ns, const Column<int64_t>& duration_ns) {
  const Column<int64_t>::Reader ends(end_ns), durations(duration_ns);
  std::vector<Interval> rows(end_ns.size());
  std::vector<SpanNs> spans(end_ns.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    spans[i] = {ends[i] - durations[i], ends[i]};
    rows[i] = {spans[i].start, spans[i].end};
  }
  const std::vector<uint32_t> order = OutermostFirst(spans);
  Sweep sweep(std::move(rows));
  for (const uint32_t row : order) sweep.Enter(row);
  return sweep.Finish();
}

}  // namespace gpuprof::analysis
