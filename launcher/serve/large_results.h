// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Results of so many rows that the server leaves them to a process (page_order.h). All pages of a
// server share one of these objects: one such process runs at a time, in the order of asking. A
// result is refused only if the memory that is free now does not suffice for it. Any thread.

#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>

#include "analysis/analysis.h"
#include "analysis/passes/page_need.h"
#include "launcher/reading/comparison.h"
#include "launcher/serve/page_results.h"

namespace gpuprof::launcher {

// What the server computes itself, and what there is for a process. Tests have other limits.
struct PageLimits {
  // Most rows of a recording that the server keeps in memory (analysis/passes/page_input.h): it
  // computes all results of it.
  uint64_t most_recording_rows = 10'000'000;
  // Most memory of a result of a larger recording that it computes.
  uint64_t most_bytes = 100'000'000;
  uint64_t (*free_memory)() = analysis::FreeMemory;
};

// Sets the limits of all servers of this process, for tests.
void SetPageLimits(const PageLimits& limits);

class LargeResults {
 public:
  LargeResults();

  // Returns whether a process shall compute a result.
  bool IsLarge(const analysis::PageNeed& need) const {
    return HasLarge(need) && need.bytes_at_once > limits_.most_bytes;
  }
  // Returns whether results of the recording can be large.
  bool HasLarge(const analysis::PageNeed& need) const {
    return need.recording_rows > limits_.most_recording_rows;
  }
  // Returns why no process can compute a result now, and what to do; empty: it can.
  std::string WhyNot(const std::string& name, const analysis::PageNeed& need) const;
  // Has a process compute a result when its turn has come. Ends soon after `is_wanted` says no,
  // which is asked several times a second. The answer is of no use then.
  PageAnswer Compute(const PlacedInput& input, const std::string& name,
                     const analysis::PageNeed& need, const std::function<bool()>& is_wanted);
  // Returns what a result waits for, in sentences for people.
  std::string WordsOf(const std::string& name, const analysis::PageNeed& need) const;

 private:
  struct Turn {
    std::string name;
    double begin_s = 0;  // 0: not yet
  };

  const PageLimits limits_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Turn*> turns_;  // the first one has its process
};

// Returns how the results of a recording come about. `large` and `turn` outlive them. `turn`: held
// while the server itself computes a result; null: nobody else does.
PageResults::Ways WaysOf(const PlacedInput& input, LargeResults* large, std::mutex* turn);

}  // namespace gpuprof::launcher
