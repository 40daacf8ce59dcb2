// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See query_writer.h.

#include "analysis/query/query_writer.h"

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/render/csv_text.h"
#include "analysis/render/table.h"

namespace gpuprof::analysis {
namespace {

using Kind = QueryValue::Kind;

// Returns different names, as DuckDB makes them in a subquery: a second "n" is called "n_1".
std::vector<std::string> DifferentNames(std::vector<std::string> names) {
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string plain = names[i];
    for (int number = 1; std::find(names.begin(), names.begin() + static_cast<ptrdiff_t>(i),
                                   names[i]) != names.begin() + static_cast<ptrdiff_t>(i);
         ++number)
      names[i] = plain + "_" + std::to_string(number);
  }
  return names;
}

std::string JsonText(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

class Writer : public QueryWriter {
 public:
  Writer(Sink sink, void* context) : sink_(sink), context_(context) {}

 protected:
  bool Put(std::string_view text) { return sink_(context_, text); }

 private:
  Sink sink_;
  void* context_;
};

class JsonWriter : public Writer {
 public:
  using Writer::Writer;

  void Begin(const std::vector<std::string>& columns) override {
    for (const std::string& name : DifferentNames(columns)) names_.push_back(JsonText(name));
    Put("[");
  }
  bool Row(const std::vector<QueryValue>& values) override {
    std::string line = is_first_ ? "\n{" : ",\n{";
    is_first_ = false;
    for (size_t i = 0; i < values.size(); ++i) {
      line += (i == 0 ? "" : ", ") + names_[i] + ": ";
      const bool is_text = values[i].kind == Kind::kText;
      line += values[i].kind == Kind::kNull ? "null"
              : is_text                     ? JsonText(values[i].text)
                                            : values[i].text;
    }
    return Put(line + "}");
  }
  void Finish() override { Put(is_first_ ? "]\n" : "\n]\n"); }

 private:
  std::vector<std::string> names_;
  bool is_first_ = true;
};

class CsvWriter : public Writer {
 public:
  using Writer::Writer;

  void Begin(const std::vector<std::string>& columns) override {
    std::string line;
    for (const std::string& name : DifferentNames(columns))
      line += (line.empty() ? "" : ",") + CsvQuoted(CsvText(name));
    Put(line + "\n");
  }
  bool Row(const std::vector<QueryValue>& values) override {
    std::string line;
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) line += ',';
      const bool is_text = values[i].kind == Kind::kText;
      line += is_text ? CsvQuoted(CsvText(values[i].text)) : values[i].text;
    }
    return Put(line + "\n");
  }
  void Finish() override {}
};

class TableWriter : public Writer {
 public:
  TableWriter(uint32_t limit, int width, Sink sink, void* context)
      : Writer(sink, context), limit_(limit), width_(width) {}

  void Begin(const std::vector<std::string>& columns) override {
    names_ = columns;
    is_number_.assign(columns.size(), true);
  }
  bool Row(const std::vector<QueryValue>& values) override {
    ++count_;
    std::vector<std::string>& cells = rows_.emplace_back();
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i].kind != Kind::kNumber && values[i].kind != Kind::kNull) is_number_[i] = false;
      cells.push_back(values[i].kind == Kind::kNull ? "-" : values[i].text);
    }
    return limit_ == 0 || count_ < limit_;
  }
  bool CountsRest() const override { return true; }
  void Rest(uint64_t rows) override { count_ += rows; }
  void Finish() override {
    TextTable table;
    for (size_t i = 0; i < names_.size(); ++i)
      table.AddColumn(names_[i], is_number_[i] ? TextTable::Align::kRight : TextTable::Align::kLeft,
                      !is_number_[i]);
    for (std::vector<std::string>& row : rows_) table.AddRow(std::move(row));
    Put(table.Render(width_));
    if (count_ > rows_.size())
      Put("  ... and " + std::to_string(count_ - rows_.size()) +
          " more rows (--limit 0 shows all)\n");
    if (count_ == 0) Put("  no rows\n");
  }

 private:
  uint32_t limit_;
  int width_;
  std::vector<std::string> names_;
  std::vector<bool> is_number_;
  std::vector<std::vector<std::string>> rows_;
  uint64_t count_ = 0;
};

// Numbers of more digits than JavaScript keeps are texts.
bool IsSafeNumber(std::string_view text) {
  constexpr size_t kMostDigits = 15;
  return text.size() <= kMostDigits || text.find_first_of(".e") != std::string_view::npos;
}

class PageWriter : public Writer {
 public:
  PageWriter(uint32_t limit, size_t most_bytes, Sink sink, void* context)
      : Writer(sink, context), limit_(limit), most_bytes_(most_bytes) {}

  void Begin(const std::vector<std::string>& columns) override {
    text_ = "{\"columns\": [";
    bool is_first = true;
    for (const std::string& name : DifferentNames(columns)) {
      text_ += (is_first ? "" : ", ") + JsonText(name);
      is_first = false;
    }
    text_ += "], \"rows\": [";
  }
  bool Row(const std::vector<QueryValue>& values) override {
    text_ += count_++ == 0 ? "\n[" : ",\n[";
    for (size_t i = 0; i < values.size(); ++i) {
      if (i != 0) text_ += ", ";
      const bool is_number = values[i].kind == Kind::kNumber && IsSafeNumber(values[i].text);
      text_ += values[i].kind == Kind::kNull                   ? "null"
               : is_number || values[i].kind == Kind::kBoolean ? values[i].text
                                                               : JsonText(values[i].text);
    }
    text_ += ']';
    shown_ = count_;
    return shown_ < limit_ && text_.size() < most_bytes_;
  }
  bool CountsRest() const override { return true; }
  void Rest(uint64_t rows) override { count_ += rows; }
  // The rows stay here to the end: an error leaves nothing half.
  void Finish() override {
    text_ += "\n], \"truncated\": ";
    if (shown_ < count_)
      text_ += "{\"shown\": " + std::to_string(shown_) + ", \"total\": " + std::to_string(count_) +
               "}}\n";
    else
      text_ += "null}\n";
    Put(text_);
  }

 private:
  const uint32_t limit_;
  const size_t most_bytes_;
  std::string text_;
  uint64_t count_ = 0, shown_ = 0;
};

}  // namespace

std::unique_ptr<QueryWriter> MakePageWriter(uint32_t limit, size_t most_bytes, Sink sink,
                                            void* context) {
  return std::make_unique<PageWriter>(limit, most_bytes, sink, context);
}

std::unique_ptr<QueryWriter> MakeQueryWriter(Format format, uint32_t limit, int width, Sink sink,
                                             void* context) {
  if (format == Format::kJson) return std::make_unique<JsonWriter>(sink, context);
  if (format == Format::kCsv) return std::make_unique<CsvWriter>(sink, context);
  return std::make_unique<TableWriter>(limit, width, sink, context);
}

}  // namespace gpuprof::analysis
