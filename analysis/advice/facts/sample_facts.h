// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What samples of stacks say of the main process of a run without steps. Which function used the
// processor? Who waited for Python's global interpreter lock (GIL)? Where did threads wait?
// Values; the finder is for the pass `advise`, one thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpuprof::analysis {

class PassContext;
class Thresholds;

struct SampledFunction {
  std::string name;
  std::string place;  // "app/server.py:12"
  int64_t total_ns = 0;
  // When at least one thread was there: a run without it is at most so much shorter.
  int64_t covered_ns = 0;
  uint32_t thread_count = 0;
};

struct SampleFacts {
  std::string process;  // its name and pid; "": it is the only one
  uint64_t count = 0;
  int64_t cpu_ns = 0, gil_ns = 0;
  // The function of the program that used most processor time, with the libraries it called.
  SampledFunction busiest;
  int64_t in_libraries_ns = 0;           // of the busiest
  std::vector<SampledFunction> callers;  // of the busiest, the greatest first, a few
  // All waits for the GIL, with the function that waited longest.
  SampledFunction gil_waiter;
  int64_t gil_covered_ns = 0;
  uint32_t gil_thread_count = 0;
  std::vector<SampledFunction> gil_holders;  // the greatest first, a few; unknown ones are left out
  // The function in which threads waited longest, and the function of the program that called it.
  // Threads that rest there by design do not count.
  SampledFunction waiting;
  std::string waiting_caller;  // "": the function itself is the program's
  int64_t awake_ns = 0;        // of the threads that count, without waits for work
};

// Finds the facts of the main process. None: it has no samples.
std::optional<SampleFacts> FindSampleFacts(PassContext& context, const Thresholds& limits);

}  // namespace gpuprof::analysis
