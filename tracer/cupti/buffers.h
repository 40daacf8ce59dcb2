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
  // all of its buffer.
  static constexpr size_t kBufferBytes = 1u << 20;
  // Where each thread of the program holds one: these, and when they are all out, such as do for
  // many threads with little to tell.
  static constexpr size_t kSmallBufferBytes = 256u << 10;
  static constexpr size_t kCrowdBufferBytes = 16u << 10;
  static constexpr size_t kSpareBytes = 64u << 10;

  // At most `limit_bytes` of memory; `of_threads`: each thread holds one. Before CUPTI knows of the
  // pool; a second time with the same.
  void SetLimit(uint64_t limit_bytes, bool of_threads = false);
  // For libraries that do not survive a refusal: beyond the limit Request gives a spare buffer,
  // whose records nobody reads.
  void AllowSpares();

  // A buffer for CUPTI and its size; null: the limit is reached, or there is no memory.
  uint8_t* Request(size_t* size);
  void Complete(uint8_t* buffer, size_t valid);
  bool IsSpare(const uint8_t* buffer) const;
  // Whether CUPTI has it of this pool.
  bool IsOut(const uint8_t* buffer) { return SlotWithCupti(buffer) != nullptr; }
  // Instead of Complete for a spare one, with the number of records in it.
  void CompleteSpare(uint8_t* buffer, uint64_t records);

  // Completed so far.
  uint64_t completed() const { return completed_.load(std::memory_order_relaxed); }
  // The oldest that was completed, of the first `before`; false: none. Whoever wants all takes
  // those that there were when it began: a program may fill them faster than they are read.
  bool Take(FilledBuffer* filled, uint64_t before = UINT64_MAX);
  void Return(const FilledBuffer& filled);
  // Whether one was completed and not yet returned.
  bool HasFilled() const;

  // A forked child's copy: what was filled is the parent's, and so is what was counted. The memory
  // stays, as CUPTI's own copy may still point to it.
  void Forget();

  // Whether one was asked for and none was left, since TakeCrowded: buffers that are out only
  // because they are not full yet want to be fetched. Not before: whoever gives one back asks for
  // another at once, while the one that came is not read yet.
  bool is_crowded() const { return crowded_.load(std::memory_order_relaxed) != 0; }
  bool TakeCrowded() { return is_crowded() && crowded_.exchange(0) != 0; }

  uint64_t refused() const { return refused_.load(std::memory_order_relaxed); }
  // Records in spare buffers.
  uint64_t let_go() const { return let_go_.load(std::memory_order_relaxed); }
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

  bool Claim(State from, uint32_t first, uint32_t end, uint32_t* slot);
  uint8_t* RequestFrom(uint32_t first, uint32_t end, size_t size);
  Slot* SlotWithCupti(const uint8_t* buffer);

  static constexpr uint32_t kMostRegular = 128;
  static constexpr uint32_t kMostCrowd = 512;
  static constexpr uint32_t kMostSpare = 128;
  static constexpr uint32_t kMost = kMostRegular + kMostCrowd;

  size_t SizeOf(uint32_t slot) const;

  Slot slots_[kMost];  // from most_ to end_: those of a crowd, or spare ones
  uint32_t most_ = kMostRegular;
  uint32_t end_ = kMostRegular;
  size_t buffer_bytes_ = kBufferBytes;
  bool with_spares_ = false;
  std::atomic<uint64_t> completed_{0};
  std::atomic<uint64_t> refused_{0};
  std::atomic<uint64_t> let_go_{0};
  std::atomic<uint32_t> outstanding_{0};
  std::atomic<uint32_t> crowded_{0};
};

}  // namespace gpuprof::tracer::cupti
