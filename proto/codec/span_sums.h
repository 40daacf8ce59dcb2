// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Sums the spans of one block of a chained table (proto/FORMAT.md): by key, and the time in which
// at least one of them ran. In the unit of the times that are added. The writer sums spans while it
// encodes them, and a reader sums decoded ones. How the spans are portioned makes no difference.
// One thread. Memory comes from operator new and is bounded, whatever the keys.

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proto/codec/keyed_sums.h"

namespace gpuprof::codec {

class SpanSums {
 public:
  using Key = KeyedSums::Key;
  static constexpr uint32_t kMostKeys = 4096;
  static constexpr uint64_t kUnknownValue = ~uint64_t{0};

  explicit SpanSums(uint32_t most_keys = kMostKeys) : sums_(most_keys) {}

  // Adds some spans, in the order of their ends. `values` may be null: then all are 0.
  void Add(uint32_t count, const uint64_t* keys, const uint64_t* starts, const uint64_t* ends,
           const uint64_t* values) {
    if (count == 0) return;
    bool follow = any_ && starts[0] >= last_end_;
    uint64_t before = starts[0], length = 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t start = starts[i], end = ends[i], duration = end - start;
      follow &= start >= before;
      before = end;
      length += duration;
      Key* const sums = Find(keys[i]);
      if (__builtin_expect(sums == nullptr, 0)) continue;
      ++sums->rows;
      sums->total += duration;
      // With branches, because these two seldom change.
      if (__builtin_expect(duration < sums->least, 0)) sums->least = duration;
      if (__builtin_expect(duration > sums->most, 0)) sums->most = duration;
    }
    if (values != nullptr) AddValues(count, keys, values);
    if (follow) {
      busy_ += length;
      FollowOn(count, starts, ends);
    } else {
      for (uint32_t i = 0; i < count; ++i) Cover(starts[i], ends[i]);
    }
  }

  // Returns false if there were more keys than fit. Then the sums lack spans.
  bool is_whole() const { return is_whole_; }
  // Returns whether a value was kUnknownValue. It counts as 0.
  bool lacks_values() const { return lacks_values_; }
  // Returns the keys in the order in which they came.
  const std::vector<Key>& keys() const { return sums_.keys(); }
  // Returns the time in which a span ran. A span that reaches back over more than kMostGaps pauses
  // does not fill the older ones. Then this is a little less.
  uint64_t busy() const { return busy_; }

  void Clear() {
    sums_.Clear();
    is_whole_ = true;
    lacks_values_ = false;
    busy_ = 0;
    any_ = false;
    gaps_ = 0;
    for (uint32_t& near : near_) near = 0;
  }

  uint64_t memory_bytes() const { return sizeof(*this) + sums_.memory_bytes(); }

 private:
  static constexpr uint32_t kNear = 512;  // places that need no search; a power of two
  static constexpr uint32_t kMostGaps = 8;
  struct Gap {
    uint64_t start, end;
  };

  Key* Find(uint64_t key) {
    uint32_t& near = near_[key % kNear];
    if (__builtin_expect(near != 0 && sums_.keys()[near - 1].key == key, 1))
      return &sums_.keys()[near - 1];
    return Search(key);
  }

  [[gnu::noinline]] Key* Search(uint64_t key) {
    const uint32_t place = sums_.PlaceOf(key);
    if (place == 0) {
      is_whole_ = false;
      return nullptr;
    }
    near_[key % kNear] = place;
    return &sums_.keys()[place - 1];
  }

  void AddValues(uint32_t count, const uint64_t* keys, const uint64_t* values) {
    for (uint32_t i = 0; i < count; ++i) {
      Key* sums = Find(keys[i]);
      if (sums == nullptr) continue;
      lacks_values_ |= values[i] == kUnknownValue;
      sums->value += values[i] == kUnknownValue ? 0 : values[i];
    }
  }

  // Takes the pauses of spans that follow each other and those before. Only the last ones are kept.
  void FollowOn(uint32_t count, const uint64_t* starts, const uint64_t* ends) {
    uint32_t first = count, found = 0;
    while (first != 0 && found < kMostGaps) {
      --first;
      found += starts[first] > (first == 0 ? last_end_ : ends[first - 1]) ? 1 : 0;
    }
    for (; first < count; ++first) {
      NoteGap(first == 0 ? last_end_ : ends[first - 1], starts[first]);
    }
    last_end_ = ends[count - 1];
  }

  void NoteGap(uint64_t start, uint64_t end) {
    if (start == end) return;
    gap_[next_gap_++ % kMostGaps] = {start, end};
    if (gaps_ != kMostGaps) ++gaps_;
  }

  Gap& LastGap() { return gap_[(next_gap_ - 1) % kMostGaps]; }

  void Cover(uint64_t start, uint64_t end) {
    if (!any_ || start >= last_end_) {
      if (any_) NoteGap(last_end_, start);
      busy_ += end - start;
    } else {
      busy_ += end > last_end_ ? end - last_end_ : 0;
      if (start < first_start_) {
        busy_ += first_start_ - start;
        first_start_ = start;
      }
      // The span fills the pauses that it reaches back over.
      while (gaps_ != 0 && LastGap().end > start) {
        Gap& gap = LastGap();
        if (gap.start >= start) {
          busy_ += gap.end - gap.start;
          --next_gap_;
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

  KeyedSums sums_;
  uint32_t near_[kNear] = {};  // place of a key plus 1, by the key's last bits; 0: none
  bool is_whole_ = true;
  bool lacks_values_ = false;
  bool any_ = false;
  uint64_t busy_ = 0;
  uint64_t first_start_ = 0;
  uint64_t last_end_ = 0;
  Gap gap_[kMostGaps] = {};  // a ring
  uint32_t next_gap_ = 0;
  uint32_t gaps_ = 0;
};

}  // namespace gpuprof::codec
