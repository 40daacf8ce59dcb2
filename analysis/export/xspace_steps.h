// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The steps of one file, as XProf groups work by them. A thread has an event for each step, a root.
// XProf gives to a step what lies within this event on its line. Calls are on other lines, and
// other threads work for the step, too: what begins there during the step is a consumer of the
// root. Built once a file.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/export/xplane_writer.h"
#include "analysis/passes/context.h"

namespace gpuprof::analysis {

class XSpaceSteps {
 public:
  XSpaceSteps() = default;
  // Takes the steps of the leading thread of a process: index in Trace::processes.
  XSpaceSteps(PassContext& context, size_t process);

  size_t size() const { return steps_.size(); }
  bool IsOf(size_t process, size_t track) const {
    return !steps_.empty() && process == process_ && track == track_;
  }
  Interval span(size_t step) const { return steps_[step].span; }
  // Finds the step that has exactly this span, for a range that marks it. size(): none.
  size_t Find(Interval span) const;
  // Gives a step the name of the range that marks it, without the number. Returns whether the range
  // marks a step: then the step stands for it.
  bool TakeRange(size_t step, const std::string& name, const std::string& domain);
  // Writes the event of a step. `start_ns`: of the profile.
  void Write(size_t step, int64_t start_ns, XPlaneWriter* plane) const;
  // Adds to an event of the process the step that it belongs to.
  void Link(size_t process, int64_t time_ns, XPlaneWriter* plane) const;

 private:
  struct Step {
    Interval span;
    uint64_t number = 0;
    std::string name;
  };

  size_t process_ = 0, track_ = 0;
  std::vector<Step> steps_;  // by start; they do not overlap
};

}  // namespace gpuprof::analysis
