// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The segments of an allocator's pool as ranges of addresses, and what is free in them. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

struct MemoryRange {
  uint64_t begin = 0, bytes = 0;
  bool is_private = false;     // of a pool of its own
  bool is_expandable = false;  // it may go on in the next one
};

// What a pool has at a moment.
struct PoolState {
  uint64_t reserved = 0, free = 0;
  uint64_t largest = 0;        // free piece outside of private pools
  uint64_t largest_later = 0;  // the same, if what waits for a stream were free
  uint64_t private_bytes = 0, private_free = 0, private_largest = 0;
};

// A used part of a range.
struct UsedPart {
  uint64_t begin = 0, bytes = 0;
  bool is_pending = false;  // it was given back, and waits for a stream
};

class MemoryRanges {
 public:
  void Add(const MemoryRange& range);
  // Takes a range out, whose ends may lie within others. Returns the bytes that were there.
  uint64_t Remove(uint64_t begin, uint64_t bytes);
  bool Contains(uint64_t address) const;
  bool IsPrivate(uint64_t address) const;
  uint64_t bytes() const { return bytes_; }
  bool has_private() const { return has_private_; }
  // Says what is free. `used` is sorted by its begin.
  PoolState State(const std::vector<UsedPart>& used) const;

 private:
  std::map<uint64_t, MemoryRange>::const_iterator Find(uint64_t address) const;

  std::map<uint64_t, MemoryRange> ranges_;  // by begin; disjoint
  uint64_t bytes_ = 0;
  bool has_private_ = false;
};

}  // namespace gpuprof::analysis
