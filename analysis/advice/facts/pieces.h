// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a rule looks at: pieces of work, calls or waits of one kind within the counted steps. Also
// the longest of them, and what a step would save without them. Pure.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace gpuprof::analysis {

// One piece, so that its reader can find it in a timeline.
struct Instance {
  std::string name;
  int64_t start_ns = 0;
  int64_t duration_ns = 0;
  std::optional<uint64_t> step;
  std::optional<uint32_t> device, stream;  // of work
  std::optional<int32_t> tid;              // of calls and waits
  // Whose it is. Pid 0: of the process that the facts are about.
  int32_t pid = 0;
  std::string host;
};

struct Pieces {
  uint64_t count = 0;  // in all counted steps
  int64_t total_ns = 0;
  uint64_t bytes = 0;
  Instance longest;
  // By playing the dependency graph. 0: nothing, or there are too few to ask.
  int64_t saved_per_step_ns = 0;

  // Adds a piece. `make` is called for the longest so far: Instance().
  template <typename Make>
  void Add(int64_t duration_ns, uint64_t piece_bytes, Make&& make) {
    ++count;
    total_ns += duration_ns;
    bytes += piece_bytes;
    if (count == 1 || duration_ns > longest.duration_ns) longest = make();
  }
};

}  // namespace gpuprof::analysis
