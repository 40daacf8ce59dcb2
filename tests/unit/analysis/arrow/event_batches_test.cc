// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Batches of events, of a table whose rows follow a rule: every type, values that stay the same for
// some rows, for a share or for all, and nulls in every place.

#include "analysis/arrow/event_batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/arrow/dictionary.h"
#include "analysis/arrow/table_batches.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis::arrow {
namespace {

// When the value of a row is another one than that of the row before.
enum class Change { kNever, kOnce, kByShare, kAlways };
constexpr Change kChanges[] = {Change::kNever, Change::kOnce, Change::kByShare, Change::kAlways};
constexpr ValueType kTypes[] = {ValueType::kBoolean, ValueType::kSigned, ValueType::kUnsigned,
                                ValueType::kId,      ValueType::kReal,   ValueType::kText};
// In the middle of a share, and not in its first chunk.
constexpr size_t kOnceAt = 3000;

size_t ValueOf(Change change, size_t row, size_t share) {
  switch (change) {
    case Change::kNever:
      return 1;
    case Change::kOnce:
      return row < kOnceAt ? 0 : 1;
    case Change::kByShare:
      return share % 2;
    case Change::kAlways:
      return row % 3;
  }
  return 0;
}

// Returns the text of a value: short ones lie in a chunk, long ones do not.
const std::string& TextOfValue(size_t value) {
  static const std::string texts[] = {"short", "a text that is longer than twelve bytes", ""};
  return texts[value];
}

struct Rule {
  ValueType type;
  Change values, nulls;
  bool has_nulls;
  bool is_name = false;  // numbers of names

  bool IsNull(size_t row, size_t share) const {
    return has_nulls && ValueOf(nulls, row, share) != 0;
  }
};

class RuledTable : public QueryTable {
 public:
  RuledTable(std::vector<Rule> rules, std::vector<size_t> shares, std::vector<uint32_t> numbers)
      : QueryTable("ruled", "rows of a rule"),
        rules_(std::move(rules)),
        shares_(std::move(shares)),
        numbers_(std::move(numbers)) {
    for (size_t i = 0; i < rules_.size(); ++i)
      columns_.push_back(
          {"c" + std::to_string(i) + "_id", rules_[i].type, "", rules_[i].is_name ? "names" : ""});
  }
  bool IsOfEvents() const override { return true; }
  Error Begin(const std::vector<size_t>& columns, std::unique_ptr<TableScan>* scan) override {
    *scan = std::make_unique<Scan>(*this, columns);
    return {};
  }
  const std::vector<size_t>& shares() const { return shares_; }
  const Rule& rule(size_t column) const { return rules_[column]; }

 private:
  class Scan : public TableScan {
   public:
    Scan(const RuledTable& table, std::vector<size_t> columns)
        : table_(table), columns_(std::move(columns)) {}
    std::vector<Share> Shares() const override {
      std::vector<Share> shares;
      size_t row = 0;
      for (size_t i = 0; i < table_.shares_.size(); ++i) {
        shares.push_back({i, row, row + table_.shares_[i]});
        row += table_.shares_[i];
      }
      return shares;
    }
    size_t Next(Share* share, QueryChunk* chunk) override {
      const size_t rows = std::min(QueryChunk::kRows, share->end - share->row);
      for (size_t place = 0; place < columns_.size(); ++place) {
        const Rule& rule = table_.rules_[columns_[place]];
        for (size_t i = 0; i < rows; ++i) {
          Put(rule, ValueOf(rule.values, share->row + i, share->part), place, i, chunk);
          if (rule.IsNull(share->row + i, share->part)) chunk->SetNull(place, i);
        }
      }
      share->row += rows;
      return rows;
    }

   private:
    void Put(const Rule& rule, size_t value, size_t place, size_t row, QueryChunk* chunk) const {
      switch (rule.type) {
        case ValueType::kBoolean:
          chunk->Values<bool>(place)[row] = value == 1;
          return;
        case ValueType::kSigned:
        case ValueType::kUnsigned:
          chunk->Values<uint64_t>(place)[row] = value + 40;
          return;
        case ValueType::kId:
          chunk->Values<uint32_t>(place)[row] =
              rule.is_name ? table_.numbers_[value] : static_cast<uint32_t>(value + 40);
          return;
        case ValueType::kReal:
          chunk->Values<double>(place)[row] = static_cast<double>(value) + 0.5;
          return;
        case ValueType::kText:
          chunk->Values<duckdb::Text>(place)[row] = TextValue(TextOfValue(value));
      }
    }

    const RuledTable& table_;
    std::vector<size_t> columns_;
  };

  std::vector<Rule> rules_;
  std::vector<size_t> shares_;
  std::vector<uint32_t> numbers_;
};

template <typename T>
T At(const Array& array, size_t buffer, size_t row) {
  T value;
  std::memcpy(&value, array.buffers[buffer].get() + row * sizeof value, sizeof value);
  return value;
}

bool BitOf(const Buffer& bits, size_t row) { return (bits[row / 8] >> row % 8 & 1) != 0; }

// Returns what a row of an array says; none: null.
std::optional<std::string> Said(const Array& array, ValueType type, size_t row) {
  if (array.buffers[0] != nullptr && !BitOf(array.buffers[0], row)) return std::nullopt;
  if (array.dictionary != nullptr) {
    const auto place = static_cast<size_t>(At<int32_t>(array, 1, row));
    const auto begin = At<int32_t>(*array.dictionary, 1, place);
    const auto end = At<int32_t>(*array.dictionary, 1, place + 1);
    return std::string(reinterpret_cast<const char*>(array.dictionary->buffers[2].get()) + begin,
                       static_cast<size_t>(end - begin));
  }
  switch (type) {
    case ValueType::kBoolean:
      return std::to_string(BitOf(array.buffers[1], row));
    case ValueType::kId:
      return std::to_string(At<uint32_t>(array, 1, row));
    case ValueType::kReal:
      return std::to_string(At<double>(array, 1, row));
    default:
      return std::to_string(At<uint64_t>(array, 1, row));
  }
}

std::optional<std::string> Right(const Rule& rule, size_t row, size_t share) {
  if (rule.IsNull(row, share)) return std::nullopt;
  const size_t value = ValueOf(rule.values, row, share);
  if (rule.is_name || rule.type == ValueType::kText) return TextOfValue(value);
  if (rule.type == ValueType::kBoolean) return value == 1 ? "1" : "0";
  if (rule.type == ValueType::kReal) return std::to_string(static_cast<double>(value) + 0.5);
  return std::to_string(value + 40);
}

class EventBatchesTest : public testing::Test {
 protected:
  EventBatchesTest() {
    Process& process = trace_.processes.emplace_back();
    for (uint32_t value = 0; value < 3; ++value) process.strings[value + 7] = TextOfValue(value);
    process.strings[99] = "in no row";
    names_ = std::make_unique<TraceNames>(trace_);
    for (uint32_t value = 0; value < 3; ++value)
      numbers_.push_back(names_->of(0).strings.Find(value + 7));
  }

  std::unique_ptr<RuledTable> MakeTable(std::vector<size_t> shares) const {
    std::vector<Rule> rules;
    for (const ValueType type : kTypes) {
      for (const Change values : kChanges) {
        rules.push_back({type, values, Change::kNever, false});
        for (const Change nulls : kChanges) rules.push_back({type, values, nulls, true});
      }
    }
    for (const Change values : kChanges)
      rules.push_back({ValueType::kId, values, Change::kAlways, values == Change::kOnce, true});
    return std::make_unique<RuledTable>(std::move(rules), std::move(shares), numbers_);
  }

  std::unique_ptr<ArraySource> Read(QueryTable* table, std::vector<size_t> columns, int threads) {
    Reading reading;
    reading.threads = threads;
    reading.check = [] { return Error(); };
    reading.dictionary = [this, table](size_t column, std::shared_ptr<const Dictionary>* made) {
      return Dictionary::Make(table, column, *names_, 2, made);
    };
    return MakeTableBatches(table, true, std::move(columns), std::move(reading));
  }

  // Compares all rows of all columns; of many rows, some.
  void Check(RuledTable* table, int threads, size_t batches_wanted) {
    std::vector<size_t> columns(table->columns().size());
    for (size_t i = 0; i < columns.size(); ++i) columns[i] = i;
    const std::unique_ptr<ArraySource> source = Read(table, columns, threads);
    size_t share = 0, left = table->shares()[0], row = 0, batches = 0, rows = 0;
    for (const size_t each : table->shares()) rows += each;
    const size_t stride = rows > 100'000 ? 97 : 1;
    std::shared_ptr<const Array> batch;
    while (!source->NextArray(&batch) && batch != nullptr) {
      ++batches;
      ASSERT_EQ(batch->children.size(), columns.size());
      std::vector<int64_t> nulls(columns.size());
      for (size_t i = 0; i < static_cast<size_t>(batch->length); ++i, ++row, --left) {
        while (left == 0) left = table->shares()[++share];
        if (row % stride != 0) continue;
        for (size_t column = 0; column < columns.size(); ++column) {
          const Rule& rule = table->rule(column);
          const auto said = Said(*batch->children[column], rule.type, i);
          ASSERT_EQ(said, Right(rule, row, share)) << "column " << column << " row " << row;
          nulls[column] += !said.has_value();
        }
      }
      for (size_t column = 0; column < columns.size() && stride == 1; ++column)
        EXPECT_EQ(batch->children[column]->null_count, nulls[column]) << column;
    }
    EXPECT_EQ(row, rows);
    EXPECT_EQ(batches, batches_wanted);
  }

  Trace trace_;
  std::unique_ptr<TraceNames> names_;
  std::vector<uint32_t> numbers_;
};

TEST_F(EventBatchesTest, HasTheValuesOfAllRows) {
  for (const int threads : {1, 3})
    Check(MakeTable({1, 2047, 5000, 2049, 7, 4096}).get(), threads, 1);
}

TEST_F(EventBatchesTest, HasOneShareAndFewRows) {
  Check(MakeTable({1}).get(), 2, 1);
  Check(MakeTable({kOnceAt + 1}).get(), 2, 1);
}

TEST_F(EventBatchesTest, BatchesHaveAMillionRowsOfAnyNumberOfShares) {
  const std::vector<size_t> shares(23, 100'000);
  RuledTable table({{ValueType::kSigned, Change::kAlways, Change::kNever, false},
                    {ValueType::kId, Change::kByShare, Change::kNever, false, true},
                    {ValueType::kBoolean, Change::kNever, Change::kOnce, true},
                    {ValueType::kSigned, Change::kNever, Change::kNever, false}},
                   shares, numbers_);
  Check(&table, 2, 3);
}

TEST_F(EventBatchesTest, WhatIsTheSameInAllRowsIsInMemoryOnce) {
  const std::vector<size_t> shares(22, 100'000);
  RuledTable table({{ValueType::kUnsigned, Change::kNever, Change::kNever, false},
                    {ValueType::kText, Change::kNever, Change::kNever, true}},
                   shares, numbers_);
  const std::unique_ptr<ArraySource> source = Read(&table, {0, 1}, 2);
  std::set<const uint8_t*> values;
  std::shared_ptr<const Array> batch, kept;
  size_t batches = 0;
  while (!source->NextArray(&batch) && batch != nullptr) {
    ++batches;
    kept = batch;
    values.insert(batch->children[0]->buffers[1].get());
    EXPECT_EQ(batch->children[1]->null_count, batch->length);
  }
  EXPECT_EQ(batches, 2u);
  EXPECT_EQ(values.size(), 1u);
}

TEST_F(EventBatchesTest, TheDictionaryIsSortedAndHasWhatIsInTheRows) {
  RuledTable table({{ValueType::kId, Change::kAlways, Change::kNever, false, true},
                    {ValueType::kText, Change::kOnce, Change::kNever, false}},
                   {kOnceAt + 5}, numbers_);
  std::shared_ptr<const Dictionary> names, texts;
  ASSERT_FALSE(Dictionary::Make(&table, 0, *names_, 2, &names));
  ASSERT_FALSE(Dictionary::Make(&table, 1, *names_, 2, &texts));
  EXPECT_EQ(names->values()->length, 3);
  EXPECT_EQ(texts->values()->length, 2);
  EXPECT_EQ(names->OfNumber(numbers_[2]), 0);  // the empty text comes first
  EXPECT_LT(names->OfNumber(numbers_[1]), names->OfNumber(numbers_[0]));
  EXPECT_LT(texts->OfText(TextOfValue(1)), texts->OfText(TextOfValue(0)));
}

TEST_F(EventBatchesTest, ExportedArraysAreReleasedWithTheirParts) {
  RuledTable table({{ValueType::kText, Change::kAlways, Change::kNever, true}}, {5000}, numbers_);
  ArrowArrayStream stream = {};
  ExportStream(Read(&table, {0}, 2), &stream);
  ArrowSchema schema = {};
  ASSERT_EQ(stream.get_schema(&stream, &schema), 0);
  EXPECT_STREQ(schema.format, "+s");
  EXPECT_STREQ(schema.children[0]->format, "i");
  EXPECT_STREQ(schema.children[0]->dictionary->format, "u");
  schema.release(&schema);
  EXPECT_EQ(schema.release, nullptr);
  ArrowArray array = {}, end = {};
  ASSERT_EQ(stream.get_next(&stream, &array), 0);
  ASSERT_EQ(stream.get_next(&stream, &end), 0);
  EXPECT_EQ(end.release, nullptr);
  stream.release(&stream);
  // A reader may take a child away.
  ArrowArray child = *array.children[0];
  array.children[0]->release = nullptr;
  array.release(&array);
  EXPECT_EQ(child.length, 5000);
  EXPECT_NE(child.dictionary, nullptr);
  EXPECT_EQ(static_cast<const int32_t*>(child.buffers[1])[0], 0);
  child.release(&child);
}

}  // namespace
}  // namespace gpuprof::analysis::arrow
