// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See enum_word.h.

#include "analysis/base/enum_word.h"

#include <algorithm>

namespace gpuprof::analysis {
namespace {

// Length of the words that all values of an enum begin with: "LEVEL_".
size_t CommonPrefix(const google::protobuf::EnumDescriptor* type) {
  const std::string& first = type->value(0)->name();
  size_t length = first.size();
  for (int i = 1; i < type->value_count(); ++i) {
    const std::string& other = type->value(i)->name();
    length = std::min(length, other.size());
    while (first.compare(0, length, other, 0, length) != 0) --length;
  }
  const size_t end = first.rfind('_', length == 0 ? 0 : length - 1);
  return type->value_count() < 2 || end == std::string::npos ? 0 : end + 1;
}

}  // namespace

std::string EnumWord(const google::protobuf::EnumValueDescriptor* value) {
  std::string word = value->name().substr(CommonPrefix(value->type()));
  for (char& c : word) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return word;
}

}  // namespace gpuprof::analysis
