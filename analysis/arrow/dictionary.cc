// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See dictionary.h.

#include "analysis/arrow/dictionary.h"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "analysis/base/parallel.h"

namespace gpuprof::analysis::arrow {
namespace {

// A chunk of one column, in memory of its own.
class ColumnChunk : public QueryChunk {
 public:
  void SetNull(size_t, size_t row) override {
    is_null_[row] = true;
    has_null_ = true;
  }
  bool IsNull(size_t row) const { return has_null_ && is_null_[row]; }
  void Clear() {
    if (has_null_) std::fill_n(is_null_, kRows, false);
    has_null_ = false;
  }

 protected:
  void* Data(size_t) override { return values_; }

 private:
  duckdb::Text values_[kRows];  // the largest type
  bool is_null_[kRows] = {};
  bool has_null_ = false;
};

// Calls see(state, chunk, rows) for all chunks of a column, and then end(state): a state is that of
// one thread. End() is called by one thread at a time.
template <typename State, typename See, typename End>
Error ForEachChunk(QueryTable* table, size_t column, int threads, const See& see, const End& end) {
  std::unique_ptr<TableScan> scan;
  if (Error error = table->Begin({column}, &scan)) return error;
  const std::vector<TableScan::Share> shares = scan->Shares();
  std::mutex mutex;
  ParallelFor(shares.size(), threads, [&](size_t index, int) {
    const auto chunk = std::make_unique<ColumnChunk>();
    const auto state = std::make_unique<State>();
    TableScan::Share share = shares[index];
    while (share.row < share.end) {
      chunk->Clear();
      const size_t rows = scan->Next(&share, chunk.get());
      see(state.get(), chunk.get(), rows);
    }
    const std::lock_guard lock(mutex);
    end(state.get());
  });
  return {};
}

// Finds which numbers of texts are in a column.
Error FindNumbers(QueryTable* table, size_t column, size_t texts, int threads,
                  std::vector<uint8_t>* is_used) {
  // Numbers that were seen lately are not noted again.
  struct State {
    uint32_t seen[1024];
    std::vector<uint32_t> found;
    State() { std::fill(std::begin(seen), std::end(seen), UINT32_MAX); }
  };
  is_used->assign(texts, 0);
  return ForEachChunk<State>(
      table, column, threads,
      [](State* state, ColumnChunk* chunk, size_t rows) {
        const auto* const ids = chunk->Values<uint32_t>(0);
        for (size_t i = 0; i < rows; ++i) {
          uint32_t& seen = state->seen[ids[i] % std::size(state->seen)];
          if (seen == ids[i] || chunk->IsNull(i)) continue;
          seen = ids[i];
          state->found.push_back(ids[i]);
        }
      },
      [&](State* state) {
        for (const uint32_t id : state->found)
          if (id < texts) (*is_used)[id] = 1;
      });
}

Error FindTexts(QueryTable* table, size_t column, int threads, std::set<std::string>* found) {
  struct State {
    RawText seen[256];  // at first: the empty text
    std::unordered_set<std::string> found;
  };
  return ForEachChunk<State>(
      table, column, threads,
      [](State* state, ColumnChunk* chunk, size_t rows) {
        const auto* const texts = chunk->Values<duckdb::Text>(0);
        for (size_t i = 0; i < rows; ++i) {
          const RawText raw(texts[i]);
          RawText& seen = state->seen[raw.Hash() % std::size(state->seen)];
          if ((seen == raw && texts[i].length != 0) || chunk->IsNull(i)) continue;
          seen = raw;
          state->found.emplace(TextOf(texts[i]));
        }
      },
      [&](State* state) { found->insert(state->found.begin(), state->found.end()); });
}

}  // namespace

Error Dictionary::Make(QueryTable* table, size_t column, const TraceNames& names, int threads,
                       std::shared_ptr<const Dictionary>* made) {
  auto dictionary = std::make_shared<Dictionary>();
  std::vector<std::string_view> texts;
  std::set<std::string> words;
  if (table->columns()[column].type == ValueType::kText) {
    if (Error error = FindTexts(table, column, threads, &words)) return error;
    texts.assign(words.begin(), words.end());
  } else {
    std::vector<uint8_t> is_used;
    if (Error error = FindNumbers(table, column, names.texts().size(), threads, &is_used))
      return error;
    std::vector<uint32_t> numbers;
    for (uint32_t number = 0; number < is_used.size(); ++number)
      if (is_used[number] != 0) numbers.push_back(number);
    std::sort(numbers.begin(), numbers.end(),
              [&](uint32_t x, uint32_t y) { return names.Text(x) < names.Text(y); });
    dictionary->of_numbers_.resize(is_used.size());
    for (const uint32_t number : numbers) {
      dictionary->of_numbers_[number] = static_cast<int32_t>(texts.size());
      texts.push_back(names.Text(number));
    }
  }
  if (Error error = TextArray(texts, &dictionary->values_)) return error;
  const Array& values = *dictionary->values_;
  const auto* const ends = reinterpret_cast<const int32_t*>(values.buffers[1].get());
  const auto* const bytes = reinterpret_cast<const char*>(values.buffers[2].get());
  for (size_t i = 0; !words.empty() && i < texts.size(); ++i) {
    const std::string_view text(bytes + ends[i], static_cast<size_t>(ends[i + 1] - ends[i]));
    dictionary->of_texts_.emplace(text, static_cast<int32_t>(i));
  }
  *made = std::move(dictionary);
  return {};
}

}  // namespace gpuprof::analysis::arrow
