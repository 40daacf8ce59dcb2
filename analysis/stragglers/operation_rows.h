// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Operations of a pipeline-parallel job as a table has them, a row each, and the schedule that
// follows from them. The columns are those of ByteDance-Seed/StragglerAnalysis. Pure, any thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/stragglers/schedule.h"

namespace gpuprof::analysis {

// Columns of equal length.
struct OperationRows {
  std::vector<uint32_t> replica, stage;  // dp_rank, stage
  std::vector<int64_t> rank, step;
  std::vector<uint32_t> type;               // index in `types`
  std::vector<double> start_ns, took_ns;    // start_ts, duration
  std::vector<uint32_t> number;             // seq_id: among those of its type, step and worker
  std::vector<int32_t> chunk, model_chunk;  // mc, gmc; -1: none
  std::vector<std::string> types;           // optype, by index

  size_t rows() const { return step.size(); }
};

struct PipelineSchedule {
  Schedule schedule;
  std::vector<int64_t> ranks;   // by replica * stages + stage
  uint64_t left_out_steps = 0;  // they lack operations, or have further ones
};

// Makes the schedule: who waits for whom follows from the types and the order of operations in one
// replica and step. An error says what the table lacks.
Error MakePipelineSchedule(const OperationRows& rows, PipelineSchedule* out);

}  // namespace gpuprof::analysis
