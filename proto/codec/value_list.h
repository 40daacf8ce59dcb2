// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Cuts texts like "id=7,shapes=[8,784] [8],name=a=b" into keys and values. TensorFlow and
// JAX put them behind the names of their marks. Drain thread and recovery; no allocation.

#pragma once

#include <charconv>
#include <cstdint>
#include <string_view>

namespace gpuprof::codec {

// Returns whether `text` can be a key: letters, digits and '_'.
constexpr bool IsKey(std::string_view text) {
  for (const char letter : text) {
    const bool is_letter = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
    if (!is_letter && !(letter >= '0' && letter <= '9') && letter != '_') return false;
  }
  return !text.empty();
}

// Takes the first key and value off `list`. A value may contain commas and '=': it ends before a
// comma that a key and '=' follow. False: no key is left.
inline bool TakeValue(std::string_view* list, std::string_view* key, std::string_view* value) {
  const size_t equals = list->find('=');
  if (equals == std::string_view::npos) return false;
  *key = list->substr(0, equals);
  size_t end = list->size();
  for (size_t next = list->find('=', equals + 1); next != std::string_view::npos;
       next = list->find('=', next + 1)) {
    const size_t comma = list->rfind(',', next);
    if (comma == std::string_view::npos || comma < equals) continue;
    if (!IsKey(list->substr(comma + 1, next - comma - 1))) continue;
    end = comma;
    break;
  }
  *value = list->substr(equals + 1, end - equals - 1);
  list->remove_prefix(end == list->size() ? end : end + 1);
  return IsKey(*key);
}

// Reads a whole number. False: the text is something else. A number of 64 bits
// without a sign gives its bits: ids have them.
inline bool IsWholeNumber(std::string_view text, int64_t* number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, *number);
  if (error == std::errc()) return stop == end;
  if (error != std::errc::result_out_of_range) return false;
  uint64_t bits = 0;
  const auto [last, overflow] = std::from_chars(text.data(), end, bits);
  *number = static_cast<int64_t>(bits);
  return overflow == std::errc() && last == end;
}

}  // namespace gpuprof::codec
