// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/python/line_table.h"

namespace gpuprof::tracer {
namespace {

// Bytes of code, and how many lines further the code behind them is.
int32_t LineInPairs(const uint8_t* table, uint32_t bytes, int32_t line, uint32_t offset) {
  uint32_t at = 0;
  for (uint32_t i = 0; i + 1 < bytes; i += 2) {
    at += table[i];
    if (at > offset) break;
    line += static_cast<int8_t>(table[i + 1]);
  }
  return line;
}

// How many lines further a range is, and its bytes. -128: the range has no line.
int32_t LineInRanges(const uint8_t* table, uint32_t bytes, int32_t line, uint32_t offset) {
  uint32_t end = 0;
  for (uint32_t i = 0; i + 1 < bytes; i += 2) {
    const auto further = static_cast<int8_t>(table[i + 1]);
    if (further != -128) line += further;
    end += table[i];
    if (end > offset) return further == -128 ? 0 : line;
  }
  return 0;
}

class Locations {
 public:
  Locations(const uint8_t* table, uint32_t bytes) : at_(table), end_(table + bytes) {}

  int32_t Find(int32_t line, uint32_t offset) {
    constexpr uint32_t kNoLine = 15, kLong = 14, kNoColumns = 13, kOneLine = 10;
    uint32_t end = 0;
    while (at_ < end_) {
      const uint8_t head = *at_++;
      const uint32_t form = head >> 3 & 15;
      end += (uint32_t{head & 7u} + 1) * 2;
      if (form == kLong) {
        line += Signed();
        for (int i = 0; i < 3; ++i) Unsigned();  // end line, columns
      } else if (form == kNoColumns) {
        line += Signed();
      } else if (form >= kOneLine && form != kNoLine) {
        line += static_cast<int32_t>(form - kOneLine);
        Skip(2);
      } else if (form != kNoLine) {
        Skip(1);
      }
      if (end > offset) return form == kNoLine ? 0 : line;
    }
    return 0;
  }

 private:
  void Skip(uint32_t bytes) {
    const auto left = static_cast<uint32_t>(end_ - at_);
    at_ += bytes < left ? bytes : left;
  }
  uint32_t Unsigned() {
    uint32_t value = 0;
    for (uint32_t shift = 0; at_ < end_; shift += 6) {
      const uint8_t part = *at_++;
      if (shift < 30) value |= uint32_t{part & 63u} << shift;
      if ((part & 64) == 0) break;
    }
    return value;
  }
  int32_t Signed() {
    const uint32_t value = Unsigned();
    const auto size = static_cast<int32_t>(value >> 1);
    return (value & 1) != 0 ? -size : size;
  }

  const uint8_t* at_;
  const uint8_t* end_;
};

}  // namespace

int32_t LineAt(LineFormat format, const uint8_t* table, uint32_t bytes, int32_t first_line,
               uint32_t offset) {
  switch (format) {
    case LineFormat::kPairs:
      return LineInPairs(table, bytes, first_line, offset);
    case LineFormat::kRanges:
      return LineInRanges(table, bytes, first_line, offset);
    default:
      return Locations(table, bytes).Find(first_line, offset);
  }
}

}  // namespace gpuprof::tracer
