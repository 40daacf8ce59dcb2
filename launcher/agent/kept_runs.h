// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The runs that an agent has written to its log folder, of which it keeps the newest (--keep). Runs
// of others, and of earlier agents, are not known here and stay. One thread at a time.

#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace gpuprof::launcher {

// Both 0: all runs stay.
struct KeepLimit {
  uint64_t runs = 0;
  uint64_t bytes = 0;
};
// Reads a number of runs (20), or a size with its unit (10GiB). Returns empty, or what is wrong.
std::string ParseKeepLimit(std::string_view text, KeepLimit* limit);

class KeptRuns {
 public:
  // `own_prefix`: how the names of the agent's own files begin.
  KeptRuns(KeepLimit limit, std::string own_prefix)
      : limit_(limit), own_prefix_(std::move(own_prefix)) {}

  // Notes a run that was written to the folder `name` in `runs`, and removes the oldest runs beyond
  // the limit. The newest one stays, whatever its size. Follows no link. What is removed are the
  // agent's own files, what XProf made of them, and the folder if it is empty then.
  void Add(const std::string& runs, const std::string& name);

 private:
  struct Run {
    std::string runs, name;
    uint64_t bytes;
  };
  bool IsOwn(std::string_view file) const;
  uint64_t BytesOf(const Run& run) const;
  void Remove(const Run& run) const;

  KeepLimit limit_;
  std::string own_prefix_;
  std::deque<Run> kept_;  // oldest first
  uint64_t bytes_ = 0;
};

}  // namespace gpuprof::launcher
