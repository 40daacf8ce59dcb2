// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Puts a line together in memory of the caller's: what does not fit is cut.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gpuprof::tracer::cupti {

class Text {
 public:
  template <size_t kRoom>
  explicit Text(char (&to)[kRoom]) : to_(to), room_(kRoom) {
    to_[0] = 0;
  }

  Text& Add(const char* text) {
    const size_t length = strlen(text);
    const size_t left = room_ - 1 - used_;
    is_cut_ |= length > left;
    const size_t taken = length < left ? length : left;
    memcpy(to_ + used_, text, taken);
    used_ += taken;
    to_[used_] = 0;
    return *this;
  }

  // A text of somebody else's: what is not printable ASCII becomes '?'.
  Text& AddForeign(const char* text) {
    for (; *text != 0; ++text) {
      const char one[2] = {*text >= ' ' && *text <= '~' ? *text : '?', 0};
      Add(one);
    }
    return *this;
  }

  Text& Number(uint64_t number) {
    char digits[24];
    char* at = digits + sizeof(digits) - 1;
    *at = 0;
    do {
      *--at = static_cast<char>('0' + number % 10);
      number /= 10;
    } while (number != 0);
    return Add(at);
  }

  bool is_cut() const { return is_cut_; }

 private:
  char* to_;
  size_t room_;
  size_t used_ = 0;
  bool is_cut_ = false;
};

}  // namespace gpuprof::tracer::cupti
