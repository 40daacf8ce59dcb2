// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The account of one device's memory under a framework's allocator. It has what was allocated and
// reserved over time, the peak, and the blocks of the peak. Blocks from before the recording count.
// For snapshots of PyTorch and for recorded allocations. One thread.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/derived/memory_category.h"
#include "analysis/derived/memory_ranges.h"

namespace gpuprof::analysis {

enum class MemoryChange : uint8_t {
  kAlloc,
  kFree,       // the program gives a block back: from now on it is not allocated
  kPoolGotIt,  // no stream uses the block any more
  kReserve,    // memory of the device comes into the pool
  kUnreserve,
  kTotals,  // `bytes` are reserved now, as the allocator says
  kFailure,
  kForget,  // events are missing here: nothing is known of blocks from before
};

struct MemoryEvent {
  int64_t time_ns = 0;
  MemoryChange change = MemoryChange::kAlloc;
  bool is_expandable = false;  // kReserve: a part of a segment that grows
  uint32_t owner = 0;          // who allocated the block: below MemoryInput::owners
  uint64_t address = 0;
  uint64_t bytes = 0;        // 0: not known, of a kFree
  uint64_t device_free = 0;  // kFailure
};

// A block that was allocated at the end, by the allocator's own list.
struct MemoryEndBlock {
  uint64_t address = 0, bytes = 0;
  uint32_t owner = 0;
};

struct MemoryOwner {
  results::MemoryCategory category = results::MEMORY_CATEGORY_UNKNOWN;
  results::MemoryEvidence evidence = results::MEMORY_EVIDENCE_NONE;
  bool is_backward = false;   // a backward pass, in which gradients come to be
  bool is_optimizer = false;  // an optimizer's step
};

// What the account is made of.
struct MemoryInput {
  // Calls its argument with each event in order of time.
  std::function<void(const std::function<void(const MemoryEvent&)>&)> each;
  std::vector<MemoryOwner> owners;        // the first stands for a place that is not known
  std::vector<MemoryRange> end_ranges;    // segments at the end, sorted; empty: not known
  std::vector<MemoryEndBlock> end_live;   // blocks of the segments that were allocated at the end
  uint64_t before_bytes = 0;              // live before, as the allocator counted; 0: not known
  bool tells_returns = false;             // the events tell when a block is in the pool again
  bool has_optimizer = false;             // an optimizer ran
  std::vector<int64_t> optimizer_begins;  // of named steps of an optimizer, ascending
  std::vector<int64_t> step_ends;         // of named steps, ascending
};

struct MemoryLiveBlock {
  uint64_t address = 0, bytes = 0;
  uint32_t owner = 0;
  bool is_before = false;
  MemoryOwner of;
};

struct MemoryPoint {
  int64_t time_ns = 0;
  uint64_t allocated = 0, reserved = 0, pending = 0;
  std::array<uint64_t, kMemoryCategories> by_category{};
  bool is_peak = false;
};

// A request that failed, and the pool then.
struct MemoryFailure {
  int64_t time_ns = 0;
  uint32_t owner = 0;
  uint64_t asked = 0, device_free = 0, allocated = 0, reserved = 0, pending = 0;
  PoolState pool;
  results::MemoryShortage shortage = results::MEMORY_SHORTAGE_UNKNOWN;
  uint64_t largest_fit = 0;
  bool fits_unfragmented = false;
};

struct MemoryAccount {
  uint64_t events = 0;
  uint64_t peak = 0, recorded_peak = 0, reserved_at_peak = 0;
  int64_t peak_time_ns = 0;
  uint64_t before_bytes = 0, before_count = 0, before_freed = 0;
  uint64_t end_bytes = 0, end_count = 0, recorded_end = 0, pending_end = 0;
  uint64_t reserved_peak = 0, reserved_end = 0;
  uint64_t implied_frees = 0;
  uint64_t uncounted_count = 0, uncounted_bytes = 0;  // end_live that the events do not fit
  bool has_reserved = false, has_pending = false;
  bool fits = true;  // events lie in the segments
  std::optional<int64_t> growth_per_step;
  std::vector<MemoryLiveBlock> live_at_peak;
  std::vector<MemoryPoint> points;  // at most kMostPoints
  std::vector<MemoryFailure> failures;
};

inline constexpr size_t kMostMemoryPoints = 400;
inline constexpr size_t kMostMemoryFailures = 16;

// Makes the account.
MemoryAccount AccountOfMemory(const MemoryInput& input);

// Returns why a request failed, of the other fields.
results::MemoryShortage ShortageOf(const MemoryFailure& failure);

}  // namespace gpuprof::analysis
