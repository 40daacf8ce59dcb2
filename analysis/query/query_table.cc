// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/query/query_table.h"

#include <algorithm>
#include <cstring>

namespace gpuprof::analysis {

duckdb::Text TextValue(std::string_view text) {
  duckdb::Text value;
  std::memset(&value, 0, sizeof value);
  text = text.substr(0, UINT32_MAX);
  value.length = static_cast<uint32_t>(text.size());
  constexpr size_t kInlined = sizeof value.prefix + sizeof value.rest;
  if (text.size() <= kInlined) {
    // The four bytes of the prefix and the eight behind them are one array.
    std::memcpy(reinterpret_cast<char*>(&value) + offsetof(duckdb::Text, prefix), text.data(),
                text.size());
  } else {
    std::memcpy(value.prefix, text.data(), sizeof value.prefix);
    value.bytes = text.data();
  }
  return value;
}

}  // namespace gpuprof::analysis
