// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Where the entries with a key are in a table that somebody else keeps: several may have one key.
// And which of the entries were used least recently, for tables that forget those.
//
// One thread. Memory comes from operator new, at most four slots of 8 bytes for each entry.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "proto/codec/slot_mix.h"

namespace gpuprof::tracer::cupti {

class PlaceIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  PlaceIndex() = default;
  PlaceIndex(const PlaceIndex&) = delete;
  PlaceIndex& operator=(const PlaceIndex&) = delete;

  // Asks `is_it` of places with this key, in the order in which they were added, until it says yes:
  // that place; kNone: it never did. It is asked of places with other keys, too.
  template <typename IsIt>
  uint32_t Find(uint64_t key, IsIt is_it) const {
    if (slots_.empty()) return kNone;
    const uint32_t hash = HashOf(key);
    const size_t mask = slots_.size() - 1;
    for (size_t at = hash & mask; slots_[at].number != 0; at = (at + 1) & mask) {
      if (slots_[at].hash == hash && is_it(slots_[at].number - 1)) return slots_[at].number - 1;
    }
    return kNone;
  }

  void Add(uint64_t key, uint32_t place) {
    if ((used_ + 1) * 2 > slots_.size()) Grow();
    Put({HashOf(key), place + 1});
    ++used_;
  }

  // Forgets all, and gives the memory back.
  void Clear() {
    std::vector<Slot>().swap(slots_);
    used_ = 0;
  }

  uint64_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = 0;  // the place + 1; 0: the slot is empty
  };
  static constexpr size_t kFirstSlots = 16;

  uint32_t HashOf(uint64_t key) const { return static_cast<uint32_t>(mix_(key)); }

  void Put(const Slot& slot) {
    const size_t mask = slots_.size() - 1;
    size_t at = slot.hash & mask;
    while (slots_[at].number != 0) at = (at + 1) & mask;
    slots_[at] = slot;
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
    old.swap(slots_);
    // From an empty slot on, so that those with one key stay in their order.
    size_t begin = 0;
    while (begin < old.size() && old[begin].number != 0) ++begin;
    for (size_t i = 0; i < old.size(); ++i) {
      const Slot& slot = old[(begin + i) & (old.size() - 1)];
      if (slot.number != 0) Put(slot);
    }
  }

  codec::SlotMix mix_{this};
  std::vector<Slot> slots_;  // open addressing, a power of two
  size_t used_ = 0;
};

// The time (`used`) at which or before which half of the entries were used last. Of some entries.
template <typename Entry>
uint32_t MedianUse(const std::vector<Entry>& entries) {
  std::vector<uint32_t> uses;
  uses.reserve(entries.size());
  for (const Entry& entry : entries) uses.push_back(entry.used);
  const auto middle = uses.begin() + static_cast<ptrdiff_t>(uses.size() / 2);
  std::nth_element(uses.begin(), middle, uses.end());
  return *middle;
}

}  // namespace gpuprof::tracer::cupti
