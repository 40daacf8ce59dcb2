// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Fields of protobuf as bytes, for messages of other tools that exports write. Pure.

#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::analysis::wire {

inline constexpr uint32_t kVarint = 0, kFixed64 = 1, kBytes = 2;  // types of fields

inline void AppendVarint(uint64_t value, std::string* out) {
  while (value > 0x7f) {
    *out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  *out += static_cast<char>(value);
}

inline void AppendNumber(uint32_t field, uint64_t value, std::string* out) {
  AppendVarint(field << 3 | kVarint, out);
  AppendVarint(value, out);
}

inline void AppendSigned(uint32_t field, int64_t value, std::string* out) {
  AppendNumber(field, static_cast<uint64_t>(value), out);
}

inline void AppendFixed64(uint32_t field, uint64_t value, std::string* out) {
  AppendVarint(field << 3 | kFixed64, out);
  for (int shift = 0; shift < 64; shift += 8) *out += static_cast<char>(value >> shift & 0xff);
}

inline void AppendReal(uint32_t field, double value, std::string* out) {
  AppendFixed64(field, std::bit_cast<uint64_t>(value), out);
}

inline void AppendBytes(uint32_t field, std::string_view bytes, std::string* out) {
  AppendVarint(field << 3 | kBytes, out);
  AppendVarint(bytes.size(), out);
  *out += bytes;
}

}  // namespace gpuprof::analysis::wire
