// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `tally`: counts the kernels of each process. A template for a new pass.

#include <memory>
#include <utility>

#include "analysis/passes/passes.h"
#include "proto/results/tally.pb.h"

namespace gpuprof::analysis {

Error RunTally(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Tally>();
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    results::TallyRow* row = out->add_rows();
    SetProcess(process, row);
    for (const Track& track : process.tracks) row->set_count(row->count() + track.kernel.rows());
  }
  context.FillCountMeta("tally", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
