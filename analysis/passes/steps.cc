// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `steps`. The work is done in analysis/steps; here it becomes a result. See passes.h.

#include <algorithm>
#include <vector>

#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/iteration_rows.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/step_rows.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/recorder/unpaired_spans.h"
#include "analysis/steps/iterations.h"
#include "proto/results/meta.pb.h"
#include "proto/results/steps.pb.h"

namespace gpuprof::analysis {

Error RunSteps(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Steps>();
  const std::optional<size_t> leading = context.Leading();
  std::vector<size_t> order = context.selected();
  if (leading) {
    std::stable_partition(order.begin(), order.end(), [&](size_t i) { return i == *leading; });
  }
  for (const size_t index : order) {
    const results::Steps& devices = DeviceStepsOf(context, index);
    bool is_first = true;  // the one whose steps those of devices are
    for (const StepAnalysis& steps : context.all_steps(index)) {
      if (!steps.found()) continue;
      *out->add_series() = SeriesRow(context.process(index), steps);
      const std::vector<proto::IterationName> iterations =
          IterationsOf(context.process(index), steps);
      for (size_t i = 0; i < steps.steps.size(); ++i) {
        results::Step* const row = out->add_steps();
        *row = StepRow(context.process(index), steps, steps.steps[i]);
        FillIteration(iterations[i], row);
      }
      AddIterationSeries(context.process(index), steps, is_first ? &devices : nullptr, out.get());
      is_first = false;
    }
    out->MergeFrom(devices);
  }
  context.FillMeta("steps", out->mutable_meta());
  AddTooMuchWorkNote(context, out->mutable_meta());
  AddUnpairedNotes(context, SpanSubject::kOperations, out->mutable_meta());
  if (out->device_series_size() != 0)
    AddSampledNote(context, "the time of devices", out->mutable_meta());
  results::Confidence* confidence = out->mutable_meta()->mutable_confidence();
  if (leading) {
    *confidence = out->series(0).confidence();
  } else {
    out->set_advice(context.NoStepsAdvice());
    confidence->set_level(results::LEVEL_NONE);
    confidence->set_reason("no steps found");
  }
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
