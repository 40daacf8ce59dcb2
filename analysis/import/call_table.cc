// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See call_table.h.

#include "analysis/import/call_table.h"

#include <algorithm>
#include <bit>

namespace gpuprof::analysis::import {
namespace {

// Ids of one group, which differ in these bits alone, lie in one line of the cache.
constexpr int kGroupBits = 6;
constexpr size_t kFirstSlots = 1024;

}  // namespace

// Returns the place of the id, or the free place where it belongs.
size_t CallTable::SlotOf(int64_t correlation) const {
  const auto id = static_cast<uint64_t>(correlation);
  const uint64_t group = (id >> kGroupBits) * 0x9e3779b97f4a7c15 >> shift_;
  size_t slot = group << kGroupBits | (id & ((1 << kGroupBits) - 1));
  while (slots_[slot] != 0 && calls_[slots_[slot] - 1].correlation != correlation)
    slot = (slot + 1) & (slots_.size() - 1);
  return slot;
}

void CallTable::Grow() {
  slots_.assign(std::max(kFirstSlots, 2 * slots_.size()), 0);
  shift_ = 64 - (std::countr_zero(slots_.size()) - kGroupBits);
  for (uint32_t i = 0; i < calls_.size(); ++i) slots_[SlotOf(calls_[i].correlation)] = i + 1;
}

LaunchCall& CallTable::Add(int64_t correlation, bool* is_new) {
  if (2 * (calls_.size() + 1) > slots_.size()) Grow();
  uint32_t& slot = slots_[SlotOf(correlation)];
  *is_new = slot == 0;
  if (*is_new) {
    calls_.emplace_back().correlation = correlation;
    slot = static_cast<uint32_t>(calls_.size());
  }
  return calls_[slot - 1];
}

const LaunchCall* CallTable::Find(int64_t correlation) const {
  if (slots_.empty()) return nullptr;
  const uint32_t slot = slots_[SlotOf(correlation)];
  return slot == 0 ? nullptr : &calls_[slot - 1];
}

LaunchCall* CallTable::Find(int64_t correlation) {
  const LaunchCall* const found = static_cast<const CallTable*>(this)->Find(correlation);
  return found == nullptr ? nullptr : &calls_[static_cast<size_t>(found - calls_.data())];
}

}  // namespace gpuprof::analysis::import
