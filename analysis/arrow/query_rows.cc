// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See query_rows.h.

#include "analysis/arrow/query_rows.h"

#include <utility>

namespace gpuprof::analysis::arrow {
namespace {

// An array that another one keeps alive.
struct SharedArray {
  std::shared_ptr<const ArrowArray> owner;
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> places;
  ArrowArray dictionary = {};
};

void ReleaseShared(ArrowArray* array) {
  auto* const kept = static_cast<SharedArray*>(array->private_data);
  for (ArrowArray* const child : kept->places)
    if (child->release != nullptr) child->release(child);
  if (kept->dictionary.release != nullptr) kept->dictionary.release(&kept->dictionary);
  array->release = nullptr;
  delete kept;
}

// Makes an array of the same memory, with these children.
void Share(const std::shared_ptr<const ArrowArray>& owner, const ArrowArray& from,
           const std::vector<size_t>& children, ArrowArray* to) {
  auto kept = std::make_unique<SharedArray>();
  kept->owner = owner;
  kept->children.resize(children.size());
  for (size_t i = 0; i < children.size(); ++i) {
    const ArrowArray& child = *from.children[children[i]];
    std::vector<size_t> all(static_cast<size_t>(child.n_children));
    for (size_t each = 0; each < all.size(); ++each) all[each] = each;
    Share(owner, child, all, &kept->children[i]);
    kept->places.push_back(&kept->children[i]);
  }
  *to = from;
  if (from.dictionary != nullptr) {
    Share(owner, *from.dictionary, {}, &kept->dictionary);
    to->dictionary = &kept->dictionary;
  }
  to->n_children = static_cast<int64_t>(children.size());
  to->children = kept->places.data();
  to->release = ReleaseShared;
  to->private_data = kept.release();
}

Field FieldOf(const ArrowSchema& schema) {
  Field field;
  field.name = schema.name != nullptr ? schema.name : "";
  field.format = schema.format;
  field.is_nullable = (schema.flags & ARROW_FLAG_NULLABLE) != 0;
  field.has_dictionary = schema.dictionary != nullptr;
  for (int64_t i = 0; i < schema.n_children; ++i)
    field.children.push_back(FieldOf(*schema.children[i]));
  return field;
}

// Returns DuckDB's words about a failure, and destroys them.
Error ErrorOf(const duckdb::Api& duck, duckdb::Handle said) {
  Error error;
  if (said != nullptr && duck.error_data_has_error(said))
    error = {ErrorKind::kUsage, std::string("DuckDB: ") + duck.error_data_message(said)};
  if (said != nullptr) duck.destroy_error_data(&said);
  return error;
}

std::string Quoted(std::string_view name) {
  std::string quoted = "\"";
  for (const char c : name) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + '"';
}

}  // namespace

// The chosen columns of the rows.
class QueryRowBatches : public BatchSource {
 public:
  QueryRowBatches(std::shared_ptr<const QueryRows> rows, std::vector<size_t> columns)
      : rows_(std::move(rows)), columns_(std::move(columns)) {}

  Error Schema(ArrowSchema* out) override {
    Field field = rows_->field_;
    field.children.clear();
    for (const size_t column : columns_) field.children.push_back(rows_->field_.children[column]);
    ExportField(field, out);
    return {};
  }
  Error Next(ArrowArray* out) override {
    if (next_ == rows_->batches_.size()) return {};
    const std::shared_ptr<const ArrowArray>& batch = rows_->batches_[next_++];
    Share(batch, *batch, columns_, out);
    return {};
  }

 private:
  std::shared_ptr<const QueryRows> rows_;
  std::vector<size_t> columns_;
  size_t next_ = 0;
};

std::unique_ptr<BatchSource> MakeQueryRowBatches(std::shared_ptr<const QueryRows> rows,
                                                 const std::vector<size_t>& columns) {
  return std::make_unique<QueryRowBatches>(std::move(rows), columns);
}

Error QueryRows::Run(QueryDatabase* database, const std::string& sql,
                     std::shared_ptr<const QueryRows>* rows) {
  const duckdb::Api& duck = *database->api_;
  if (duck.data_chunk_to_arrow == nullptr || duck.to_arrow_schema == nullptr)
    return {ErrorKind::kUsage, std::string("DuckDB ") + duck.library_version() +
                                   " cannot hand over rows as Arrow; take libduckdb.so of DuckDB "
                                   "1.4 or newer"};
  const std::string inner = sql.substr(0, sql.find_last_not_of("; \t\r\n") + 1);
  duckdb::Result result;
  // Learns the types first. A statement that is no part of another one, or that is wrong, runs as
  // it is: then the error is about the user's own words.
  std::string casts;
  bool has_sums = false;
  if (!database->Select("select * from (" + inner + "\n) limit 0", &result)) {
    for (uint64_t i = 0; i < duck.column_count(&result); ++i) {
      casts += (i == 0 ? "#" : ", #") + std::to_string(i + 1);
      if (duck.column_type(&result, i) != duckdb::kHugeInt) continue;
      casts += "::bigint as " + Quoted(duck.column_name(&result, i));
      has_sums = true;
    }
  }
  duck.destroy_result(&result);
  const std::string statement = has_sums ? "select " + casts + " from (" + inner + "\n)" : sql;
  auto made = std::make_shared<QueryRows>();
  Error error = database->Select(statement, &result);
  if (!error) error = made->Take(database, &result);
  duck.destroy_result(&result);
  if (error && has_sums && error.message.find("INT128") != std::string::npos)
    error.message += ". A sum is too large for 64 bits: write sum(...)::double";
  *rows = std::move(made);
  return error;
}

Error QueryRows::Take(QueryDatabase* database, duckdb::Result* result) {
  const duckdb::Api& duck = *database->api_;
  duckdb::Handle how = nullptr;
  duck.connection_get_arrow_options(database->connection_, &how);
  Error error = TakeSchema(duck, how, result);
  while (!error) {
    duckdb::Handle chunk = duck.fetch_chunk(*result);
    if (chunk == nullptr) break;
    // The array's memory goes with its last reader.
    const std::shared_ptr<ArrowArray> batch(new ArrowArray{}, [](ArrowArray* array) {
      if (array->release != nullptr) array->release(array);
      delete array;
    });
    error = ErrorOf(duck, duck.data_chunk_to_arrow(how, chunk, batch.get()));
    count_ += duck.data_chunk_get_size(chunk);
    duck.destroy_data_chunk(&chunk);
    batches_.push_back(batch);
  }
  duck.destroy_arrow_options(&how);
  const char* const said = duck.result_error(result);
  if (!error && said != nullptr && *said != '\0') error = {ErrorKind::kUsage, said};
  return error;
}

Error QueryRows::TakeSchema(const duckdb::Api& duck, duckdb::Handle how, duckdb::Result* result) {
  std::vector<duckdb::Handle> types;
  std::vector<const char*> names;
  for (uint64_t i = 0; i < duck.column_count(result); ++i) {
    types.push_back(duck.column_logical_type(result, i));
    names.push_back(duck.column_name(result, i));
  }
  ArrowSchema schema = {};
  Error error =
      ErrorOf(duck, duck.to_arrow_schema(how, types.data(), names.data(), types.size(), &schema));
  if (!error) field_ = FieldOf(schema);
  if (schema.release != nullptr) schema.release(&schema);
  for (duckdb::Handle& type : types) duck.destroy_logical_type(&type);
  return error;
}

}  // namespace gpuprof::analysis::arrow
