// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The work of devices that each call launched itself. For the dependency graph: a call that waits
// ends with its own work. One thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// What a call launched: when the last piece of work ended, and where the first piece ran.
struct OwnWork {
  int64_t last_end;
  uint32_t stream;  // track of the first
  Interval first;

  // Returns whether a call lasts as long as its work. Copies of pageable memory are made piece by
  // piece, and the call ends with the last piece.
  bool LastsAsLongAs(Interval call) const {
    const int64_t both = std::min(first.end, call.end) - std::max(first.start, call.start);
    return first.start > call.start && first.end > call.end && 2 * both >= call.length();
  }
};

class OwnWorkOfCalls {
 public:
  // Keeps a reference to the process.
  explicit OwnWorkOfCalls(const Process& process)
      : process_(process), places_(process.tracks.size()) {}

  // Adds a piece of work. The call is given by its track and its row there.
  void Add(uint32_t track, uint32_t row, uint32_t stream, Interval span) {
    std::vector<uint32_t>& places = places_[track];
    if (places.empty()) places.resize(process_.tracks[track].api.correlation.size());
    if (places[row] == 0) {
      work_.push_back({0, stream, span});
      places[row] = static_cast<uint32_t>(work_.size());
    }
    int64_t& end = work_[places[row] - 1].last_end;
    end = std::max(end, span.end);
  }

  // Returns the work that a call launched. Null: it launched none.
  const OwnWork* Of(uint32_t track, uint32_t row) const {
    const std::vector<uint32_t>& places = places_[track];
    return places.empty() || places[row] == 0 ? nullptr : &work_[places[row] - 1];
  }

 private:
  const Process& process_;
  std::vector<std::vector<uint32_t>> places_;  // by track and row: place in work_ plus 1; 0: none
  std::vector<OwnWork> work_;
};

}  // namespace gpuprof::analysis
