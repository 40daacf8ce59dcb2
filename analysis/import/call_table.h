// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The calls of a process by their correlation id. Files have hundreds of thousands of them, with
// ids that mostly count up: neighbours in the file are neighbours in memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/model/builder.h"

namespace gpuprof::analysis::import {

struct LaunchCall {
  int64_t correlation = 0;
  SpanNs span;
  uint32_t name = 0;  // number of a text of the importer
  bool launches = false;
  bool has_work = false;
};

class CallTable {
 public:
  // Returns the call of the id, which is new unless the id is known.
  LaunchCall& Add(int64_t correlation, bool* is_new);
  // Finds a call. Null: the id is not there. Valid until the next Add().
  LaunchCall* Find(int64_t correlation);
  const LaunchCall* Find(int64_t correlation) const;
  // Gives access to all calls, in the order in which their ids came.
  const std::vector<LaunchCall>& calls() const { return calls_; }

 private:
  size_t SlotOf(int64_t correlation) const;
  void Grow();

  std::vector<LaunchCall> calls_;
  // Index in calls_, plus 1. 0: free. At least twice as many places as calls, a power of two.
  std::vector<uint32_t> slots_;
  int shift_ = 0;  // of the product that spreads groups of ids
};

}  // namespace gpuprof::analysis::import
