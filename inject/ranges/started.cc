// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/ranges/started.h"

namespace gpuprof::inject::ranges {

StartedRanges::Slot* StartedRanges::Claim(uint64_t id, uint32_t capture) noexcept {
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    uint64_t free = 0;
    Slot& slot = SlotOf(id, probe);
    if (slot.id.compare_exchange_strong(free, kClaimed, std::memory_order_acq_rel)) return &slot;
  }
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    Slot& slot = SlotOf(id, probe);
    uint64_t other = slot.id.load(std::memory_order_acquire);
    // One of this capture is not touched, not even for a moment: its end may come meanwhile.
    if (other == 0 || other == kClaimed || slot.capture.load(std::memory_order_relaxed) == capture)
      continue;
    if (slot.id.compare_exchange_strong(other, kClaimed, std::memory_order_acq_rel)) return &slot;
  }
  return nullptr;
}

bool StartedRanges::Add(uint64_t id, const StartedRange& range) noexcept {
  Slot* slot = Claim(id, range.capture);
  if (slot == nullptr) return false;
  slot->range = range;
  slot->capture.store(range.capture, std::memory_order_relaxed);
  slot->id.store(id, std::memory_order_release);
  if (is_used_.load(std::memory_order_relaxed) == 0) is_used_.store(1, std::memory_order_relaxed);
  return true;
}

bool StartedRanges::Take(uint64_t id, uint32_t capture, StartedRange* range) noexcept {
  if (id == 0 || id == kClaimed) return false;
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    Slot& slot = SlotOf(id, probe);
    uint64_t expected = id;
    if (!slot.id.compare_exchange_strong(expected, kClaimed, std::memory_order_acq_rel)) continue;
    *range = slot.range;
    slot.id.store(0, std::memory_order_release);
    if (range->capture == capture) return true;
  }
  return false;
}

[[gnu::cold]] bool StartedRanges::TakeNext(uint32_t* place, uint32_t capture,
                                           StartedRange* range) noexcept {
  if (is_used_.load(std::memory_order_relaxed) == 0) return false;
  while (*place < kSlots) {
    Slot& slot = slots_[(*place)++];
    const uint64_t id = slot.id.load(std::memory_order_acquire);
    if (id == 0 || id == kClaimed || slot.capture.load(std::memory_order_relaxed) != capture)
      continue;
    if (range == nullptr || Take(id, capture, range)) return true;
  }
  return false;
}

bool StartedRanges::Has(uint64_t id, uint32_t capture) noexcept {
  for (uint32_t probe = 0; probe < kMostProbes; ++probe) {
    const Slot& slot = SlotOf(id, probe);
    if (slot.id.load(std::memory_order_acquire) == id &&
        slot.capture.load(std::memory_order_relaxed) == capture)
      return true;
  }
  return false;
}

}  // namespace gpuprof::inject::ranges
