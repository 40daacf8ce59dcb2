// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The numbers by which calls and GPU work name the operation that they belong to: "External id" in
// a Chrome trace. Imported rows have these numbers. Other operations get 1, 2, 3, ... in each
// process. Built once a process, then read only.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/origin.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class OpLinks {
 public:
  // Uses process and calls, which must outlive it.
  OpLinks(const Process& process, const CallIndex& calls, bool is_imported);

  // Returns the number of an operation. 0: none. `track`: index in Process::tracks.
  uint64_t OfOp(size_t track, size_t row) const;
  // Returns the number of the innermost operation that contains the call, or the number that the
  // call was imported with. A range of the user's is not an operation. 0: none.
  uint64_t OfCall(size_t track, size_t row) const;
  // Returns the number for a row of GPU work: the imported number, or that of its call.
  template <typename Table>
  uint64_t OfWork(const Table& table, size_t row) const {
    return is_imported_ ? ExternalOf(table, row) : OfCorrelation(table.correlation[row]);
  }
  // Returns the number of the call with the correlation.
  uint64_t OfCorrelation(uint32_t correlation) const;
  // Returns whether a kernel, copy or memset came from the call.
  bool HasWork(size_t track, size_t row) const {
    return !has_work_[track].empty() && has_work_[track][row];
  }

 private:
  void LinkCalls(size_t track);
  void MarkWork(const Column<uint32_t>& correlations);

  const Process* process_;
  const CallIndex* index_;
  bool is_imported_;
  std::vector<uint64_t> first_;               // by track, of numbers that are not given
  std::vector<std::vector<uint64_t>> calls_;  // by track; empty: no call has a number
  std::vector<std::vector<bool>> has_work_;   // by track; empty: no call has work
};

}  // namespace gpuprof::analysis
