// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `roofline`: rates of operations, and what their device lets them reach. See passes.h.

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/peak_rates.h"
#include "analysis/passes/device/op_costs.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "proto/results/roofline.pb.h"

namespace gpuprof::analysis {
namespace {

void FillRoofRow(const DeviceModel& model, const WorkSums& sums, int64_t all_ns,
                 results::RooflineRow* row) {
  row->set_device_name(model.name);
  row->set_device_count(sums.devices.size());
  row->set_count(sums.count);
  row->set_total_ns(sums.total_ns);
  row->set_total_ratio(Ratio(sums.total_ns, all_ns));
  if (sums.flops.is_known()) row->set_flop_count(sums.flops.value);
  row->set_flop_evidence(sums.flops.evidence());
  row->set_flop_ns(sums.flops.ns);
  if (sums.bytes.is_known()) row->set_bytes(sums.bytes.value);
  row->set_bytes_evidence(sums.bytes.evidence());
  row->set_bytes_ns(sums.bytes.ns);
  row->set_known_ratio(Ratio(sums.placed_ns, sums.total_ns));
  row->set_precision(sums.precision());
  const RoofPoint point = PointOf(sums, model.gb_per_s);
  if (point.flop_per_s) row->set_flop_per_s(*point.flop_per_s);
  if (point.gb_per_s) row->set_gb_per_s(*point.gb_per_s);
  if (point.flop_per_byte) row->set_flop_per_byte(*point.flop_per_byte);
  if (point.is_memory_bound)
    row->set_bound(*point.is_memory_bound ? results::ROOFLINE_BOUND_MEMORY
                                          : results::ROOFLINE_BOUND_COMPUTE);
  if (point.roof_flop_per_s) row->set_roof_flop_per_s(*point.roof_flop_per_s);
  if (point.roof_ratio) row->set_roof_ratio(*point.roof_ratio);
  if (point.peak_flop_per_s) row->set_peak_flop_per_s(*point.peak_flop_per_s);
  if (point.peak_flop_ratio) row->set_peak_flop_ratio(*point.peak_flop_ratio);
  if (model.gb_per_s) row->set_peak_gb_per_s(*model.gb_per_s);
  if (point.peak_gb_ratio) row->set_peak_gb_ratio(*point.peak_gb_ratio);
}

void FillRoofPeaks(const DeviceModel& model, results::Roofline* out) {
  for (int each = 0; each < results::Precision_ARRAYSIZE; ++each) {
    if (model.precision_ns[each] == 0) continue;
    results::RooflinePeak* const row = out->add_peaks();
    row->set_name(model.name);
    row->set_precision(static_cast<results::Precision>(each));
    row->set_total_ns(model.precision_ns[each]);
    const std::optional<double>& peak = model.flop_per_s[each];
    if (peak) {
      row->set_peak_flop_per_s(*peak);
      row->set_peak_flop_source(std::string(PeakSource(model.name)));
    }
    if (!model.gb_per_s) continue;
    row->set_peak_gb_per_s(*model.gb_per_s);
    row->set_peak_gb_source(std::string(model.gb_source));
    constexpr double kBytesOfGb = 1e9;
    if (peak) row->set_ridge_flop_per_byte(*peak / (*model.gb_per_s * kBytesOfGb));
  }
}

}  // namespace

Error RunRoofline(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Roofline>();
  const OpCosts& costs = OpCostsOf(context);
  std::vector<WorkSums> of_models(costs.models.size());
  std::map<std::pair<size_t, std::string>, WorkSums> of_categories;
  int64_t total_ns = 0, known_ns = 0;
  for (const OpCost& op : costs.ops) {
    if (!op.is_kernel) continue;
    of_models[op.model].Join(op.sums);
    of_categories[{op.model, op.category}].Join(op.sums);
    total_ns += op.sums.total_ns;
    known_ns += op.sums.placed_ns;
  }
  out->set_total_ns(total_ns);
  out->set_known_ratio(Ratio(known_ns, total_ns));
  for (const OpCost& op : costs.ops) {
    if (!op.is_kernel) continue;
    results::RooflineRow* const row = out->add_operations();
    row->set_name(op.name);
    if (!op.program.empty()) row->set_program(op.program);
    row->set_category(op.category);
    row->set_op_evidence(op.evidence);
    FillRoofRow(costs.models[op.model], op.sums, total_ns, row);
  }
  for (const auto& [key, sums] : of_categories) {
    results::RooflineRow* const row = out->add_categories();
    row->set_name(key.second);
    FillRoofRow(costs.models[key.first], sums, total_ns, row);
  }
  for (size_t i = 0; i < costs.models.size(); ++i) {
    const DeviceModel& model = costs.models[i];
    if (of_models[i].count == 0) continue;
    results::RooflineRow* const row = out->add_devices();
    row->set_name(model.name.empty() ? "(not known)" : model.name);
    FillRoofRow(model, of_models[i], total_ns, row);
    FillRoofPeaks(model, out.get());
    if (model.step_ns == 0) continue;
    row->set_step_count(model.step_count);
    if (of_models[i].peaked_flops > 0)
      row->set_step_flop_ratio(
          Ratio(of_models[i].step_at_peak_ns, static_cast<double>(model.step_ns)));
  }
  SortByTotal(out->mutable_categories());
  SortByTotal(out->mutable_devices());
  context.FillCountMeta("roofline", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
