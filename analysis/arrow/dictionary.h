// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The texts of one column of a table of events, each once and sorted: what Arrow calls a
// dictionary. Made of all rows before the first batch, so that all batches share it. Then any
// thread reads.

#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/arrow/arrays.h"
#include "analysis/query/query_table.h"
#include "analysis/query/trace_names.h"

namespace gpuprof::analysis::arrow {

// Returns the bytes of a text of a chunk.
inline std::string_view TextOf(const duckdb::Text& text) {
  constexpr size_t kInlined = sizeof text.prefix + sizeof text.rest;
  // The four bytes of the prefix and the eight behind them are one array.
  const char* const own = reinterpret_cast<const char*>(&text) + offsetof(duckdb::Text, prefix);
  return {text.length <= kInlined ? own : text.bytes, text.length};
}

// A text of a chunk as it lies in memory: equal ones are equal texts. Different ones are different
// texts, unless they are long.
struct RawText {
  uint64_t low = 0, high = 0;
  explicit RawText(const duckdb::Text& text) {
    std::memcpy(static_cast<void*>(this), &text, sizeof *this);
  }
  RawText() = default;
  bool operator==(const RawText&) const = default;
  uint64_t Hash() const { return (low ^ high * 0x9E3779B97F4A7C15u) * 0xFF51AFD7ED558CCDu >> 32; }
};
static_assert(sizeof(RawText) == sizeof(duckdb::Text));

class Dictionary {
 public:
  // Reads the column of ids of texts, or of texts (kText), of all rows. `threads`: of the reading.
  static Error Make(QueryTable* table, size_t column, const TraceNames& names, int threads,
                    std::shared_ptr<const Dictionary>* made);

  const std::shared_ptr<const Array>& values() const { return values_; }
  // Returns the place of a text, by its number in the pool. 0 also for one that is in no row.
  int32_t OfNumber(uint32_t number) const {
    return number < of_numbers_.size() ? of_numbers_[number] : 0;
  }
  int32_t OfText(std::string_view text) const {
    const auto at = of_texts_.find(text);
    return at == of_texts_.end() ? 0 : at->second;
  }

 private:
  std::shared_ptr<const Array> values_;
  std::vector<int32_t> of_numbers_;
  std::unordered_map<std::string_view, int32_t> of_texts_;  // into `values_`
};

}  // namespace gpuprof::analysis::arrow
