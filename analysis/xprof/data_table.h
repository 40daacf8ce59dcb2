// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A table in the JSON form of Google's charts, as XProf's pages have it: columns, rows of cells,
// and properties of the table. One thread.

#pragma once

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace gpuprof::analysis::xprof {

class DataTable {
 public:
  struct Column {
    std::string_view id, type, label;
    std::string_view role = {};
  };
  // A row under construction; it belongs to the table.
  class Row {
   public:
    Row& Number(double value);
    Row& Text(std::string_view value);
    Row& Bool(bool value);

   private:
    friend class DataTable;
    explicit Row(void* cells) : cells_(cells) {}
    void* cells_;
  };

  DataTable();
  explicit DataTable(std::initializer_list<Column> columns);
  ~DataTable();
  DataTable(DataTable&&) noexcept;
  DataTable& operator=(DataTable&&) noexcept;

  void AddColumn(const Column& column);
  // Adds a row, which is valid until the next row is added.
  Row AddRow();
  void Set(std::string_view property, std::string_view value);
  // Returns the JSON. Bytes that are not UTF-8 become U+FFFD: XProf has no page then.
  std::string Json() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace gpuprof::analysis::xprof
