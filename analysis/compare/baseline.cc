// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a comparison needs of one recording, in a message that is small enough to be kept: see
// proto/results/baseline.proto. A comparison of two recordings makes two of them, too. So it prints
// the same figures as a comparison with a kept one.

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/derived/device_work.h"
#include "analysis/model/cuda_versions.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/step_sums.h"
#include "analysis/passes/main_process.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/bootstrap.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/baseline.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kSampledRows = 64;
constexpr size_t kShapesOfARow = 16;

// The steps of the device with most work.
struct DeviceSide {
  results::DeviceSeries series;  // no count: no work on a device
  std::vector<int64_t> steps;    // durations, without warm-up
  std::vector<uint64_t> kernel_counts;
  size_t process = 0;
};

void FindDevice(PassContext& context, size_t index, DeviceSide* side) {
  for (const results::DeviceSeries& series : DeviceSeriesOf(context, index)) {
    const bool is_whole = series.window() == results::STEP_WINDOW_PERIOD ||
                          series.window() == results::STEP_WINDOW_ALL;
    if (!is_whole || series.busy_ns() <= side->series.busy_ns()) continue;
    side->series = series;
    side->process = index;
    side->steps.clear();
    side->kernel_counts.clear();
    for (const results::DeviceStep& step : DeviceStepsOf(context, index).device_steps()) {
      if (step.window() != series.window() || step.device() != series.device()) continue;
      side->kernel_counts.push_back(step.kernel_count());
      if (step.window() == results::STEP_WINDOW_PERIOD && !step.warmup())
        side->steps.push_back(step.duration_ns());
    }
  }
}

// Counts devices with work: a host's devices are told apart by their numbers in a process.
uint64_t DeviceCount(const PassContext& context) {
  std::set<std::pair<std::string, uint32_t>> devices;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    for (const Track& track : process.tracks) {
      const bool works =
          track.is_stream && (track.kernel.rows() != 0 || track.memcpy.rows() != 0 ||
                              track.memset.rows() != 0 || track.graph_launch.rows() != 0);
      if (works) devices.emplace(process.host, track.device);
    }
  }
  return devices.size();
}

void FillSteps(std::vector<int64_t> steps, results::Baseline* out) {
  const Samples samples(steps);
  out->set_step_count(steps.size());
  out->set_step_median_ns(samples.median());
  out->set_step_mean_ns(samples.mean());
  for (const int64_t step : ThinSamples(steps)) out->add_step_ns(step);
}

void FillCategories(const results::DeviceSeries& series, results::Baseline* out) {
  for (const results::CategoryTime& part : series.categories()) {
    results::CategoryTime* row = out->add_categories();
    row->set_category(part.category());
    row->set_total_ns(part.total_ns() / static_cast<int64_t>(series.count()));
    row->set_total_ratio(part.total_ratio());
  }
}

void FillShapes(const NameSums& sums, results::BaselineRow* row) {
  std::vector<std::pair<uint64_t, uint64_t>> shapes(sums.shapes.begin(), sums.shapes.end());
  std::stable_sort(shapes.begin(), shapes.end(),
                   [](const auto& x, const auto& y) { return x.second > y.second; });
  if (shapes.size() > kShapesOfARow) shapes.resize(kShapesOfARow);
  for (const auto& [id, count] : shapes) {
    results::BaselineShape* shape = row->add_shapes();
    shape->set_id(id);
    shape->set_count_ratio(Ratio(count, sums.count));
  }
}

void FillRows(const SumsByName& sums, size_t steps,
              google::protobuf::RepeatedPtrField<results::BaselineRow>* out) {
  const auto divisor = static_cast<int64_t>(std::max<size_t>(steps, 1));
  for (const auto& [name, each] : sums) {
    results::BaselineRow* row = out->Add();
    row->set_name(name);
    row->set_count(static_cast<double>(each.count) / static_cast<double>(divisor));
    row->set_total_ns(each.total_ns / divisor);
    FillShapes(each, row);
  }
  SortByTotal(out);
  for (size_t i = 0; i < std::min<size_t>(static_cast<size_t>(out->size()), kSampledRows); ++i) {
    results::BaselineRow& row = *out->Mutable(static_cast<int>(i));
    for (const int64_t ns : sums.at(row.name()).step_ns) row.add_step_ns(ns);
  }
}

// A note on what was used names the library's path, too: that is no version.
void FillVersions(const Process& process, results::Baseline* out) {
  for (const proto::Note& note : process.health.note()) {
    if (note.source() != kVersionSource) continue;
    const std::string text = note.text();
    out->add_versions(text.substr(0, text.find(" of ")));
  }
}

}  // namespace

Error MakeBaseline(const Trace& trace, const PassOptions& options,
                   std::unique_ptr<google::protobuf::Message>* result) {
  Session session(trace);
  PassContext context(&session, options);
  if (Error error = context.Prepare()) return error;
  auto out = std::make_unique<results::Baseline>();
  const std::optional<size_t> leading = context.Leading();
  size_t main = MainProcess(context).value_or(0);
  DeviceSide device;
  for (const size_t index : context.selected()) FindDevice(context, index, &device);
  if (device.series.count() != 0) {
    main = device.process;
    const proto::Device* found = context.process(main).FindDevice(device.series.device());
    if (found != nullptr) out->set_device(found->name());
    out->set_window(device.series.window());
    FillCategories(device.series, out.get());
    std::sort(device.kernel_counts.begin(), device.kernel_counts.end());
    if (!device.kernel_counts.empty())
      out->set_kernel_count(device.kernel_counts[device.kernel_counts.size() / 2]);
  }
  if (!trace.processes.empty()) {
    const Process& process = context.process(main);
    out->set_program(ProcessName(process));
    for (const std::string& framework : process.frameworks) out->add_frameworks(framework);
    FillVersions(process, out.get());
  }
  out->set_device_count(DeviceCount(context));
  std::vector<Interval> counted;
  if (leading) {
    out->set_method(context.steps(*leading).detected.method);
    counted = context.steps(*leading).Counted();
    if (device.steps.empty()) {
      for (const Interval& step : counted) device.steps.push_back(step.length());
    }
  }
  FillSteps(std::move(device.steps), out.get());
  const StepSums sums = SumSteps(context, counted);
  FillRows(sums.kernels, counted.size(), out->mutable_kernels());
  FillRows(sums.ops, counted.size(), out->mutable_ops());
  SetShortKernelNames(out->mutable_kernels());
  for (results::BaselineRow& row : *out->mutable_ops()) row.set_short_name(row.name());
  context.FillCountMeta("diff", out->mutable_meta());
  out->set_whole_ns(out->meta().window_end_ns() - out->meta().window_start_ns());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
