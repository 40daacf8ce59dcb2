// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ExportFolded: the text of the pass `stacks`, a line `frame;frame;frame WEIGHT` a stack.

#include "analysis/export/export_window.h"
#include "analysis/export/tool_formats.h"
#include "analysis/passes/session.h"
#include "proto/results/stacks.pb.h"

namespace gpuprof::analysis {

Error ExportFolded(const Trace& whole, const ToolOptions& options, Sink sink, void* context,
                   ToolReport* report) {
  const std::shared_ptr<const Trace> part = PartOf(whole, options);
  PassOptions pass_options;
  pass_options.pid = options.pid;
  pass_options.symfs = options.symfs;
  pass_options.by = options.by;
  Session session(part == nullptr ? whole : *part);
  std::unique_ptr<google::protobuf::Message> result;
  if (Error error = Run("stacks", &session, pass_options, &result)) return error;
  report->events =
      static_cast<uint64_t>(static_cast<const results::Stacks&>(*result).stacks_size());
  report->remark = Remarks(*result, pass_options);
  Render(*result, Format::kText, pass_options, 0, sink, context);
  return {};
}

}  // namespace gpuprof::analysis
