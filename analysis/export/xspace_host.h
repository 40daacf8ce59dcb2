// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The plane of threads of an XSpace, as XLA's profiler writes it. A thread has up to three lines:
//   NAME/TID               steps, operations, Python functions, tensor memory
//   Host Threads/TID       calls of CUDA or HIP
//   Host Threads/TID/NVTX  ranges and marks
// For ExportXSpace, one thread.

#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "analysis/export/xplane_writer.h"
#include "analysis/export/xspace_steps.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

class XSpaceHost {
 public:
  // Uses all arguments, which must outlive it. `start_ns`: of the profile.
  XSpaceHost(PassContext& context, int64_t start_ns, XSpaceSteps* steps);

  // Adds the threads of a process: index in Trace::processes. `is_named`: lines tell its name.
  void Add(size_t process, bool is_named);
  XPlaneWriter& plane() { return plane_; }

 private:
  enum class Kind : uint8_t { kStep, kPython, kOp, kMemory };
  struct Event {
    int64_t start = 0, end = 0;
    size_t row = 0;  // of its table, or the step
    Kind kind = Kind::kOp;
  };
  // Which device the call with a correlation worked on.
  struct Devices {
    bool has_work = false;
    uint32_t only = 0;
    bool is_only = true;
    std::unordered_map<uint32_t, uint32_t> by_correlation;  // if there are several
  };

  void Thread(size_t process, size_t track, const std::string& name);
  void Calls(size_t process, size_t track, const Devices& devices);
  void Ranges(size_t process, size_t track);
  std::vector<Event> EventsOf(size_t process, size_t track);
  void Memory(const TensorTable& table, size_t row);
  bool MarksStep(size_t process, size_t track, Interval span, const std::string& name,
                 const std::string& domain);
  static Devices DevicesOf(const Process& process);
  int64_t LineId(int64_t wanted);
  void Begin(std::string_view name, int64_t start, int64_t end);

  PassContext& context_;
  int64_t start_ns_;
  XSpaceSteps* steps_;
  XPlaneWriter plane_;
  std::set<int64_t> lines_;
  std::unordered_map<uint32_t, std::string> functions_;  // of the current process
};

}  // namespace gpuprof::analysis
