// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums of spans by key. The writer keeps them for some blocks of a table (proto/FORMAT.md, "Sums of
// work"), and a reader has them for one block that it decoded. One thread. Memory comes from
// operator new and is bounded, whatever the keys.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proto/codec/slot_mix.h"

namespace gpuprof::codec {

class KeyedSums {
 public:
  struct Key {
    uint64_t key = 0;
    uint64_t rows = 0;
    uint64_t total = 0;  // of the durations
    uint64_t least = ~uint64_t{0};
    uint64_t most = 0;
    uint64_t value = 0;  // sum of the values that were given

    void Join(const Key& from) {
      rows += from.rows;
      total += from.total;
      least = std::min(least, from.least);
      most = std::max(most, from.most);
      value += from.value;
    }
  };

  explicit KeyedSums(uint32_t most_keys) : mix_(this), most_keys_(most_keys) {}
  KeyedSums(const KeyedSums&) = delete;
  KeyedSums& operator=(const KeyedSums&) = delete;

  // Returns the key's place in keys() plus 1, made if it is new; 0: there is no room.
  uint32_t PlaceOf(uint64_t key) {
    if (2 * (keys_.size() + 1) > slots_.size()) Grow();
    const uint64_t mask = slots_.size() - 1;
    uint64_t slot = mix_(key) & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
      if (keys_[slots_[slot] - 1].key == key) return slots_[slot];
    }
    if (keys_.size() == most_keys_) return 0;
    keys_.emplace_back().key = key;
    return slots_[slot] = static_cast<uint32_t>(keys_.size());
  }

  // Returns the keys in the order in which they came.
  std::vector<Key>& keys() { return keys_; }
  const std::vector<Key>& keys() const { return keys_; }

  void Clear() {
    keys_.clear();
    std::fill(slots_.begin(), slots_.end(), 0);
  }

  uint64_t memory_bytes() const {
    return keys_.capacity() * sizeof(Key) + slots_.capacity() * sizeof(uint32_t);
  }

 private:
  void Grow() {
    const size_t size = slots_.empty() ? 32 : 2 * slots_.size();
    slots_.assign(size, 0);
    for (size_t i = 0; i < keys_.size(); ++i) {
      uint64_t slot = mix_(keys_[i].key) & (size - 1);
      while (slots_[slot] != 0) slot = (slot + 1) & (size - 1);
      slots_[slot] = static_cast<uint32_t>(i + 1);
    }
  }

  SlotMix mix_;
  uint32_t most_keys_;
  std::vector<Key> keys_;
  std::vector<uint32_t> slots_;  // place of a key plus 1; 0: free
};

}  // namespace gpuprof::codec
