// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums the spans of one block of a chained table (proto/FORMAT.md): by key, and the time in which
// at least one of them ran. In the unit of the times that are added. One thread. Memory comes from
// operator new and is bounded, whatever the keys.

#pragma once

#include <cstdint>
#include <vector>

#include "proto/codec/slot_mix.h"

namespace gpuprof::codec {

class SpanSums {
 public:
  static constexpr uint32_t kMostKeys = 4096;

  struct Key {
    uint64_t key = 0;
    uint64_t rows = 0;
    uint64_t total = 0;  // of the durations
    uint64_t least = 0;
    uint64_t most = 0;
    uint64_t value = 0;  // sum of the values that were given
  };

  SpanSums() : mix_(this) {}
  SpanSums(const SpanSums&) = delete;
  SpanSums& operator=(const SpanSums&) = delete;

  // Adds a span. Spans come in the order of their ends.
  void Add(uint64_t key, uint64_t start, uint64_t end, uint64_t value) {
    Key* sums = Find(key);
    if (__builtin_expect(sums == nullptr, 0)) return;
    const uint64_t duration = end - start;
    ++sums->rows;
    sums->total += duration;
    if (duration < sums->least) sums->least = duration;
    if (duration > sums->most) sums->most = duration;
    sums->value += value;
    Cover(start, end);
  }

  // Returns false if there were more keys than fit. Then the sums lack spans.
  bool is_whole() const { return is_whole_; }
  // Returns the keys in the order in which they came.
  const std::vector<Key>& keys() const { return keys_; }
  // Returns the time in which a span ran. A span that reaches back over more than kMostGaps pauses
  // does not fill the older ones. Then this is a little less.
  uint64_t busy() const { return busy_; }

  void Clear() {
    keys_.clear();
    slots_.clear();
    is_whole_ = true;
    busy_ = 0;
    any_ = false;
    gaps_ = 0;
    for (uint32_t& near : near_) near = 0;
  }

  uint64_t memory_bytes() const {
    return keys_.capacity() * sizeof(Key) + slots_.capacity() * sizeof(uint32_t);
  }

 private:
  static constexpr uint32_t kNear = 512;  // places that need no search; a power of two
  static constexpr uint32_t kMostGaps = 8;
  struct Gap {
    uint64_t start, end;
  };

  Key* Find(uint64_t key) {
    uint32_t& near = near_[key % kNear];
    if (__builtin_expect(near != 0 && keys_[near - 1].key == key, 1)) return &keys_[near - 1];
    const uint32_t place = Search(key);
    if (place == 0) return nullptr;
    near = place;
    return &keys_[place - 1];
  }

  // Returns the key's place plus 1, made if it is new; 0: there is no room.
  [[gnu::noinline]] uint32_t Search(uint64_t key) {
    if (2 * (keys_.size() + 1) > slots_.size()) Grow();
    const uint64_t mask = slots_.size() - 1;
    uint64_t slot = mix_(key) & mask;
    for (; slots_[slot] != 0; slot = (slot + 1) & mask) {
      if (keys_[slots_[slot] - 1].key == key) return slots_[slot];
    }
    if (keys_.size() == kMostKeys) {
      is_whole_ = false;
      return 0;
    }
    Key& made = keys_.emplace_back();
    made.key = key;
    made.least = ~uint64_t{0};
    return slots_[slot] = static_cast<uint32_t>(keys_.size());
  }

  void Grow() {
    const size_t size = slots_.empty() ? 32 : 2 * slots_.size();
    slots_.assign(size, 0);
    for (size_t i = 0; i < keys_.size(); ++i) {
      uint64_t slot = mix_(keys_[i].key) & (size - 1);
      while (slots_[slot] != 0) slot = (slot + 1) & (size - 1);
      slots_[slot] = static_cast<uint32_t>(i + 1);
    }
  }

  void Cover(uint64_t start, uint64_t end) {
    if (!any_ || start >= last_end_) {
      if (any_ && start > last_end_) {
        if (gaps_ == kMostGaps) {
          for (uint32_t i = 1; i < kMostGaps; ++i) gap_[i - 1] = gap_[i];
          --gaps_;
        }
        gap_[gaps_++] = {last_end_, start};
      }
      busy_ += end - start;
    } else {
      busy_ += end > last_end_ ? end - last_end_ : 0;
      if (start < first_start_) {
        busy_ += first_start_ - start;
        first_start_ = start;
      }
      // The span fills the pauses that it reaches back over.
      while (gaps_ != 0 && gap_[gaps_ - 1].end > start) {
        Gap& gap = gap_[gaps_ - 1];
        if (gap.start >= start) {
          busy_ += gap.end - gap.start;
          --gaps_;
        } else {
          busy_ += gap.end - start;
          gap.end = start;
        }
      }
    }
    if (!any_) first_start_ = start;
    if (!any_ || end > last_end_) last_end_ = end;
    any_ = true;
  }

  SlotMix mix_;
  std::vector<Key> keys_;
  std::vector<uint32_t> slots_;  // place of a key plus 1; 0: free
  uint32_t near_[kNear] = {};    // likewise, by the key's last bits
  bool is_whole_ = true;
  bool any_ = false;
  uint64_t busy_ = 0;
  uint64_t first_start_ = 0;
  uint64_t last_end_ = 0;
  Gap gap_[kMostGaps] = {};
  uint32_t gaps_ = 0;
};

}  // namespace gpuprof::codec
