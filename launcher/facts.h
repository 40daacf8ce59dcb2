// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The few figures of a bundle that the launcher itself speaks of: taken from the analysis library's
// description, without reading events. Called by run's summary and by every reading verb for its
// words about faults.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace gpuprof::analysis {
struct Trace;
}

namespace gpuprof::launcher {

struct LossWords {
  uint64_t count = 0;
  std::string words;
};

struct BundleFacts {
  uint64_t processes = 0;
  uint64_t events = 0;
  uint64_t signal_switches = 0;  // how often the trigger signal began or ended a capture
  std::vector<LossWords> losses;
  // The longest time before a process's end without any of CUPTI's records; 0: no record is
  // missing.
  uint64_t activity_missing_ns = 0;
  // Threads whose last records are lost; the number of these records is unknown.
  uint64_t lost_threads = 0;
  // Why traces could not be written further, each reason once.
  std::vector<std::string> write_causes;
  std::vector<std::string> faults;  // "FILE at byte N: what"
};

// Reads the facts of a bundle. Returns empty, or cause and fix.
std::string ReadBundleFacts(const std::string& bundle, BundleFacts* facts);
// Reads the facts from the text of analysis::DescribeJson. A fact that the text lacks stays empty.
BundleFacts ParseFacts(const std::string& json);
BundleFacts FactsOf(const analysis::Trace& trace);

}  // namespace gpuprof::launcher
