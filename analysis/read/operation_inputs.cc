// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See operation_inputs.h. Times are hostile.

#include "analysis/read/operation_inputs.h"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "analysis/base/column.h"
#include "analysis/model/windowed_inputs.h"

namespace gpuprof::analysis {
namespace {

// Segments stay once they came: nearly all are zero, and take no memory.
const std::atomic<uint32_t> kOneQuestion{1};

// What an operation that began at this time says of its inputs.
struct OperationInputs {
  int64_t start_ns;
  uint32_t text;  // string id
};

class InputDetails : public SegmentSource {
 public:
  InputDetails(std::vector<OperationInputs> inputs, const OpTable& ops)
      : SegmentSource(&kOneQuestion),
        inputs_(std::move(inputs)),
        ends_(ops.end_ns),
        durations_(ops.duration_ns) {
    for (size_t row = 0; row < ends_.size(); row = runs_.back().end)
      runs_.push_back(ends_.RunFrom(row));
  }

  static void Plan(const std::shared_ptr<InputDetails>& details, OpTable* ops) {
    std::vector<uint32_t> rows;
    for (const RowRun& run : details->runs_) rows.push_back(static_cast<uint32_t>(run.size()));
    ops->detail = {};
    details->column_ = ops->detail.PlanLazy(details, 0, rows);
  }

  void Bring(int, size_t segment) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const std::shared_ptr<ColumnSegments> column = column_.lock();
    if (column == nullptr || column->Has(segment)) return;
    const RowRun& run = runs_[segment];
    Column<uint32_t> made;
    made.Plan(1);
    if (MayHaveInputs(run)) {
      const std::vector<uint64_t> texts = TextsOf(run);
      made.Store(0, texts.data(), texts.size());
    } else {
      made.StoreOne(0, 0, run.size());
    }
    made.Finish();
    made.GiveTo(column.get(), segment);
  }

 private:
  using Iterator = std::vector<OperationInputs>::const_iterator;
  Iterator FirstFrom(int64_t start_ns) const {
    return std::lower_bound(
        inputs_.begin(), inputs_.end(), start_ns,
        [](const OperationInputs& each, int64_t time) { return each.start_ns < time; });
  }

  // Looks at no row.
  bool MayHaveInputs(const RowRun& run) const {
    const Column<int64_t>::Zone ends = ends_.ZoneOf(run), lengths = durations_.ZoneOf(run);
    int64_t earliest = 0;
    if (__builtin_sub_overflow(ends.least, std::max<int64_t>(lengths.most, 0), &earliest))
      earliest = std::numeric_limits<int64_t>::min();
    const Iterator first = FirstFrom(earliest);
    return first != inputs_.end() && first->start_ns <= ends.most;
  }

  std::vector<uint64_t> TextsOf(const RowRun& run) const {
    std::vector<int64_t> starts(run.size()), lengths(run.size());
    ends_.Copy(run.first, run.size(), starts.data());
    durations_.Copy(run.first, run.size(), lengths.data());
    std::vector<uint64_t> texts(run.size());
    const int64_t least = inputs_.front().start_ns, most = inputs_.back().start_ns;
    for (size_t i = 0; i < run.size(); ++i) {
      int64_t start = 0;
      if (__builtin_sub_overflow(starts[i], lengths[i], &start) || start < least || start > most)
        continue;
      const Iterator found = FirstFrom(start);
      if (found != inputs_.end() && found->start_ns == start) texts[i] = found->text;
    }
    return texts;
  }

  const std::vector<OperationInputs> inputs_;  // by time; not empty
  const Column<int64_t> ends_, durations_;     // of the operations
  std::vector<RowRun> runs_;                   // their segments
  std::weak_ptr<ColumnSegments> column_;
  std::mutex mutex_;
};

}  // namespace

void JoinOperationInputs(Process* process) {
  const uint32_t name = WindowedInputsName(*process);
  if (name == 0) return;
  for (Track& track : process->tracks) {
    const OpValueTable& values = track.op_value;
    if (track.op.rows() == 0 || values.rows() == 0) continue;
    std::vector<OperationInputs> inputs;
    const Column<uint32_t>::Reader names(values.name);
    for (size_t row = 0; row < values.rows(); ++row)
      if (names[row] == name) inputs.push_back({values.time_ns[row], values.text[row]});
    if (inputs.empty()) continue;
    std::stable_sort(
        inputs.begin(), inputs.end(),
        [](const OperationInputs& a, const OperationInputs& b) { return a.start_ns < b.start_ns; });
    InputDetails::Plan(std::make_shared<InputDetails>(std::move(inputs), track.op), &track.op);
  }
}

}  // namespace gpuprof::analysis
