// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds where the elements of a JSON array begin and end, without looking into them. It knows
// brackets, strings and escapes. It works on 64 bytes at once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::analysis::import {

// An object or array within the array. Positions count from the front of the window.
struct Element {
  size_t begin = 0;
  size_t end = 0;
  bool is_too_deep = false;  // nested deeper than kMostDepth
};

// No trace nests its arguments deeper. Readers behind us may call themselves for each bracket.
inline constexpr uint32_t kMostDepth = 256;

class ElementScanner {
 public:
  // Starts between two elements.
  void Restart(size_t at);
  // Scans up to `bytes` and adds the elements that end there. Without `is_end` up to 63 bytes are
  // left for the next time. Up to 64 bytes behind `bytes` are read and not used. False: a bracket
  // closes at position() that nothing has opened; it ends the array.
  bool Scan(const char* text, size_t bytes, bool is_end, std::vector<Element>* found);

  size_t position() const { return at_; }
  // Returns whether an element has begun and not ended.
  bool is_open() const { return depth_ != 0; }
  // Returns where that element has begun.
  size_t open_begin() const { return open_.begin; }
  // Tells that the window has forgotten bytes at its front.
  void Dropped(size_t bytes);

 private:
  // One bit a byte.
  struct Masks {
    uint64_t quotes, backslashes, opening, closing;
  };
  static Masks MasksOf(const char* text);
  uint64_t Escaped(uint64_t backslashes, size_t bytes);

  size_t at_ = 0;
  Element open_;
  uint32_t depth_ = 0;
  bool is_escaped_ = false;  // the next byte
  bool is_string_ = false;   // the next byte lies in a string
};

}  // namespace gpuprof::analysis::import
