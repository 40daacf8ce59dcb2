// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Live bytes of one device over time, by who allocated them: an operation or a module. The changes
// are cut into some runs of equal number. The highest moment of each run is kept, the lowest and
// the last, so that no peak is lost. Few changes are all kept. For the pass `heap`; one thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes/context.h"
#include "proto/results/heap.pb.h"

namespace gpuprof::analysis {

class TensorHistory {
 public:
  // Owners behind these are one: files of strangers must not fill the memory.
  static constexpr uint32_t kMostOwners = 2048;

  // Takes how many changes come, or more.
  explicit TensorHistory(uint64_t changes);

  // Takes a change, in order of time. `owner` is a small number, and `bytes` below 0 are freed.
  void Change(int64_t time_ns, uint32_t owner, int64_t bytes);
  // Notes that nothing is live any more, as far as is known.
  void Restart(int64_t time_ns);
  // Ends the changes. `names` has the name of each owner by number.
  void Finish(const std::vector<std::string>& names, results::TensorHistory* out);

 private:
  // What changed since a moment, by owner.
  class Since {
   public:
    void Add(uint32_t owner, int64_t bytes);
    void Clear();
    int64_t Of(uint32_t owner) const { return owner < bytes_.size() ? bytes_[owner] : 0; }

   private:
    std::vector<int64_t> bytes_;
    std::vector<bool> is_touched_;
    std::vector<uint32_t> touched_;
  };
  struct Moment {
    int64_t time_ns = 0;
    uint64_t order = 0;  // of the change
    int64_t total = 0;
    std::vector<int64_t> live;  // by owner; filled when the run ends
  };
  struct Event {
    int64_t time_ns;
    uint32_t owner;
    int64_t bytes;
  };

  void EndRun();
  void Keep(const Moment& moment, const Since& since);
  // Replays the few changes that there are.
  void KeepAll();
  // Returns the owners with a row of their own, the one with the highest peak first.
  std::vector<uint32_t> Ranked() const;

  const uint64_t run_changes_;
  uint64_t run_ = 0;
  bool is_open_ = false;
  std::vector<int64_t> live_;  // by owner
  int64_t total_ = 0;
  uint64_t order_ = 0;
  Moment highest_, lowest_, last_;
  Since since_highest_, since_lowest_;
  std::vector<Moment> kept_;
  std::vector<Event> first_;  // changes, as long as they are few
};

// Does what ComputeTensors does, and adds who held memory over time.
void ComputeTensorHistories(PassContext& context, size_t index, results::Heap* out);

}  // namespace gpuprof::analysis
