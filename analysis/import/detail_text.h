// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Writes the JSON object that a row has as its detail (OpTable::detail), member by member. The last
// value of a key counts. No row has more than some hundred members: further ones are left out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gpuprof::analysis::import {

class DetailText {
 public:
  void AddText(std::string_view key, std::string_view value);
  void AddSigned(std::string_view key, int64_t value);
  void AddUnsigned(std::string_view key, uint64_t value);
  // Adds a number. Infinite values and NaN are left out.
  void AddReal(std::string_view key, double value);
  // Returns the object; empty: it has no member.
  std::string Take();

 private:
  static constexpr size_t kMostMembers = 256;

  // Returns the place for the value of a key. Null: there are too many.
  std::string* PlaceOf(std::string_view key);

  std::vector<std::pair<std::string, std::string>> members_;  // as JSON
};

}  // namespace gpuprof::analysis::import
