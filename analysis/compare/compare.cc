// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Compare: two recordings beside each other, for `gpuprof diff`. Steps are compared as samples;
// kernels and operations by their names, as time a step. baseline.cc makes the figures of a side.

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/compare/comparability.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/bootstrap.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/kernel_family.h"
#include "analysis/symbols/kernel_names.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/diff.pb.h"

namespace gpuprof::analysis {
namespace {

// A change of two per cent is within what a machine does by itself.
constexpr double kNeutral = 0.02;
// Rows whose change gets an interval, and the least change that does, as a part of the step.
constexpr int kRowsWithInterval = 64;
constexpr double kLeastChange = 0.001;

using Rows = google::protobuf::RepeatedPtrField<results::BaselineRow>;

results::DiffVerdict CompareSteps(const results::Baseline& before, const results::Baseline& after,
                                  results::StepDiff* out) {
  out->set_window(before.window());
  out->set_before_count(before.step_count());
  out->set_after_count(after.step_count());
  if (before.step_ns().empty() || after.step_ns().empty())
    return results::DIFF_VERDICT_INCONCLUSIVE;
  // Steps of the host and steps of a device are not the same measure.
  if (before.window() != after.window()) {
    out->set_window(results::STEP_WINDOW_NONE);
    out->set_differs_in_window(true);
    return results::DIFF_VERDICT_INCONCLUSIVE;
  }
  out->set_before_median_ns(before.step_median_ns());
  out->set_after_median_ns(after.step_median_ns());
  out->set_before_mean_ns(before.step_mean_ns());
  out->set_after_mean_ns(after.step_mean_ns());
  const std::vector<int64_t> first(before.step_ns().begin(), before.step_ns().end());
  const std::vector<int64_t> second(after.step_ns().begin(), after.step_ns().end());
  const auto is_time = [](int64_t ns) { return ns > 0; };
  if (!std::all_of(first.begin(), first.end(), is_time) || before.step_median_ns() <= 0)
    return results::DIFF_VERDICT_INCONCLUSIVE;
  const ChangeInterval change = MedianChange(first, second);
  out->set_change_ratio(Ratio(after.step_median_ns(), before.step_median_ns()) - 1);
  // A single step says nothing of its spread.
  if (std::min(first.size(), second.size()) < 2) return results::DIFF_VERDICT_INCONCLUSIVE;
  out->set_change_low_ratio(change.low);
  out->set_change_high_ratio(change.high);
  if (std::min(before.step_count(), after.step_count()) < kFewSteps)
    return results::DIFF_VERDICT_INCONCLUSIVE;
  if (change.low > kNeutral) return results::DIFF_VERDICT_REGRESSION;
  if (change.high < -kNeutral) return results::DIFF_VERDICT_IMPROVEMENT;
  if (change.low >= -kNeutral && change.high <= kNeutral) return results::DIFF_VERDICT_NEUTRAL;
  return results::DIFF_VERDICT_INCONCLUSIVE;
}

void CompareCategories(const results::Baseline& before, const results::Baseline& after,
                       results::Diff* out) {
  if (before.categories().empty() || after.categories().empty()) return;
  std::map<results::TimeCategory, std::pair<int64_t, int64_t>> times;
  for (const results::CategoryTime& part : before.categories())
    times[part.category()].first = part.total_ns();
  for (const results::CategoryTime& part : after.categories())
    times[part.category()].second = part.total_ns();
  for (const auto& [category, pair] : times) {
    results::CategoryDiff* row = out->add_categories();
    row->set_category(category);
    row->set_before_ns(pair.first);
    row->set_after_ns(pair.second);
    row->set_change_ns(pair.second - pair.first);
  }
}

struct Pair {
  const results::BaselineRow* before = nullptr;
  const results::BaselineRow* after = nullptr;
};
using ByName = std::map<std::string, Pair>;

// Returns the time in single steps of one side. A side without the row spent none in it. Empty: the
// recording keeps no single steps of the row.
std::vector<int64_t> StepsOf(const results::BaselineRow* row, size_t samples) {
  if (row == nullptr) return std::vector<int64_t>(samples, 0);
  return {row->step_ns().begin(), row->step_ns().end()};
}

// Both means are of all steps, and the samples may be of some: the interval is moved, so that the
// change of the samples' means becomes the change of the row.
void FillInterval(const Pair& pair, size_t before_samples, size_t after_samples,
                  results::RowDiff* row) {
  const std::vector<int64_t> before = StepsOf(pair.before, before_samples);
  const std::vector<int64_t> after = StepsOf(pair.after, after_samples);
  if (std::min(before.size(), after.size()) < kFewSteps) return;
  const ChangeInterval change = MeanChange(before, after);
  const int64_t moved = row->change_ns() - (Samples(after).mean() - Samples(before).mean());
  row->set_change_low_ns(static_cast<int64_t>(change.low) + moved);
  row->set_change_high_ns(static_cast<int64_t>(change.high) + moved);
}

size_t SampleCount(const Rows& rows) {
  size_t count = 0;
  for (const results::BaselineRow& row : rows)
    count = std::max(count, static_cast<size_t>(row.step_ns_size()));
  return count;
}

// Joins kernels that differ in the numbers that compilers gave them alone. Of several with one such
// name, the largest belongs to the largest.
void JoinRenumbered(ByName* rows) {
  std::map<std::string, std::pair<std::vector<std::string>, std::vector<std::string>>> alone;
  for (const auto& [name, pair] : *rows) {
    if (pair.before != nullptr && pair.after != nullptr) continue;
    std::string key = NumberlessKernelName(name);
    if (key == name) continue;
    auto& sides = alone[std::move(key)];
    (pair.before != nullptr ? sides.first : sides.second).push_back(name);
  }
  for (auto& [key, sides] : alone) {
    auto& [before, after] = sides;
    const auto is_larger = [&](const std::string& x, const std::string& y) {
      const auto ns = [&](const std::string& name) {
        const Pair& pair = rows->at(name);
        return (pair.before != nullptr ? pair.before : pair.after)->total_ns();
      };
      return ns(x) > ns(y);
    };
    std::stable_sort(before.begin(), before.end(), is_larger);
    std::stable_sort(after.begin(), after.end(), is_larger);
    for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      (*rows)[before[i]].after = rows->at(after[i]).after;
      rows->erase(after[i]);
    }
  }
}

void CompareRows(const Rows& before, const Rows& after, int64_t step_ns, bool are_kernels,
                 google::protobuf::RepeatedPtrField<results::RowDiff>* out) {
  ByName rows;
  for (const results::BaselineRow& row : before) rows[row.name()].before = &row;
  for (const results::BaselineRow& row : after) rows[row.name()].after = &row;
  if (are_kernels) JoinRenumbered(&rows);
  for (const auto& [name, pair] : rows) {
    results::RowDiff* row = out->Add();
    row->set_name(name);
    if (are_kernels) row->set_family(KernelFamilyOf(name));
    if (pair.after != nullptr && pair.after->name() != name)
      row->set_after_name(pair.after->name());
    if (pair.before != nullptr) {
      row->set_before_count(pair.before->count());
      row->set_before_ns(pair.before->total_ns());
    }
    if (pair.after != nullptr) {
      row->set_after_count(pair.after->count());
      row->set_after_ns(pair.after->total_ns());
    }
    row->set_change_ns(row->after_ns() - row->before_ns());
    row->set_change_ratio(Ratio(row->change_ns(), step_ns));
  }
  SortFalling(out, [](const auto& row) {
    return row.change_ns() < 0 ? -row.change_ns() : row.change_ns();
  });
  const size_t before_samples = SampleCount(before), after_samples = SampleCount(after);
  for (int i = 0; i < std::min(out->size(), kRowsWithInterval); ++i) {
    results::RowDiff* row = out->Mutable(i);
    if (row->change_ratio() < kLeastChange && row->change_ratio() > -kLeastChange) continue;
    FillInterval(rows.at(row->name()), before_samples, after_samples, row);
  }
}

}  // namespace

Error CompareBaselines(const google::protobuf::Message& before_message,
                       const google::protobuf::Message& after_message,
                       std::unique_ptr<google::protobuf::Message>* result) {
  const auto& before = static_cast<const results::Baseline&>(before_message);
  const auto& after = static_cast<const results::Baseline&>(after_message);
  auto out = std::make_unique<results::Diff>();
  *out->mutable_before() = before.meta();
  *out->mutable_after() = after.meta();
  out->set_baseline_name(before.name());
  out->set_baseline_saved_realtime_ns(before.saved_realtime_ns());
  out->set_neutral_ratio(kNeutral);
  FillComparability(before, after, out->mutable_comparability());
  out->set_verdict(CompareSteps(before, after, out->mutable_steps()));
  CompareCategories(before, after, out.get());
  const int64_t step_ns = before.step_count() != 0 ? before.step_mean_ns() : before.whole_ns();
  CompareRows(before.kernels(), after.kernels(), step_ns, true, out->mutable_kernels());
  CompareRows(before.ops(), after.ops(), step_ns, false, out->mutable_ops());
  SetShortKernelNames(out->mutable_kernels());
  for (results::RowDiff& row : *out->mutable_ops()) row.set_short_name(row.name());
  *result = std::move(out);
  return {};
}

Error Compare(const Trace& before, const Trace& after, const PassOptions& options,
              std::unique_ptr<google::protobuf::Message>* result) {
  std::unique_ptr<google::protobuf::Message> first, second;
  if (Error error = MakeBaseline(before, options, &first)) return error;
  if (Error error = MakeBaseline(after, options, &second)) return error;
  return CompareBaselines(*first, *second, result);
}

}  // namespace gpuprof::analysis
