// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Compare: two recordings beside each other, for `gpuprof diff`. Steps are compared as samples;
// kernels and operations by their names, as time a step.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/derived/selection.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/device_steps.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/passes/select_rows.h"
#include "analysis/steps/bootstrap.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/diff.pb.h"
#include "proto/results/kernels.pb.h"
#include "proto/results/ops.pb.h"

namespace gpuprof::analysis {
namespace {

// A change of two per cent is within what a machine does by itself.
constexpr double kNeutral = 0.02;
constexpr uint64_t kFewSteps = 5;

// One of the two recordings.
struct Side {
  results::Meta meta;
  std::string program, device, frameworks;
  results::StepMethod method = results::STEP_METHOD_NONE;
  results::DeviceSeries series;  // of the busiest device; no count: no work on a device
  std::vector<int64_t> steps;    // durations, without warm-up
  std::vector<uint64_t> kernel_counts;
  int64_t whole_ns = 0;  // of the recording
  results::Kernels kernels;
  results::Ops ops;
  bool has_steps() const { return !steps.empty(); }
  int64_t Divisor() const { return std::max<int64_t>(static_cast<int64_t>(steps.size()), 1); }
};

std::string Joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += word + " ";
  return all;
}

void FillDevice(PassContext& context, size_t index, Side* side) {
  results::Steps steps;
  AddDeviceSteps(context, index, &steps);
  for (const results::DeviceSeries& series : steps.device_series()) {
    if (series.window() == results::STEP_WINDOW_MARK || series.busy_ns() <= side->series.busy_ns())
      continue;
    side->series = series;
    side->steps.clear();
    side->kernel_counts.clear();
    for (const results::DeviceStep& step : steps.device_steps()) {
      if (step.window() != series.window() || step.device() != series.device()) continue;
      side->kernel_counts.push_back(step.kernel_count());
      if (step.window() == results::STEP_WINDOW_DEVICE && !step.warmup())
        side->steps.push_back(step.duration_ns());
    }
    const proto::Device* device = context.process(index).FindDevice(series.device());
    side->device = device == nullptr ? "" : device->name();
    side->program = ProcessName(context.process(index));
    side->frameworks = Joined(context.process(index).frameworks);
  }
}

// Returns the part from the first counted step to the end of the last: warm-up steps would hide a
// change of the others. Null: no step counts.
std::shared_ptr<const Trace> StepsOnly(const Trace& trace, PassContext& context, size_t leading) {
  const std::vector<Interval> steps = context.steps(leading).Counted();
  if (steps.empty()) return nullptr;
  Selection selection;
  selection.window = TimeWindow{steps.front().start, steps.back().end};
  selection.by_launch = true;
  return Select(trace, selection);
}

Error Load(const Trace& trace, const PassOptions& options, Side* side) {
  PassContext context(trace, options);
  if (Error error = context.Prepare()) return error;
  const std::optional<size_t> leading = context.Leading();
  const size_t main = leading.value_or(context.selected().empty() ? 0 : context.selected().front());
  if (!trace.processes.empty()) {
    side->program = ProcessName(context.process(main));
    side->frameworks = Joined(context.process(main).frameworks);
  }
  for (const size_t index : context.selected()) FillDevice(context, index, side);
  if (leading) {
    side->method = context.steps(*leading).detected.method;
    if (side->steps.empty()) {
      for (const results::Step& step : context.steps(*leading).steps)
        if (!step.warmup()) side->steps.push_back(step.duration_ns());
    }
  }
  context.FillCountMeta("diff", &side->meta);
  const std::shared_ptr<const Trace> part = leading ? StepsOnly(trace, context, *leading) : nullptr;
  PassContext rows(part == nullptr ? trace : *part, options);
  if (Error error = rows.Prepare()) return error;
  ComputeKernels(rows, &side->kernels);
  ComputeOps(rows, OpGrouping::kName, false, &side->ops);
  side->whole_ns = side->meta.window_end_ns() - side->meta.window_start_ns();
  return {};
}

void Compare(const Side& before, const Side& after, results::Comparability* out) {
  double score = 1;
  const auto lower = [&](results::DiffReason reason, double part) {
    out->add_reasons(reason);
    score *= part;
  };
  if (before.program != after.program) lower(results::DIFF_REASON_OTHER_PROGRAM, 0.5);
  if (before.device != after.device) lower(results::DIFF_REASON_OTHER_DEVICE, 0.5);
  if (before.frameworks != after.frameworks) lower(results::DIFF_REASON_OTHER_FRAMEWORK, 0.9);
  if (before.method != after.method || before.has_steps() != after.has_steps())
    lower(results::DIFF_REASON_OTHER_STEPS, 0.5);
  const auto usual = [](std::vector<uint64_t> counts) -> uint64_t {
    if (counts.empty()) return 0;
    std::sort(counts.begin(), counts.end());
    return counts[counts.size() / 2];
  };
  if (usual(before.kernel_counts) != usual(after.kernel_counts))
    lower(results::DIFF_REASON_OTHER_SHAPES, 0.8);
  if (std::min(before.steps.size(), after.steps.size()) < kFewSteps)
    lower(results::DIFF_REASON_FEW_STEPS, 0.7);
  out->set_score_ratio(score);
}

results::DiffVerdict CompareSteps(const Side& before, const Side& after, results::StepDiff* out) {
  out->set_window(before.series.window());
  out->set_before_count(before.steps.size());
  out->set_after_count(after.steps.size());
  if (!before.has_steps() || !after.has_steps()) return results::DIFF_VERDICT_INCONCLUSIVE;
  const Samples first(before.steps), second(after.steps);
  out->set_before_median_ns(first.median());
  out->set_after_median_ns(second.median());
  out->set_before_mean_ns(first.mean());
  out->set_after_mean_ns(second.mean());
  if (first.min() <= 0) return results::DIFF_VERDICT_INCONCLUSIVE;
  const ChangeInterval change = MedianChange(before.steps, after.steps);
  out->set_change_ratio(Ratio(second.median(), first.median()) - 1);
  out->set_change_low_ratio(change.low);
  out->set_change_high_ratio(change.high);
  if (std::min(before.steps.size(), after.steps.size()) < kFewSteps)
    return results::DIFF_VERDICT_INCONCLUSIVE;
  if (change.low > kNeutral) return results::DIFF_VERDICT_REGRESSION;
  if (change.high < -kNeutral) return results::DIFF_VERDICT_IMPROVEMENT;
  if (change.low >= -kNeutral && change.high <= kNeutral) return results::DIFF_VERDICT_NEUTRAL;
  return results::DIFF_VERDICT_INCONCLUSIVE;
}

void CompareCategories(const Side& before, const Side& after, results::Diff* out) {
  std::map<results::TimeCategory, std::pair<int64_t, int64_t>> times;
  for (const results::CategoryTime& part : before.series.categories())
    times[part.category()].first = part.total_ns() / static_cast<int64_t>(before.series.count());
  for (const results::CategoryTime& part : after.series.categories())
    times[part.category()].second = part.total_ns() / static_cast<int64_t>(after.series.count());
  for (const auto& [category, pair] : times) {
    results::CategoryDiff* row = out->add_categories();
    row->set_category(category);
    row->set_before_ns(pair.first);
    row->set_after_ns(pair.second);
    row->set_change_ns(pair.second - pair.first);
  }
}

struct Sums {
  uint64_t count = 0;
  int64_t ns = 0;
};
using ByName = std::map<std::string, std::pair<std::optional<Sums>, std::optional<Sums>>>;

void AddTo(const std::string& name, uint64_t count, int64_t ns, bool is_after, ByName* rows) {
  std::optional<Sums>& sums = is_after ? (*rows)[name].second : (*rows)[name].first;
  if (!sums) sums.emplace();
  sums->count += count;
  sums->ns += ns;
}

void FillRows(const ByName& rows, const Side& before, const Side& after, int64_t step_ns,
              google::protobuf::RepeatedPtrField<results::RowDiff>* out) {
  for (const auto& [name, pair] : rows) {
    results::RowDiff* row = out->Add();
    row->set_name(name);
    if (pair.first) {
      row->set_before_count(static_cast<double>(pair.first->count) /
                            static_cast<double>(before.Divisor()));
      row->set_before_ns(pair.first->ns / before.Divisor());
    }
    if (pair.second) {
      row->set_after_count(static_cast<double>(pair.second->count) /
                           static_cast<double>(after.Divisor()));
      row->set_after_ns(pair.second->ns / after.Divisor());
    }
    row->set_change_ns(row->after_ns() - row->before_ns());
    row->set_change_ratio(Ratio(row->change_ns(), step_ns));
  }
  SortFalling(out, [](const auto& row) {
    return row.change_ns() < 0 ? -row.change_ns() : row.change_ns();
  });
}

}  // namespace

Error Compare(const Trace& before, const Trace& after, const PassOptions& options,
              std::unique_ptr<google::protobuf::Message>* result) {
  Side first, second;
  if (Error error = Load(before, options, &first)) return error;
  if (Error error = Load(after, options, &second)) return error;
  auto out = std::make_unique<results::Diff>();
  *out->mutable_before() = first.meta;
  *out->mutable_after() = second.meta;
  out->set_neutral_ratio(kNeutral);
  Compare(first, second, out->mutable_comparability());
  out->set_verdict(CompareSteps(first, second, out->mutable_steps()));
  if (first.series.count() != 0 && second.series.count() != 0)
    CompareCategories(first, second, out.get());
  const int64_t step_ns = first.has_steps() ? out->steps().before_mean_ns() : first.whole_ns;
  ByName kernels, ops;
  for (const bool is_after : {false, true}) {
    const Side& side = is_after ? second : first;
    for (const results::Kernel& kernel : side.kernels.kernels())
      AddTo(kernel.name(), kernel.count(), kernel.total_ns(), is_after, &kernels);
    for (const results::Op& op : side.ops.ops())
      AddTo(op.name(), op.count(), op.self_ns(), is_after, &ops);
  }
  FillRows(kernels, first, second, step_ns, out->mutable_kernels());
  FillRows(ops, first, second, step_ns, out->mutable_ops());
  SetShortKernelNames(out->mutable_kernels());
  for (results::RowDiff& row : *out->mutable_ops()) row.set_short_name(row.name());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
