// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The last value of each key in one chunk. A keyed column stores differences from it: the bytes of
// a copy, for example, from those of the last copy of the same kind. The writer and the reader use
// this class.
//
// One thread. Memory comes from operator new, at most two slots for each different key; keys are
// any 64-bit values, hostile ones included.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/slot_mix.h"

namespace gpuprof::codec {

class KeyedLast {
 public:
  // Returns the key's last value (0 before the first), to be read and replaced. The pointer is
  // valid until the next call.
  uint64_t* Find(uint64_t key) {
    if (key == last_key_ && last_ != nullptr) return last_;
    if (slots_.empty() || used_ * 2 >= slots_.size()) Grow();
    Slot* slot = Seek(key);
    if (!slot->used) {
      slot->used = true;
      slot->key = key;
      ++used_;
    }
    last_key_ = key;
    return last_ = &slot->value;
  }

  // Forgets everything; keeps a small table's memory.
  void Clear() {
    if (slots_.size() > kKeptSlots) {
      std::vector<Slot>().swap(slots_);
    } else {
      slots_.assign(slots_.size(), Slot());
    }
    used_ = 0;
    last_ = nullptr;
  }

  uint64_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

 private:
  struct Slot {
    uint64_t key = 0;
    uint64_t value = 0;
    bool used = false;
  };
  static constexpr uint64_t kFirstSlots = 64;
  static constexpr uint64_t kKeptSlots = 1024;

  Slot* Seek(uint64_t key) {
    const uint64_t mask = slots_.size() - 1;
    uint64_t at = mix_(key) & mask;
    while (slots_[at].used && slots_[at].key != key) at = (at + 1) & mask;
    return &slots_[at];
  }

  void Grow() {
    std::vector<Slot> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.used) *Seek(slot.key) = slot;
    }
    last_ = nullptr;
  }

  SlotMix mix_{this};
  std::vector<Slot> slots_;  // open addressing, a power of two
  uint64_t used_ = 0;
  uint64_t last_key_ = 0;
  uint64_t* last_ = nullptr;
};

}  // namespace gpuprof::codec
