// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Program counters and what lay at them. Where several modules of a process had the same addresses
// one after another, the reader moves the program counters of all but one of them far above
// everything that a program can have, each module's into a range of its own
// (analysis/read/reused_addresses.h). Whoever shows an address shows the true one.

#pragma once

#include <cstdint>

#include "proto/trace.pb.h"

namespace gpuprof::analysis {

// User space ends far below (2^56 with five levels of page tables; without asking for it nothing
// lies above 2^48), kernels lie above.
inline constexpr int kTrueAddressBits = 48;
inline constexpr uint64_t kFirstMovedRange = uint64_t{1} << 8;
inline constexpr uint64_t kMovedRangeEnd = uint64_t{1} << 15;

inline uint64_t MovedAddress(uint64_t address, uint64_t range) {
  return address | range << kTrueAddressBits;
}

inline bool IsMoved(uint64_t address) {
  const uint64_t range = address >> kTrueAddressBits;
  return range >= kFirstMovedRange && range < kMovedRangeEnd;
}

// Returns the address that it had in the process.
inline uint64_t TrueAddress(uint64_t address) {
  return IsMoved(address) ? address & ((uint64_t{1} << kTrueAddressBits) - 1) : address;
}

// Returns whether a program counter of unknown time belongs to `x` rather than to `y`. Both
// mappings held one address at different times. The mapping that lasted wins, else the later
// mapping.
inline bool Outlasts(const proto::Module& x, const proto::Module& y) {
  const bool x_stayed = x.last_seen() == 0;
  const bool y_stayed = y.last_seen() == 0;
  if (x_stayed != y_stayed) return x_stayed;
  return x.first_seen() > y.first_seen();
}

}  // namespace gpuprof::analysis
