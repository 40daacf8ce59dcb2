// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See sequence_number.h.

#include "tracer/torch/sequence_number.h"

#include <atomic>
#include <cstring>

namespace gpuprof::tracer {
namespace {

using proto::OpScope;

constexpr int64_t kNone = -1;
// The number is in the first third of them in all versions that were looked at.
constexpr uint32_t kWords = 64;
// Words that by chance have the value of the first numbers must not count.
constexpr uint64_t kLeastNumber = 4;
constexpr uint8_t kEnough = 6;  // different numbers that were seen in a word
// Ops that are on the stack alone are looked at: what lies behind them can be read.
constexpr uintptr_t kMostBelow = 64 * 1024;

using PeekFunction = uint64_t (*)();
constinit PeekFunction peek_number = nullptr;
constexpr uint32_t kUnknown = 0;  // no op has its number there: the object begins with its vtable
constinit std::atomic<uint32_t> place = kUnknown;  // of the number, in words

// What was seen so far. Who holds `is_taken` uses it.
struct Learning {
  uint64_t last_number;
  uint64_t excluded;  // bits: words that had other values
  uint8_t seen[kWords];
};
constinit std::atomic<bool> is_taken = false;
constinit Learning learning = {};

int64_t WordAt(const void* op, uint32_t word) {
  int64_t value;
  std::memcpy(&value, static_cast<const char*>(op) + word * sizeof value, sizeof value);
  return value;
}

// Returns the only word that has shown enough numbers. kUnknown: there is none yet.
uint32_t Learned() {
  uint32_t found = kUnknown;
  for (uint32_t word = 1; word < kWords; ++word) {
    if ((learning.excluded >> word & 1) != 0 || learning.seen[word] == 0) continue;
    if (found != kUnknown || learning.seen[word] < kEnough) return kUnknown;
    found = word;
  }
  return found;
}

void Look(const void* op, uint64_t number) {
  for (uint32_t word = 1; word < kWords; ++word) {
    const int64_t value = WordAt(op, word);
    if (value == static_cast<int64_t>(number)) {
      if (learning.seen[word] < kEnough) ++learning.seen[word];
      learning.last_number = number;
    } else if (value != kNone) {
      learning.excluded |= uint64_t{1} << word;
    }
  }
}

// Learns from an op. Each number counts once.
[[gnu::noinline]] void Learn(const void* op) {
  const uint64_t number = peek_number();
  if (number < kLeastNumber || number == learning.last_number) return;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (reinterpret_cast<uintptr_t>(op) - here > kMostBelow) return;
  if (is_taken.exchange(true, std::memory_order_acquire)) return;
  Look(op, number);
  if (const uint32_t found = Learned(); found != kUnknown)
    place.store(found, std::memory_order_release);
  is_taken.store(false, std::memory_order_release);
}

}  // namespace

void SequenceNumbersInit(uint64_t (*peek)()) { peek_number = peek; }

void SequenceNumbersAfterFork() {
  if (is_taken.load(std::memory_order_relaxed)) learning = {};
  is_taken.store(false, std::memory_order_relaxed);
}

uint64_t SequenceNumberOf(const void* op, OpScope scope) {
  if (scope != OpScope::kFunction && scope != OpScope::kBackward) return 0;
  const uint32_t word = place.load(std::memory_order_acquire);
  if (__builtin_expect(word == kUnknown, 0)) {
    if (scope == OpScope::kFunction && peek_number != nullptr) Learn(op);
    return 0;
  }
  const int64_t number = WordAt(op, word);
  return number == kNone ? 0 : static_cast<uint64_t>(number) + 1;
}

}  // namespace gpuprof::tracer
