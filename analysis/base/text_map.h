// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A map from texts to numbers that is asked by views: no string is made for a text that is known.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace gpuprof::analysis {

struct TextHash {
  using is_transparent = void;  // NOLINT(readability-identifier-naming): the standard's name
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

using TextMap = std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>>;

// Returns the number of a text. A new text gets the number `next`.
inline uint32_t NumberOf(std::string_view text, uint32_t next, TextMap* map, bool* is_new) {
  const auto known = map->find(text);
  *is_new = known == map->end();
  return *is_new ? map->emplace(std::string(text), next).first->second : known->second;
}

}  // namespace gpuprof::analysis
