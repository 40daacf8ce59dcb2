// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See sampled_activity.h.

#include "analysis/passes/device/sampled_activity.h"

#include <algorithm>
#include <string>

#include "proto/contract.h"

namespace gpuprof::analysis {

bool IsSampled(const PassContext& context) {
  for (const size_t index : context.selected()) {
    for (const proto::GpuRate& rate : context.process(index).health.gpu_rate()) {
      if (rate.left_out() != 0) return true;
    }
  }
  return false;
}

namespace {

// Of recordings that say what they were to hold.
bool LeavesOut(const PassContext& context, uint32_t source) {
  bool any = false;
  for (const size_t index : context.selected()) {
    const uint32_t sources = context.process(index).sources;
    if ((sources & source) != 0) return false;
    any |= sources != 0;
  }
  return any;
}

}  // namespace

void AddLaunchesNote(const PassContext& context, results::Meta* meta) {
  if (!LeavesOut(context, proto::kSourceCuda) && LeavesOut(context, proto::kSourceLaunches))
    meta->add_notes("stacks of launches were not recorded: add launches to --trace");
}

void AddSampledNote(const PassContext& context, std::string_view part, results::Meta* meta) {
  if (LeavesOut(context, proto::kSourceCuda))
    meta->add_notes("GPU activity was not recorded: --trace had no cuda");
  bool any = false;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    uint64_t records = 0, left_out = 0;
    uint32_t most = 1;
    for (const proto::GpuRate& rate : process.health.gpu_rate()) {
      records += rate.records();
      left_out += rate.left_out();
      most = std::max(most, rate.most_one_in());
    }
    if (left_out == 0) continue;
    any = true;
    std::string note = "pid " + std::to_string(process.pid) + ": " + std::to_string(left_out) +
                       " of " + std::to_string(records) +
                       " records of GPU activity were left out by --gpu-rate. At least one in " +
                       std::to_string(most) + " was kept: counts and sums are estimates";
    if (!part.empty()) note += ", " + std::string(part) + " is only of the recorded part";
    meta->add_notes(note);
  }
  results::Confidence* confidence = meta->mutable_confidence();
  if (!any || confidence->level() < results::LEVEL_HIGH) return;
  confidence->set_level(results::LEVEL_MEDIUM);
  confidence->set_reason("estimated from a part of the GPU activity");
}

}  // namespace gpuprof::analysis
