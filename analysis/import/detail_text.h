// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the JSON object that a row has as its detail (OpTable::detail), member by member.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace gpuprof::analysis::import {

class DetailText {
 public:
  void Clear() { text_.clear(); }
  void AddText(std::string_view key, std::string_view value);
  void AddSigned(std::string_view key, int64_t value);
  void AddUnsigned(std::string_view key, uint64_t value);
  // Adds a number. Infinite values and NaN are left out.
  void AddReal(std::string_view key, double value);
  // Returns the object; empty: it has no member.
  std::string Take();

 private:
  void AddKey(std::string_view key);

  std::string text_;
};

// Returns the text with U+FFFD in place of what is not UTF-8. `is_repaired`: set if a
// byte was replaced.
std::string Utf8Of(std::string_view text, bool* is_repaired);

}  // namespace gpuprof::analysis::import
