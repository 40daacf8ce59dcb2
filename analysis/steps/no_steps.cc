// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Says why a trace has no steps. See step_detector.h.

#include "analysis/steps/step_detector.h"

namespace gpuprof::analysis {

std::string NoStepsAdvice(const NoSteps& trace) {
  if (trace.marker_given) {
    return "No steps were found: the step marker matches no operation, range or mark in the "
           "recording. `gpuprof stats ops` and `gpuprof stats ranges` list the names.";
  }
  if (trace.is_xspace) {
    return "No steps were found: the file has no marks of steps. To have steps, put the step into "
           "jax.profiler.StepTraceAnnotation(\"step\", step_num=n), or into "
           "tf.profiler.experimental.Trace(\"step\", step_num=n, _r=1). Or name the operation or "
           "range that starts a step with --step-marker REGEX: `gpuprof stats ops` lists the "
           "names.";
  }
  if (trace.op_rows == 0 && !trace.framework_seen) {
    return std::string("No steps were found: no range is called `step` or `iteration`, and ") +
           (trace.has_samples
                ? "no operation of a framework was recorded. `gpuprof stats python` says which "
                  "functions used the processor, and which waited. "
                : "neither PyTorch nor TensorFlow ran here. ") +
           "To have steps, put an NVTX range called `step` around each. Or name other ranges with "
           "--step-marker: `gpuprof stats ranges` lists them. All figures are for " +
           (trace.is_window ? "the part that the flight recorder kept, not for the whole run."
                            : "the whole recording.");
  }
  const std::string functions =
      trace.has_samples ? "`gpuprof stats python` says which functions used the processor, and "
                          "which waited. "
                        : "";
  if (trace.op_rows == 0) {
    return "No steps were found: no framework operation and no range called `step` was recorded. " +
           functions + "Record operations with the source `ops`, which is on by default. " +
           (trace.pytorch_seen ? "`gpuprof doctor` says whether this PyTorch can be observed."
                               : "`gpuprof stats health` says why operations are missing.");
  }
  return "No steps were found: no range is called `step` or `iteration`, and no serving engine "
         "named its iterations. The operations hold no optimizer step, no row of backward passes "
         "and no DataLoader batch. A service may be without steps: `gpuprof stats ops` "
         "sums its operations. " +
         functions +
         "To have steps, wrap one in torch.profiler.record_function(\"step\") or in an NVTX range "
         "called `step`. Or name the operation or range that starts a step with --step-marker "
         "REGEX: `gpuprof stats ops` and `gpuprof stats ranges` list the names.";
}

}  // namespace gpuprof::analysis
