// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The buffers of a program, and XLA's simulation of the heap, as XProf's memory viewer reads them.
// The rules are XProf's: analysis/hlo/memory.h has gpuprof's own. One thread. Any program is safe.

#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/hlo/program.h"

namespace gpuprof::analysis::xprof {

// Adds as XProf does, without a check. Sums of a stranger's numbers may be too large.
inline int64_t Added(int64_t left, int64_t right) {
  return static_cast<int64_t>(static_cast<uint64_t>(left) + static_cast<uint64_t>(right));
}

// Returns whether XProf has an allocation there all the time. Memory of threads comes and goes.
bool IsFixed(const hlo::BufferAllocation& allocation);

// A buffer and its life in the simulation.
struct ViewerBuffer {
  const hlo::LogicalBuffer* told = nullptr;
  const hlo::BufferAllocation* allocation = nullptr;
  const hlo::Instruction* instruction = nullptr;
  const hlo::Shape* shape = nullptr;
  int64_t offset = 0, unpadded = 0;
  int64_t references = 0;
  ViewerBuffer* shared = nullptr;
  bool is_over = false;
  std::optional<std::pair<int64_t, int64_t>> span;

  uint64_t size() const { return static_cast<uint64_t>(told->size); }
  std::string PartName() const {
    std::string name(instruction->name);
    if (told->shape_index.empty()) return name;
    for (size_t i = 0; i < told->shape_index.size(); ++i)
      name += (i == 0 ? "{" : ",") + std::to_string(told->shape_index[i]);
    return name + "}";
  }
};

// What a run through the simulation's events gives.
struct HeapRun {
  int64_t heap = 0, unpadded = 0, peak = 0, peak_unpadded = 0, peak_position = 0;
  size_t peak_event = 0;
  std::vector<int64_t> heaps, unpaddeds;
  std::vector<std::string_view> names;
  std::list<int64_t> live;  // by id, in the order of their begins
  std::unordered_map<int64_t, std::vector<std::list<int64_t>::iterator>> places;
  std::unordered_map<int64_t, int64_t> shown;  // who has the memory of a buffer now
  std::set<const ViewerBuffer*> seen;
  std::set<const hlo::BufferAllocation*> allocations;
};

class ViewerHeap {
 public:
  // Reads the buffers of a program, which outlives the heap.
  ViewerHeap(const hlo::Program& program, int64_t space);

  // Returns a buffer by its number. Null: it has no place, or no instruction makes it.
  ViewerBuffer* Find(int64_t id) {
    const auto at = buffers_.find(id);
    return at == buffers_.end() ? nullptr : &at->second;
  }
  // Returns the allocations of all spaces, by their index.
  const std::map<int64_t, const hlo::BufferAllocation*>& allocations() const {
    return allocations_;
  }
  // Returns the simulation of each allocation that was simulated, by index.
  const std::map<int64_t, size_t>& traces() const { return traces_; }
  // Returns the simulation of the space. None: XLA made none.
  std::optional<size_t> TraceOfSpace();
  // Runs through the first events of a simulation. Buffers get their spans anew.
  Error Simulate(const hlo::HeapTrace& trace, size_t end, HeapRun* run);

 private:
  void IndexTraces();
  Error TakeEvent(const hlo::HeapTrace& trace, size_t number, HeapRun* run);
  // Returns the buffer at the end of a chain. Null: the chain is a circle.
  ViewerBuffer* RootOf(ViewerBuffer* buffer) const;
  void Begin(ViewerBuffer* buffer, size_t event, HeapRun* run);

  const hlo::Program& program_;
  const int64_t space_;
  std::map<int64_t, const hlo::BufferAllocation*> allocations_;
  std::map<int64_t, size_t> traces_;
  std::unordered_map<int64_t, ViewerBuffer> buffers_;
};

}  // namespace gpuprof::analysis::xprof
