// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What threads did, as events in Kineto's words: operations, ranges, calls of Python functions and
// of CUDA, overheads and tensor memory. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "analysis/derived/backward_links.h"
#include "analysis/export/event_out.h"
#include "analysis/export/object_members.h"
#include "analysis/export/op_links.h"
#include "analysis/export/places.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {

class HostEvents {
 public:
  // Uses all arguments, which must outlive it. `is_imported`: from a file of this format.
  HostEvents(const Process& process, const Places& places, const OpLinks& links, bool is_imported,
             EventOut* out)
      : process_(process),
        places_(places),
        links_(links),
        backward_(process),
        members_(process),
        is_imported_(is_imported),
        out_(out) {}

  // Writes the rows of a track: index in Process::tracks. Returns false if the sink wants no more.
  bool Write(size_t track);

 private:
  bool Ops(size_t track);
  bool Ranges(const Track& track);
  void Range(const Track& track, size_t row);
  bool PythonCalls(const Track& track);
  bool Calls(size_t track);
  bool Overheads(const Track& track);
  bool Tensors(const Track& track);
  std::string_view String(uint32_t id);
  std::string_view FunctionName(uint32_t function);
  void BackwardArrow(size_t index, size_t row, bool is_backward);

  const Process& process_;
  const Places& places_;
  const OpLinks& links_;
  BackwardLinks backward_;
  ObjectMembers members_;
  bool is_imported_;
  EventOut* out_;
  uint64_t python_ids_ = 0;  // of the tracks before
  uint64_t async_ids_ = 0;   // of slices that are not of one thread alone
  std::string unknown_;      // the last name that is not in the table
  std::unordered_map<uint32_t, std::string> functions_;
};

// Returns whether a row of ranges is written. Names that the program gives to its things are not.
bool IsWritten(const RangeTable& ranges, size_t row);

}  // namespace gpuprof::analysis
