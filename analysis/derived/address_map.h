// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A map from addresses to small values: open addressing, linear probing, no room per entry on the
// heap. For the live blocks of millions of events. One thread. A change makes pointers invalid.

#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace gpuprof::analysis {

template <typename T>
class AddressMap {
 public:
  AddressMap() : slots_(64) {}

  size_t size() const { return size_; }
  // Finds the value of an address. Null: it is not in the map.
  T* Find(uint64_t address) {
    Slot& slot = slots_[PlaceOf(address)];
    return slot.is_used ? &slot.value : nullptr;
  }
  // Returns the value of an address, which may be new.
  T& operator[](uint64_t address) {
    if (size_ * 2 >= slots_.size()) Grow();
    Slot& slot = slots_[PlaceOf(address)];
    if (!slot.is_used) {
      slot.is_used = true;
      slot.address = address;
      ++size_;
    }
    return slot.value;
  }
  // Forgets an address, if it has a value.
  void Erase(uint64_t address) {
    const size_t mask = slots_.size() - 1;
    size_t hole = PlaceOf(address);
    if (!slots_[hole].is_used) return;
    // Closes the gap: entries that were pushed past it move up.
    for (size_t i = (hole + 1) & mask; slots_[i].is_used; i = (i + 1) & mask) {
      const size_t home = Home(slots_[i].address);
      if (((i - home) & mask) < ((i - hole) & mask)) continue;
      slots_[hole] = std::move(slots_[i]);
      hole = i;
    }
    slots_[hole] = Slot();
    --size_;
  }
  void Clear() {
    slots_.assign(64, Slot());
    size_ = 0;
  }
  // Calls visit(address, value) for each, in no order that means something.
  template <typename Visit>
  void Each(const Visit& visit) const {
    for (const Slot& slot : slots_)
      if (slot.is_used) visit(slot.address, slot.value);
  }

 private:
  struct Slot {
    uint64_t address = 0;
    T value{};
    bool is_used = false;
  };

  // Returns where an address belongs. Addresses of blocks differ above their lowest bits.
  size_t Home(uint64_t address) const {
    const uint64_t mixed = (address ^ address >> 32) * 0x9e3779b97f4a7c15ull;
    return static_cast<size_t>(mixed >> 20) & (slots_.size() - 1);
  }
  // Returns the place of an address, or the free place at which it would be.
  size_t PlaceOf(uint64_t address) const {
    size_t i = Home(address);
    while (slots_[i].is_used && slots_[i].address != address) i = (i + 1) & (slots_.size() - 1);
    return i;
  }
  void Grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (Slot& slot : old)
      if (slot.is_used) slots_[PlaceOf(slot.address)] = std::move(slot);
  }

  std::vector<Slot> slots_;  // their number is a power of 2
  size_t size_ = 0;
};

}  // namespace gpuprof::analysis
