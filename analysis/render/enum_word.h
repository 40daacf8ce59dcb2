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

}  // namespace gpuprof::analysis
