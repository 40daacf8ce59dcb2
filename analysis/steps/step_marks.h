// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When each step of a trace was, with the number that passes show. One thread.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {

struct StepMark {
  uint32_t process = 0;  // index in Trace::processes
  int32_t tid = 0;
  uint32_t number = 0;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
};

// Returns the steps of all threads that have some: those of a thread stand together, by number.
// `ops_of` returns the operations of a process, by its index.
std::vector<StepMark> FindStepMarks(const Trace& trace,
                                    const std::function<ProcessOps&(uint32_t)>& ops_of);
// Does the same, and keeps no operations.
std::vector<StepMark> FindStepMarks(const Trace& trace);

// Packs steps for a reader in another process or in a page: proto::BundleParts with steps alone.
std::string PackStepMarks(const std::vector<StepMark>& marks);
// Reads packed steps. Returns false if the bytes are damaged.
bool ReadStepMarks(std::string_view bytes, std::vector<StepMark>* marks);

}  // namespace gpuprof::analysis
