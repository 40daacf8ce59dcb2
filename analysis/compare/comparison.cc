// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The public face of comparisons, next to Compare itself: which tables they read, and
// the list of a folder of baselines. See analysis.h.

#include <memory>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "proto/results/baseline.pb.h"
#include "proto/results/diff.pb.h"

namespace gpuprof::analysis {

TableSet CompareTables() {
  const PassOptions options;
  return TablesOf("steps", options) | TablesOf("kernels", options) | TablesOf("ops", options);
}

bool IsRegression(const google::protobuf::Message& result) {
  return result.GetDescriptor() == results::Diff::descriptor() &&
         static_cast<const results::Diff&>(result).verdict() == results::DIFF_VERDICT_REGRESSION;
}

std::unique_ptr<google::protobuf::Message> ListBaselines(const std::string& folder,
                                                         const std::vector<KeptBaseline>& kept) {
  auto out = std::make_unique<results::Baselines>();
  out->set_path(folder);
  for (const KeptBaseline& each : kept) {
    results::BaselineEntry* entry = out->add_baselines();
    entry->set_name(each.name);
    entry->set_size_bytes(each.size_bytes);
    entry->set_fault(each.fault);
    if (each.baseline == nullptr) continue;
    const auto& baseline = static_cast<const results::Baseline&>(*each.baseline);
    entry->set_saved_realtime_ns(baseline.saved_realtime_ns());
    entry->set_writer_version(baseline.writer_version());
    entry->set_program(baseline.program());
    entry->set_device(baseline.device());
    entry->set_step_count(baseline.step_count());
    if (baseline.step_count() != 0) entry->set_step_median_ns(baseline.step_median_ns());
  }
  return out;
}

}  // namespace gpuprof::analysis
