// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The step in which a moment lies, and the step in which a call began. Passes ask the latter of
// every piece of the GPU's work: the answers for all calls are made in one walk over the calls.
//
// Built once, then read only. A StepFinder is used by one thread, CallSteps by any.

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

inline constexpr uint32_t kNoStep = 0xffffffff;

// Finds steps of moments that mostly rise or fall.
class StepFinder {
 public:
  // Takes steps that are sorted by their start and disjoint. They must outlive it.
  explicit StepFinder(std::span<const Interval> steps) : steps_(steps) {}

  // Returns 2 n + 1 for a moment in step n (counted from 0), and 2 n for one between step n - 1 and
  // step n. So places rise with time.
  uint32_t PlaceAt(int64_t time_ns);
  // Returns the number of the step; kNoStep: the moment is in no step.
  uint32_t StepAt(int64_t time_ns) { return StepOf(PlaceAt(time_ns)); }
  static uint32_t StepOf(uint32_t place) { return place % 2 == 1 ? place / 2 : kNoStep; }

 private:
  bool IsAt(size_t next, int64_t time_ns) const {
    return (next == 0 || steps_[next - 1].start <= time_ns) &&
           (next == steps_.size() || time_ns < steps_[next].start);
  }

  std::span<const Interval> steps_;
  size_t next_ = 0;  // the first step that begins after the last moment
};

class CallSteps {
 public:
  // Keeps references to the calls and the steps.
  CallSteps(const Process& process, const CallIndex& calls, std::span<const Interval> steps);

  // Returns the step in which the call began; kNoStep: in none. None: the call was not recorded.
  std::optional<uint32_t> Find(uint32_t correlation) const;

 private:
  void Fill(const Process& process);

  const CallIndex* calls_;
  std::span<const Interval> steps_;
  bool is_dense_ = false;
  uint32_t first_id_ = 0;
  std::vector<uint32_t> places_;  // by id, from first_id_ on; empty: the ids are too far apart
};

}  // namespace gpuprof::analysis
