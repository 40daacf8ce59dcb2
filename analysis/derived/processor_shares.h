// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How much of the time in which samples call a thread running it was on a processor, by the
// kernel's account of the thread (Track::samples). The account has a reading a second, so a share
// holds between two readings. Samples of native code come by processor time, so they keep their
// time if the account has room for it. The others share the rest.
//
// A thread's begin and end are readings, too. A window has the part of the account for which there
// are pieces. Without two readings of a thread its share is 1. Made for one process, on one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

class ProcessorShares {
 public:
  // A piece of a thread's time: its samples call it running, those of native code among them, or
  // not.
  enum class Piece : uint8_t { kRuns, kRunsNative, kRests };

  explicit ProcessorShares(const Process& process);

  // Notes a piece. All pieces come before ShareOf().
  void Note(int32_t tid, Interval span, Piece piece);
  // Returns the part of a running piece's time on a processor, 0 to 1.
  double ShareOf(int32_t tid, Interval span, Piece piece) const;

 private:
  // Between two readings, or outside of all.
  struct Part {
    int64_t end_ns = 0;  // INT64_MAX: outside
    double length_ns = 0;
    double cpu_ns = 0;
    double native_ns = 0, other_ns = 0, resting_ns = 0;
  };
  static double Share(const Part& part, Piece piece);
  // Returns the place of the part that has the middle of a span. The last place: none has it.
  static size_t PlaceOf(const std::vector<Part>& parts, Interval span);

  std::map<int32_t, std::vector<Part>> parts_;  // the last one: all of the thread's time
  std::map<int32_t, int64_t> begins_;
};

}  // namespace gpuprof::analysis
