// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Open, for bundles of gpuprof alone: a report carries nothing else.

#include <memory>
#include <utility>

#include "analysis/analysis.h"
#include "analysis/model/model_builder.h"
#include "analysis/model/trace.h"
#include "analysis/read/open_bundle.h"

namespace gpuprof::analysis {

Error Open(const InputPath& input, const OpenOptions& options,
           std::shared_ptr<const Trace>* trace) {
  trace->reset();
  ModelBuilder model(input.path);
  if (Error error = OpenBundle(input, options, &model)) return error;
  *trace = std::make_shared<const Trace>(model.Finish());
  return {};
}

}  // namespace gpuprof::analysis
