// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The activity buffers' way round: CUPTI asks for one on a thread of the program's, under locks of
// its own, and gives it back full on a thread of its own; the drain thread reads it and puts it
// back. A slot is always in exactly one hand; nobody waits for anybody, and nothing is ever freed
// while CUPTI may write to it.
//
// Request and Complete run inside CUPTI: no heap, no lock, no CUDA. Take and Return: the drain
// thread, or whoever holds its pass.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace gpuprof::tracer::cupti {

// What CUPTI gave back.
struct FilledBuffer {
  uint8_t* bytes = nullptr;
  size_t valid = 0;
  uint32_t slot = 0;
};

class BufferPool {
 public:
  // CUPTI's advice is 1 to 10 MB; small ones come back sooner, as one unfinished record holds back
  // all of its buffer, and newer libraries keep one for each thread.
  static constexpr size_t kBufferBytes = 1u << 20;
  static constexpr uint32_t kMost = 64;

  // At most `limit_bytes` of memory. Before CUPTI knows of the pool.
  void SetLimit(uint64_t limit_bytes);

  // A buffer for CUPTI; null: the limit is reached, or there is no memory.
  uint8_t* Request();
  void Complete(uint8_t* buffer, size_t valid);

  // The oldest that was completed; false: none.
  bool Take(FilledBuffer* filled);
  void Return(const FilledBuffer& filled);

  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // Requested and not yet given back.
  uint32_t outstanding() const { return outstanding_.load(std::memory_order_relaxed); }
  uint64_t memory_bytes() const;

 private:
  enum State : uint32_t { kEmpty, kFree, kTaken, kWithCupti, kFilled };
  struct Slot {
    std::atomic<uint32_t> state{kEmpty};
    uint8_t* bytes = nullptr;
    size_t valid = 0;
    uint64_t order = 0;  // of completion
  };

  bool Claim(State from, uint32_t* slot);

  Slot slots_[kMost];
  uint32_t most_ = kMost;
  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint32_t> outstanding_{0};
};

}  // namespace gpuprof::tracer::cupti
