// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads numbers and words of a DWARF section, one after another. For the readers of source lines;
// one thread. Behind the end everything is 0 and empty, and `ok` says so.

#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpuprof::analysis {

class DwarfReader {
 public:
  explicit DwarfReader(std::string_view bytes, uint64_t at = 0) : bytes_(bytes) { Skip(at); }

  bool ok() const { return ok_; }
  uint64_t at() const { return at_; }
  uint64_t left() const { return bytes_.size() - at_; }

  template <typename T>
  T Number() {
    T value{};
    if (!Has(sizeof value)) return value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  // Reads an offset of the section's format: of 4 or 8 bytes.
  uint64_t Offset(bool is_large) { return is_large ? Number<uint64_t>() : Number<uint32_t>(); }
  // Reads the length that a unit begins with, and its format.
  uint64_t Length(bool* is_large) {
    const uint64_t length = Number<uint32_t>();
    *is_large = length == 0xffffffff;
    return *is_large ? Number<uint64_t>() : length;
  }
  uint64_t Unsigned() {
    uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const uint8_t byte = Number<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      if ((byte & 0x80) == 0) return value;
    }
  }
  int64_t Signed() {
    uint64_t value = 0;
    for (unsigned shift = 0;;) {
      const uint8_t byte = Number<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fu} << shift;
      shift += 7;
      if ((byte & 0x80) != 0) continue;
      if (shift < 64 && (byte & 0x40) != 0) value |= ~uint64_t{0} << shift;
      return static_cast<int64_t>(value);
    }
  }
  // Reads a text up to its zero.
  std::string_view Text() {
    const std::string_view rest = bytes_.substr(at_);
    const size_t end = rest.find('\0');
    if (!Has(end == std::string_view::npos ? rest.size() + 1 : end + 1)) return "";
    at_ += end + 1;
    return rest.substr(0, end);
  }
  void Skip(uint64_t count) {
    if (Has(count)) at_ += count;
  }
  // Returns a reader of the next bytes alone, and goes behind them.
  DwarfReader Part(uint64_t count) {
    if (!Has(count)) return DwarfReader("");
    at_ += count;
    return DwarfReader(bytes_.substr(at_ - count, count));
  }

 private:
  bool Has(uint64_t count) {
    if (count <= left()) return true;
    at_ = bytes_.size();
    ok_ = false;
    return false;
  }

  std::string_view bytes_;
  uint64_t at_ = 0;
  bool ok_ = true;
};

// Returns the text at an offset of a section of texts; empty: no text is there.
inline std::string_view TextAt(std::string_view section, uint64_t at) {
  if (at >= section.size()) return "";
  const std::string_view rest = section.substr(at);
  const size_t end = rest.find('\0');
  return end == std::string_view::npos ? "" : rest.substr(0, end);
}

}  // namespace gpuprof::analysis
