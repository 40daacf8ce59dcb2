// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads the rows of an ordinary table straight from the pages of a database, in the order of their
// row ids. SQLite itself takes twice the time. Source: "Database File Format" of SQLite 3, sections
// 1.3, 1.5, 1.6 and 2.1. The bytes may be a stranger's: each page is read at most once, and no page
// or row leads outside the file. One thread an object.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/import/random_bytes.h"

namespace gpuprof::analysis::import {

// How pages of a database lie in its file.
struct SqlitePages {
  uint32_t page_bytes = 0;
  uint32_t usable_bytes = 0;  // of a page
  uint32_t pages = 0;

  // Reads the head of a file. None: pages cannot be read directly, as their texts are UTF-16.
  static std::optional<SqlitePages> Of(const RandomBytes& bytes);
};

class SqliteTable {
 public:
  // Takes bytes that outlive this object. `root`: the first page of the table. `last_column`: the
  // last stored column that is asked for.
  SqliteTable(const RandomBytes* bytes, const SqlitePages& pages, uint32_t root,
              size_t last_column);

  // Moves to the next row. False: there is no further row, or error() says why not.
  bool Next();
  // Returns why rows are missing. Empty: none is.
  const std::string& error() const { return error_; }
  int64_t row_id() const { return row_id_; }

  enum class Type : uint8_t { kNone, kInteger, kReal, kText, kBlob };
  Type TypeOf(size_t column) const {
    if (column >= columns_) return Type::kNone;
    const uint64_t serial = fields_[column].serial;
    if (serial == 0) return Type::kNone;
    if (serial == kReal) return Type::kReal;
    if (serial < kFirstBlob) return Type::kInteger;
    return serial % 2 == 0 ? Type::kBlob : Type::kText;
  }
  // Returns the value of a column of the type.
  int64_t Integer(size_t column) const;
  double Real(size_t column) const;
  std::string_view Text(size_t column) const {
    return payload_.substr(fields_[column].at, static_cast<size_t>(fields_[column].bytes));
  }

 private:
  static constexpr uint64_t kReal = 7, kZero = 8, kOne = 9, kFirstBlob = 12;
  static constexpr size_t kMostDepth = 32;
  struct Field {
    uint64_t serial = 0, bytes = 0;
    size_t at = 0;  // in the payload
  };
  struct Level {
    std::string bytes;
    size_t head = 0;  // of the list of cells
    uint32_t cells = 0, at = 0;
    bool is_leaf = false;
  };

  bool Fail(const char* why);
  bool ReadPage(uint32_t page, char* to);
  bool Push(uint32_t page);
  bool ReadCell(const Level& level, size_t at);
  bool ReadRest(std::string_view local, uint64_t bytes, uint32_t page);
  bool ReadFields();

  const RandomBytes* bytes_;
  SqlitePages pages_;
  std::vector<Level> levels_;
  size_t depth_ = 0;
  uint64_t visited_ = 0;  // pages
  std::string chunk_;     // pages that were read ahead
  uint64_t chunk_at_ = 0;
  int64_t row_id_ = 0;
  std::string_view payload_;
  std::string room_, page_;
  std::vector<Field> fields_;
  size_t columns_ = 0;  // of this row
  std::string error_;
};

}  // namespace gpuprof::analysis::import
