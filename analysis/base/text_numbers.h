// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Numbers for texts, from 0 in the order in which they come. Made for hundreds of thousands of
// texts: no piece of memory is taken or given back for a single text. One thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string_view>
#include <vector>

namespace gpuprof::analysis {

class TextNumbers {
 public:
  TextNumbers() = default;
  TextNumbers(TextNumbers&&) = default;
  TextNumbers& operator=(TextNumbers&&) = default;
  // Makes a copy that has its own texts.
  TextNumbers(const TextNumbers& other) {
    bool is_new = false;
    for (const std::string_view text : other.texts_) NumberOf(text, &is_new);
  }
  TextNumbers& operator=(const TextNumbers& other) {
    if (this != &other) *this = TextNumbers(other);
    return *this;
  }

  // Returns the number of a text. `is_new`: the text was not known before. The text is copied.
  uint32_t NumberOf(std::string_view text, bool* is_new) {
    const uint64_t wide = std::hash<std::string_view>()(text);
    const auto hash = static_cast<uint32_t>(wide ^ wide >> 32);
    if (2 * texts_.size() >= slots_.size()) Grow();
    size_t at = hash & (slots_.size() - 1);
    while (slots_[at].number != 0) {
      *is_new = false;
      const uint32_t number = slots_[at].number - 1;
      if (slots_[at].hash == hash && texts_[number] == text) return number;
      at = (at + 1) & (slots_.size() - 1);
    }
    *is_new = true;
    slots_[at] = {hash, static_cast<uint32_t>(texts_.size()) + 1};
    texts_.push_back(Copy(text));
    return slots_[at].number - 1;
  }
  size_t size() const { return texts_.size(); }

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t number = 0;  // plus 1; 0: free
  };
  static constexpr size_t kBlockBytes = 64 << 10;

  void Grow() {
    constexpr size_t kFirst = 64;
    std::vector<Slot> slots(std::max(kFirst, 4 * slots_.size()));
    for (const Slot& slot : slots_) {
      if (slot.number == 0) continue;
      size_t at = slot.hash & (slots.size() - 1);
      while (slots[at].number != 0) at = (at + 1) & (slots.size() - 1);
      slots[at] = slot;
    }
    slots_.swap(slots);
  }

  std::string_view Copy(std::string_view text) {
    // A moved object has no block, whatever room it had.
    if (blocks_.empty() || text.size() > left_) {
      // A long text has a block of its own, so that the room in the last one stays.
      const bool is_long = text.size() > kBlockBytes / 4;
      blocks_.emplace_back(new char[is_long ? text.size() : kBlockBytes]);
      if (is_long) {
        std::memcpy(blocks_.back().get(), text.data(), text.size());
        return {blocks_.back().get(), text.size()};
      }
      next_ = blocks_.back().get();
      left_ = kBlockBytes;
    }
    char* const to = next_;
    if (!text.empty()) std::memcpy(to, text.data(), text.size());
    next_ += text.size();
    left_ -= text.size();
    return {to, text.size()};
  }

  std::vector<Slot> slots_;  // at least twice as many as texts, a power of two
  std::vector<std::string_view> texts_;
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace gpuprof::analysis
