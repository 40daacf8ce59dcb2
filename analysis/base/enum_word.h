// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Codes of results as words: the same in text, JSON and CSV. Any thread.

#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/generated_enum_reflection.h>

#include <string>

namespace gpuprof::analysis {

// Returns the word of a code: its name in lower case, without the words that all values begin with.
std::string EnumWord(const google::protobuf::EnumValueDescriptor* value);

// Returns the word of a value of an enum. "": the value has no name.
template <typename Enum>
std::string WordOf(Enum value) {
  const auto* found =
      google::protobuf::GetEnumDescriptor<Enum>()->FindValueByNumber(static_cast<int>(value));
  return found == nullptr ? "" : EnumWord(found);
}

// Returns the value of an enum that has this word. The first value: none has it.
template <typename Enum>
Enum ValueOfWord(const std::string& word) {
  const google::protobuf::EnumDescriptor* type = google::protobuf::GetEnumDescriptor<Enum>();
  for (int i = 0; i < type->value_count(); ++i) {
    if (EnumWord(type->value(i)) == word) return static_cast<Enum>(type->value(i)->number());
  }
  return static_cast<Enum>(type->value(0)->number());
}

}  // namespace gpuprof::analysis
