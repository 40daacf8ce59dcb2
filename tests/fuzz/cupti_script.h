// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The input of cupti_fuzz: what a library hands over, and when the drain comes. The first byte
// holds the settings (Setting). Then follow operations, each with one byte (Operation):
//
//   below kStep          a record: its length in one byte, then its bytes behind the kind. Kinds
//                        that gpuprof reads are numbered from 0 (kKinds); others are of no kind.
//   kStep, kFault        the library's next step leads elsewhere, or fails: a place of 16 bits
//   kEnd, kEndStuck      the buffer is handed over; a library that is stuck stays at its last place
//   kRelease, kWrite     the drain releases what waits, or writes the rows

#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "tracer/cupti/abi.h"

namespace gpuprof::fuzz {

enum Setting : uint8_t { kOwnsData = 1, kLimitsCalls = 2, kLimitsNodes = 4, kHasEarliest = 8 };

enum Operation : uint8_t {
  kStep = 0x80,
  kFault = 0x81,
  kEnd = 0x82,
  kEndStuck = 0x83,
  kRelease = 0x84,
  kWrite = 0x85,
};
inline constexpr uint8_t kOperations = 0x86;

using tracer::cupti::Activity;
inline constexpr Activity kKinds[] = {Activity::kMemcpy,
                                      Activity::kMemset,
                                      Activity::kDriver,
                                      Activity::kRuntime,
                                      Activity::kDevice,
                                      Activity::kContext,
                                      Activity::kOverhead,
                                      Activity::kConcurrentKernel,
                                      Activity::kMemcpy2,
                                      Activity::kCudaEvent,
                                      Activity::kUnifiedMemoryCounter,
                                      Activity::kStream,
                                      Activity::kMemory2,
                                      Activity::kSynchronization,
                                      Activity::kMemoryPool,
                                      Activity::kGraphTrace,
                                      Activity::kJit,
                                      Activity::kHostLaunch,
                                      Activity::kGraphHostNode};

// A step of the library through a buffer: to this place, or a failure.
struct Step {
  std::ptrdiff_t place;
  int result;
};

struct Buffer {
  std::vector<uint8_t> bytes;
  std::vector<Step> steps;
  bool is_stuck = false;
};

// Reads the operations one after the other.
class Script {
 public:
  Script(const uint8_t* data, size_t size) : at_(data), end_(data + size) { settings_ = Take(); }

  bool has(Setting setting) const { return (settings_ & setting) != 0; }
  bool is_over() const { return at_ == end_; }
  // The buffer that is being filled.
  Buffer& buffer() { return buffer_; }

  // Does what concerns the buffer; returns the operation that ended it, or that is the drain's.
  uint8_t Next() {
    while (at_ != end_) {
      const uint8_t operation = Take() % kOperations;
      if (operation < kStep) {
        TakeRecord(operation);
      } else if (operation <= kFault) {
        const uint8_t low = Take();
        const auto place = static_cast<int16_t>(low | Take() << 8);
        buffer_.steps.push_back(
            {place, operation == kStep ? tracer::cupti::kSuccess : tracer::cupti::kInvalidKind});
      } else {
        return operation;
      }
    }
    return kEnd;
  }

 private:
  uint8_t Take() { return at_ == end_ ? uint8_t{0} : *at_++; }

  void TakeRecord(uint8_t number) {
    const uint32_t kind =
        number < std::size(kKinds) ? static_cast<uint32_t>(kKinds[number]) : number;
    const size_t length = Take();
    buffer_.steps.push_back(
        {static_cast<std::ptrdiff_t>(buffer_.bytes.size()), tracer::cupti::kSuccess});
    for (size_t i = 0; i < length; ++i) {
      const bool is_kind = i < sizeof kind;
      buffer_.bytes.push_back(is_kind ? static_cast<uint8_t>(kind >> 8 * i) : Take());
    }
  }

  const uint8_t* at_;
  const uint8_t* end_;
  uint8_t settings_ = 0;
  Buffer buffer_;
};

}  // namespace gpuprof::fuzz
