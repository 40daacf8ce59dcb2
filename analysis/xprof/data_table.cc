// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See data_table.h.

#include "analysis/xprof/data_table.h"

#include <nlohmann/json.hpp>
#include <utility>

namespace gpuprof::analysis::xprof {

using nlohmann::json;

struct DataTable::Parts {
  json columns = json::array(), rows = json::array(), properties = json::object();
};

DataTable::DataTable() : parts_(std::make_unique<Parts>()) {}

DataTable::DataTable(std::initializer_list<Column> columns) : DataTable() {
  for (const Column& column : columns) AddColumn(column);
}

DataTable::~DataTable() = default;
DataTable::DataTable(DataTable&&) noexcept = default;
DataTable& DataTable::operator=(DataTable&&) noexcept = default;

void DataTable::AddColumn(const Column& column) {
  json entry = {{"id", column.id}, {"type", column.type}, {"label", column.label}};
  if (!column.role.empty()) entry["p"] = {{"role", column.role}};
  parts_->columns.push_back(std::move(entry));
}

DataTable::Row DataTable::AddRow() {
  parts_->rows.push_back({{"c", json::array()}});
  return Row(&parts_->rows.back()["c"]);
}

DataTable::Row& DataTable::Row::Number(double value) {
  static_cast<json*>(cells_)->push_back({{"v", value}});
  return *this;
}

DataTable::Row& DataTable::Row::Text(std::string_view value) {
  static_cast<json*>(cells_)->push_back({{"v", value}});
  return *this;
}

DataTable::Row& DataTable::Row::Bool(bool value) {
  static_cast<json*>(cells_)->push_back({{"v", value}});
  return *this;
}

void DataTable::Set(std::string_view property, std::string_view value) {
  parts_->properties[std::string(property)] = value;
}

std::string DataTable::Json() const {
  json table = {{"cols", parts_->columns}, {"rows", parts_->rows}};
  if (!parts_->properties.empty()) table["p"] = parts_->properties;
  return table.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace gpuprof::analysis::xprof
