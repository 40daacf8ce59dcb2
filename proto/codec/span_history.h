// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Predicts the gap and the duration of a span from the last ones in the same place. A program does
// the same things over and over, so the keys of the span and of the two spans before it name the
// place. The prediction is the median of the last three values there, because one late span does
// not change a median much. A new place begins with the last values of its key alone.
//
// The writer and the reader use this class; the order of the steps is part of the format
// (FORMAT.md). One thread. Memory comes from operator new and is bounded, whatever the keys.

#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "proto/codec/slot_mix.h"

namespace gpuprof::codec {

class SpanHistory {
 public:
  static constexpr uint32_t kMostPlaces = 1024;
  static constexpr uint32_t kMostKeys = 4096;

  // Finds the span's place. Call this before gap(), duration() and Note().
  void Enter(uint64_t key) {
    const uint64_t place = PlaceOf(key, keys_before_[0], keys_before_[1]);
    keys_before_[1] = std::exchange(keys_before_[0], key);
    found_ = places_.Find(place);
    if (found_ == nullptr) EnterNew(key, place);
  }

  // Return the predictions in ticks; signed values that wrap.
  uint64_t gap() const { return Median(values().gap); }
  uint64_t duration() const { return Median(values().duration); }

  // Remembers the span's true gap and duration.
  void Note(uint64_t gap, uint64_t duration) {
    if (found_ != nullptr) return found_->Push(gap, duration);
    fresh_.Push(gap, duration);
    if (known_ != nullptr) {
      *known_ = fresh_;
    } else if (keys_.used() < kMostKeys) {
      keys_.Insert(key_, fresh_);
    }
    if (places_.used() < kMostPlaces) places_.Insert(place_, fresh_);
  }

  // Enters and notes some spans, one after the other. Stores the gaps minus their predictions in
  // `gap_residuals`, and replaces each duration by its residual.
  void Predict(uint32_t count, const uint64_t* keys, const uint64_t* gaps, uint64_t* durations,
               uint64_t* gap_residuals) {
    uint64_t before = keys_before_[0], before_it = keys_before_[1];
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t place = PlaceOf(keys[i], before, before_it);
      before_it = std::exchange(before, keys[i]);
      Values* found = places_.Find(place);
      const bool is_new = found == nullptr;
      if (__builtin_expect(is_new, 0)) found = EnterNew(keys[i], place);
      const uint64_t duration = durations[i];
      gap_residuals[i] = gaps[i] - Median(found->gap);
      durations[i] = duration - Median(found->duration);
      if (__builtin_expect(is_new, 0)) {
        Note(gaps[i], duration);
      } else {
        found->Push(gaps[i], duration);
      }
    }
    keys_before_[0] = before;
    keys_before_[1] = before_it;
  }

  // Undoes Predict(): replaces the residuals by gaps and durations. Without `are_gaps_predicted`
  // the gaps are true already.
  void Restore(uint32_t count, const uint64_t* keys, bool are_gaps_predicted, uint64_t* gaps,
               uint64_t* durations) {
    uint64_t before = keys_before_[0], before_it = keys_before_[1];
    const uint64_t mask = are_gaps_predicted ? ~uint64_t{0} : 0;
    for (uint32_t i = 0; i < count; ++i) {
      const uint64_t place = PlaceOf(keys[i], before, before_it);
      before_it = std::exchange(before, keys[i]);
      Values* found = places_.Find(place);
      const bool is_new = found == nullptr;
      if (__builtin_expect(is_new, 0)) found = EnterNew(keys[i], place);
      const uint64_t gap = gaps[i] + (Median(found->gap) & mask);
      const uint64_t duration = durations[i] + Median(found->duration);
      gaps[i] = gap;
      durations[i] = duration;
      if (__builtin_expect(is_new, 0)) {
        Note(gap, duration);
      } else {
        found->Push(gap, duration);
      }
    }
    keys_before_[0] = before;
    keys_before_[1] = before_it;
  }

  // Forgets everything; keeps small tables' memory.
  void Clear() {
    places_.Clear();
    keys_.Clear();
    keys_before_[0] = keys_before_[1] = 0;
  }

  uint64_t memory_bytes() const { return places_.memory_bytes() + keys_.memory_bytes(); }

 private:
  // The last three gaps and durations, in any order, because only their median is used. Before the
  // first span all are 0; the first span counts three times.
  struct Values {
    uint64_t gap[3] = {};
    uint64_t duration[3] = {};
    uint32_t oldest = 0;
    bool any = false;

    void Push(uint64_t new_gap, uint64_t new_duration) {
      if (__builtin_expect(!any, 0)) {
        any = true;
        for (uint64_t& value : gap) value = new_gap;
        for (uint64_t& value : duration) value = new_duration;
        return;
      }
      gap[oldest] = new_gap;
      duration[oldest] = new_duration;
      oldest = oldest == 2 ? 0 : oldest + 1;
    }
  };

  // Open addressing, a power of two of slots.
  class Table {
   public:
    Values* Find(uint64_t key) {
      if (slots_.empty()) return nullptr;
      Slot* slot = Seek(key);
      return slot->values.any ? &slot->values : nullptr;
    }
    void Insert(uint64_t key, const Values& values) {
      if (slots_.empty() || used_ * 2 >= slots_.size()) Grow();
      *Seek(key) = {key, values};
      ++used_;
    }
    void Clear() {
      if (slots_.size() > kKeptSlots) {
        std::vector<Slot>().swap(slots_);
      } else if (used_ != 0) {
        slots_.assign(slots_.size(), Slot());
      }
      used_ = 0;
    }
    uint32_t used() const { return used_; }
    uint64_t memory_bytes() const { return slots_.capacity() * sizeof(Slot); }

   private:
    struct Slot {
      uint64_t key = 0;
      Values values;  // none: the slot is empty
    };
    static constexpr uint64_t kFirstSlots = 32;
    static constexpr uint64_t kKeptSlots = 256;

    Slot* Seek(uint64_t key) {
      const uint64_t mask = slots_.size() - 1;
      uint64_t at = mix_(key) & mask;
      while (slots_[at].values.any && slots_[at].key != key) at = (at + 1) & mask;
      return &slots_[at];
    }
    void Grow() {
      std::vector<Slot> old(slots_.empty() ? kFirstSlots : slots_.size() * 2);
      old.swap(slots_);
      for (const Slot& slot : old) {
        if (slot.values.any) *Seek(slot.key) = slot;
      }
    }

    SlotMix mix_{this};
    std::vector<Slot> slots_;
    uint32_t used_ = 0;
  };

  static uint64_t PlaceOf(uint64_t key, uint64_t before, uint64_t before_it) {
    constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;
    return ((before_it * kMix ^ before) * kMix) ^ key;
  }
  Values* EnterNew(uint64_t key, uint64_t place) {
    key_ = key;
    place_ = place;
    found_ = nullptr;
    known_ = keys_.Find(key);
    fresh_ = known_ != nullptr ? *known_ : Values();
    return &fresh_;
  }

  static uint64_t Median(const uint64_t (&value)[3]) {
    // Without a branch: a processor cannot predict which one it is.
    const int64_t a = static_cast<int64_t>(value[0]), b = static_cast<int64_t>(value[1]),
                  c = static_cast<int64_t>(value[2]);
    const int64_t low = a < b ? a : b, high = a < b ? b : a;
    const int64_t most = high < c ? high : c;
    return static_cast<uint64_t>(low > most ? low : most);
  }
  const Values& values() const { return found_ != nullptr ? *found_ : fresh_; }

  Table places_;
  Table keys_;
  uint64_t keys_before_[2] = {0, 0};
  // What Enter found for the current span.
  uint64_t key_ = 0;
  uint64_t place_ = 0;
  Values* found_ = nullptr;
  Values* known_ = nullptr;
  Values fresh_;
};

}  // namespace gpuprof::codec
