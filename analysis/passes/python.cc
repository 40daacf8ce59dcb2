// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `python`: samples of threads by function, line, module or thread; traced calls of
// functions; pauses of the garbage collector. See passes.h.

#include <memory>
#include <string>
#include <utility>

#include "analysis/passes/host/function_times.h"
#include "analysis/passes/host/python_calls.h"
#include "analysis/passes/passes.h"
#include "proto/results/python.pb.h"

namespace gpuprof::analysis {

Error RunPython(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Python>();
  const std::string by = context.By("function");
  FillFunctionTimes(context, by, out.get());
  FillPythonCalls(context, out.get());
  out->set_by(by);
  context.FillCountMeta("python", out->mutable_meta());
  if (out->count() != 0)
    LimitToStackSamples(out->count(), out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
