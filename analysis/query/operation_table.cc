// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See operation_table.h.

#include "analysis/query/operation_table.h"

#include <fcntl.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/passes/straggler_rows.h"
#include "analysis/query/duckdb_api.h"
#include "analysis/stragglers/operation_rows.h"
#include "proto/codec/open_regular.h"
#include "proto/results/stragglers.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kMostRows = 50'000'000;
constexpr double kNsPerSecond = 1e9;
constexpr char kColumns[] =
    "dp_rank, stage, rank, step, optype, start_ts, duration, seq_id, mc and gmc";

// The columns in the types in which they are read.
constexpr char kSelect[] =
    "select dp_rank::uinteger, stage::uinteger, rank::bigint, step::bigint, optype::varchar, "
    "start_ts::double, duration::double, seq_id::uinteger, coalesce(mc, -1)::integer, "
    "coalesce(gmc, -1)::integer from read_parquet(";

// One line of what DuckDB says.
std::string FirstLine(const char* said) {
  const std::string_view text = said == nullptr ? "no reason was given" : said;
  return std::string(text.substr(0, text.find('\n')));
}

// A database that reads one file, which is open already.
class ParquetReader {
 public:
  explicit ParquetReader(std::string shown) : shown_(std::move(shown)) {}
  ParquetReader(const ParquetReader&) = delete;
  ParquetReader& operator=(const ParquetReader&) = delete;
  ~ParquetReader() {
    if (has_result_) api_->destroy_result(&answer_);
    if (connection_ != nullptr) api_->disconnect(&connection_);
    if (database_ != nullptr) api_->close(&database_);
  }

  Error Open(const std::string& library) {
    if (Error error = duckdb::Open(library, &api_)) return error;
    duckdb::Handle config = nullptr;
    api_->create_config(&config);
    constexpr std::pair<const char*, const char*> kSettings[] = {
        {"temp_directory", ""},
        {"autoinstall_known_extensions", "false"},
        {"autoload_known_extensions", "false"},
        {"allow_community_extensions", "false"}};
    for (const auto& [name, value] : kSettings) api_->set_config(config, name, value);
    char* said = nullptr;
    const duckdb::State opened = api_->open_ext(nullptr, &database_, config, &said);
    api_->destroy_config(&config);
    if (opened == 0 && api_->connect(database_, &connection_) == 0) return {};
    const std::string reason = FirstLine(said);
    if (said != nullptr) api_->free(said);
    return {ErrorKind::kUsage, "DuckDB cannot start: " + reason};
  }

  Error Read(int file, OperationRows* rows) {
    // The name is of this process: no other file can take its place.
    std::string sql = kSelect;
    sql.append("'/proc/self/fd/").append(std::to_string(file)).append("')");
    has_result_ = true;
    if (api_->query(connection_, sql.c_str(), &answer_) != 0)
      return Fault("is not a table of operations. DuckDB says: " +
                   FirstLine(api_->result_error(&answer_)));
    while (true) {
      duckdb::Handle chunk = api_->fetch_chunk(answer_);
      if (chunk == nullptr) return {};
      Error error = AddChunk(chunk, rows);
      api_->destroy_data_chunk(&chunk);
      if (error) return error;
    }
  }

 private:
  Error Fault(const std::string& what) const {
    return {ErrorKind::kUnreadable,
            shown_ + " " + what + ". It needs the columns " + kColumns + " of StragglerAnalysis"};
  }

  template <typename T>
  const T* Values(duckdb::Handle chunk, uint64_t column) const {
    return static_cast<const T*>(api_->vector_get_data(api_->data_chunk_get_vector(chunk, column)));
  }

  // Returns whether the first values of a column are all there.
  bool HasAll(duckdb::Handle chunk, uint64_t column, uint64_t count) const {
    const uint64_t* const valid =
        api_->vector_get_validity(api_->data_chunk_get_vector(chunk, column));
    if (valid == nullptr) return true;
    for (uint64_t i = 0; i < count; ++i)
      if ((valid[i / 64] >> i % 64 & 1) == 0) return false;
    return true;
  }

  Error AddChunk(duckdb::Handle chunk, OperationRows* rows) {
    constexpr uint64_t kColumnCount = 10;
    const uint64_t count = api_->data_chunk_get_size(chunk);
    if (rows->rows() + count > kMostRows)
      return Fault("has more than " + std::to_string(kMostRows) + " rows; take some of its steps");
    for (uint64_t column = 0; column < kColumnCount; ++column)
      if (!HasAll(chunk, column, count))
        return Fault("has rows without a value in column " + std::to_string(column + 1));
    const auto* const types = Values<duckdb::Text>(chunk, 4);
    const auto* const starts = Values<double>(chunk, 5);
    const auto* const times = Values<double>(chunk, 6);
    for (uint64_t i = 0; i < count; ++i) {
      if (!std::isfinite(starts[i]) || !std::isfinite(times[i]) || times[i] < 0)
        return Fault("has an operation without a time, or with one below 0");
      rows->type.push_back(TypeOf(types[i], rows));
      rows->start_ns.push_back(starts[i] * kNsPerSecond);
      rows->took_ns.push_back(times[i] * kNsPerSecond);
    }
    Append(Values<uint32_t>(chunk, 0), count, &rows->replica);
    Append(Values<uint32_t>(chunk, 1), count, &rows->stage);
    Append(Values<int64_t>(chunk, 2), count, &rows->rank);
    Append(Values<int64_t>(chunk, 3), count, &rows->step);
    Append(Values<uint32_t>(chunk, 7), count, &rows->number);
    Append(Values<int32_t>(chunk, 8), count, &rows->chunk);
    Append(Values<int32_t>(chunk, 9), count, &rows->model_chunk);
    return {};
  }

  template <typename T>
  static void Append(const T* values, uint64_t count, std::vector<T>* to) {
    to->insert(to->end(), values, values + count);
  }

  uint32_t TypeOf(const duckdb::Text& text, OperationRows* rows) {
    constexpr size_t kInlined = sizeof text.prefix + sizeof text.rest;
    const std::string name(text.length <= kInlined ? text.prefix : text.bytes, text.length);
    const auto [known, is_new] =
        types_.try_emplace(name, static_cast<uint32_t>(rows->types.size()));
    if (is_new) rows->types.push_back(name);
    return known->second;
  }

  std::string shown_;
  const duckdb::Api* api_ = nullptr;
  duckdb::Handle database_ = nullptr, connection_ = nullptr;
  duckdb::Result answer_ = {};
  bool has_result_ = false;
  std::unordered_map<std::string, uint32_t> types_;
};

std::vector<StragglerPlace> PlacesOf(const PipelineSchedule& pipeline) {
  std::vector<StragglerPlace> places;
  for (const int64_t rank : pipeline.ranks) {
    StragglerPlace& place = places.emplace_back();
    place.name = "rank " + std::to_string(rank);
    place.rank = rank;
  }
  return places;
}

// Drops the rows of other steps.
Error KeepSteps(const std::pair<uint64_t, uint64_t>& steps, OperationRows* rows) {
  const auto [first, last] = steps;
  size_t kept = 0;
  const auto keep = [&](size_t i) {
    const auto copy = [&](auto* values) { (*values)[kept] = (*values)[i]; };
    copy(&rows->replica), copy(&rows->stage), copy(&rows->rank), copy(&rows->step);
    copy(&rows->type), copy(&rows->start_ns), copy(&rows->took_ns), copy(&rows->number);
    copy(&rows->chunk), copy(&rows->model_chunk);
    ++kept;
  };
  for (size_t i = 0; i < rows->rows(); ++i) {
    const int64_t step = rows->step[i];
    if (step >= 0 && static_cast<uint64_t>(step) >= first && static_cast<uint64_t>(step) <= last)
      keep(i);
  }
  const auto cut = [kept](auto* values) { values->resize(kept); };
  cut(&rows->replica), cut(&rows->stage), cut(&rows->rank), cut(&rows->step), cut(&rows->type);
  cut(&rows->start_ns), cut(&rows->took_ns), cut(&rows->number), cut(&rows->chunk);
  cut(&rows->model_chunk);
  if (kept != 0) return {};
  return {ErrorKind::kUsage, "No step has a number from " + std::to_string(first) + " to " +
                                 std::to_string(last) + "; see the column step of the file."};
}

}  // namespace

bool IsParquet(const InputPath& path) {
  const codec::OwnedFile file(codec::OpenInput(path));
  constexpr std::string_view kMagic = "PAR1";
  char bytes[4] = {};
  return file.fd() >= 0 && pread(file.fd(), bytes, sizeof bytes, 0) == sizeof bytes &&
         std::memcmp(bytes, kMagic.data(), sizeof bytes) == 0;
}

Error RunOperationTable(const InputPath& path, const std::string& library,
                        const PassOptions& options,
                        std::unique_ptr<google::protobuf::Message>* result) {
  const codec::OwnedFile file(codec::OpenInput(path));
  if (file.fd() < 0) return {ErrorKind::kUnreadable, path.path + " cannot be opened"};
  OperationRows rows;
  {
    ParquetReader reader(path.path);
    if (Error error = reader.Open(library)) return error;
    if (Error error = reader.Read(file.fd(), &rows)) return error;
  }
  const uint64_t all = rows.rows();
  if (options.steps && all != 0) {
    if (Error error = KeepSteps(*options.steps, &rows)) return error;
  }
  PipelineSchedule pipeline;
  if (Error error = MakePipelineSchedule(rows, &pipeline))
    return {error.kind, path.path + ": " + error.message};
  auto out = std::make_unique<results::Stragglers>();
  out->set_left_out_count(pipeline.left_out_steps);
  out->set_of_kernels(true);
  if (!FillStragglers(pipeline.schedule, PlacesOf(pipeline), out.get()).is_possible)
    return {ErrorKind::kUnreadable,
            path.path + ": operations of one step wait for each other in a circle"};
  FillStragglerMeta(path.path, all, out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
