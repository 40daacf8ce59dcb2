// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See memory_ranges.h.

#include "analysis/derived/memory_ranges.h"

#include <algorithm>
#include <iterator>

namespace gpuprof::analysis {

std::map<uint64_t, MemoryRange>::const_iterator MemoryRanges::Find(uint64_t address) const {
  auto at = ranges_.upper_bound(address);
  if (at == ranges_.begin()) return ranges_.end();
  --at;
  return address - at->first < at->second.bytes ? at : ranges_.end();
}

bool MemoryRanges::Contains(uint64_t address) const { return Find(address) != ranges_.end(); }

bool MemoryRanges::IsPrivate(uint64_t address) const {
  if (!has_private_) return false;
  const auto at = Find(address);
  return at != ranges_.end() && at->second.is_private;
}

void MemoryRanges::Add(const MemoryRange& range) {
  if (range.bytes == 0 || range.begin > UINT64_MAX - range.bytes) return;
  Remove(range.begin, range.bytes);
  ranges_.emplace(range.begin, range);
  bytes_ += range.bytes;
  has_private_ |= range.is_private;
}

uint64_t MemoryRanges::Remove(uint64_t begin, uint64_t bytes) {
  if (bytes == 0 || begin > UINT64_MAX - bytes) return 0;
  const uint64_t end = begin + bytes;
  uint64_t removed = 0;
  auto at = ranges_.lower_bound(begin);
  if (at != ranges_.begin()) {
    const auto before = std::prev(at);
    if (before->first + before->second.bytes > begin) at = before;
  }
  while (at != ranges_.end() && at->first < end) {
    const MemoryRange whole = at->second;
    at = ranges_.erase(at);
    const uint64_t whole_end = whole.begin + whole.bytes;
    removed += std::min(whole_end, end) - std::max(whole.begin, begin);
    MemoryRange part = whole;
    if (whole.begin < begin) {
      part.bytes = begin - whole.begin;
      ranges_.emplace(part.begin, part);
    }
    if (whole_end > end) {
      part.begin = end;
      part.bytes = whole_end - end;
      ranges_.emplace(end, part);
      break;
    }
  }
  bytes_ -= removed;
  return removed;
}

PoolState MemoryRanges::State(const std::vector<UsedPart>& used) const {
  PoolState state;
  state.reserved = bytes_;
  // The free bytes before the present address, and those if what waits were free.
  uint64_t run = 0, run_later = 0, at = 0;
  bool is_private = false, was_expandable = false;
  const auto end_run = [&] {
    uint64_t& largest = is_private ? state.private_largest : state.largest;
    largest = std::max(largest, run);
    run = 0;
  };
  const auto end_run_later = [&] {
    if (!is_private) state.largest_later = std::max(state.largest_later, run_later);
    run_later = 0;
  };
  const auto free_up_to = [&](uint64_t address) {
    if (address <= at) return;
    const uint64_t bytes = address - at;
    run += bytes;
    run_later += bytes;
    state.free += bytes;
    if (is_private) state.private_free += bytes;
    at = address;
  };
  auto part = used.begin();
  for (const auto& [begin, range] : ranges_) {
    const bool goes_on =
        was_expandable && range.is_expandable && at == begin && range.is_private == is_private;
    if (!goes_on) {
      end_run();
      end_run_later();
    }
    was_expandable = range.is_expandable;
    is_private = range.is_private;
    if (is_private) state.private_bytes += range.bytes;
    at = std::max(at, begin);
    const uint64_t end = begin + range.bytes;
    while (part != used.end() && part->begin < end) {
      const uint64_t part_end = part->begin + part->bytes;
      if (part_end > begin) {
        free_up_to(std::max(part->begin, begin));
        const uint64_t until = std::min(part_end, end);
        if (until > at) {
          end_run();
          if (part->is_pending) {
            run_later += until - at;
          } else {
            end_run_later();
          }
          at = until;
        }
      }
      if (part_end > end) break;
      ++part;
    }
    free_up_to(end);
  }
  end_run();
  end_run_later();
  return state;
}

}  // namespace gpuprof::analysis
