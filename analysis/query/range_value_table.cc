// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See range_value_table.h.

#include "analysis/query/range_value_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/model/names.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {
namespace {

enum class ValuePart : uint8_t {
  kTime,
  kKind,
  kDepth,
  kDomain,
  kName,
  kNumber,
  kWhole,
  kText,
  kHost,
  kRank,
  kPid,
  kTid,
  kTrack,
};

// The place of a track with values.
struct ValueTrack {
  size_t process = 0, track = 0;
};

// Up to a chunk of rows, as they are in the trace.
struct ValueRows {
  static constexpr size_t kMost = QueryChunk::kRows;

  ValueRows(const RangeValueTable& table, size_t first, size_t rows) : count(rows) {
    table.end_ns.Copy(first, count, times.data());
    table.operation.Copy(first, count, operations.data());
    table.domain.Copy(first, count, domains.data());
    table.name.Copy(first, count, names.data());
    table.value.Copy(first, count, values.data());
  }

  size_t count;
  std::array<int64_t, kMost> times;
  std::array<uint32_t, kMost> operations, domains, names;
  std::array<uint64_t, kMost> values;
};

std::optional<double> NumberOf(RangeValue type, uint64_t value) {
  switch (type) {
    case RangeValue::kUint64:
      return static_cast<double>(value);
    case RangeValue::kInt64:
      return static_cast<double>(static_cast<int64_t>(value));
    case RangeValue::kDouble:
      return std::bit_cast<double>(value);
    default:
      return std::nullopt;
  }
}

// None: it is no whole number of 63 bits and a sign.
std::optional<int64_t> WholeNumberOf(RangeValue type, uint64_t value) {
  const auto whole = static_cast<int64_t>(value);
  const bool is_whole =
      type == RangeValue::kInt64 ||
      ((type == RangeValue::kUint64 || type == RangeValue::kAddress) && whole >= 0);
  return is_whole ? std::optional(whole) : std::nullopt;
}

class ValueScan : public TableScan {
 public:
  ValueScan(const TraceNames& names, const std::vector<ValueTrack>& tracks,
            std::vector<ValuePart> parts)
      : names_(names), tracks_(tracks), parts_(std::move(parts)) {}

  size_t Next(Share* share, QueryChunk* chunk) override {
    for (; share->part < tracks_.size(); ++share->part, share->row = 0) {
      const ValueTrack& place = tracks_[share->part];
      const RangeValueTable& table = names_.process(place.process).tracks[place.track].range_value;
      const size_t count = std::min(ValueRows::kMost, table.rows() - share->row);
      if (count == 0) continue;
      const ValueRows rows(table, share->row, count);
      for (size_t i = 0; i < parts_.size(); ++i) Fill(parts_[i], i, place, rows, chunk);
      share->row += count;
      return count;
    }
    return 0;
  }

 private:
  // Sets each row to `of(row)`; none: the value is null.
  template <typename T, typename Of>
  static void Set(size_t place, size_t count, QueryChunk* chunk, const Of& of) {
    T* const to = chunk->Values<T>(place);
    for (size_t row = 0; row < count; ++row) {
      const auto value = of(row);
      if (value) {
        to[row] = static_cast<T>(*value);
      } else {
        chunk->SetNull(place, row);
      }
    }
  }

  void Fill(ValuePart part, size_t place, const ValueTrack& at, const ValueRows& rows,
            QueryChunk* chunk) const {
    const Process& process = names_.process(at.process);
    const Track& track = process.tracks[at.track];
    const TraceNames::OfProcess& of = names_.of(at.process);
    const auto type = [&](size_t row) { return RangeValueOf(rows.operations[row]); };
    const auto text = [&](uint32_t id) { return names_.Text(of.strings.Find(id)); };
    const auto set_text = [&](const auto& make) {
      Set<duckdb::Text>(place, rows.count, chunk, make);
    };
    switch (part) {
      case ValuePart::kTime:
        return Set<int64_t>(place, rows.count, chunk,
                            [&](size_t row) { return std::optional(rows.times[row]); });
      case ValuePart::kKind:
        return set_text([&](size_t row) {
          const proto::RangeKind kind = proto::RangeKindOf(rows.operations[row]);
          return std::optional(TextValue(RangeKindName(static_cast<uint32_t>(kind))));
        });
      case ValuePart::kDepth:
        return Set<uint64_t>(place, rows.count, chunk, [&](size_t row) {
          return std::optional(proto::OpDepthOf(rows.operations[row]));
        });
      case ValuePart::kDomain:
        return Set<uint32_t>(place, rows.count, chunk, [&](size_t row) {
          return std::optional(of.strings.Find(rows.domains[row]));
        });
      case ValuePart::kName:
        return Set<uint32_t>(place, rows.count, chunk, [&](size_t row) {
          return std::optional(of.strings.Find(rows.names[row]));
        });
      case ValuePart::kNumber:
        return Set<double>(place, rows.count, chunk,
                           [&](size_t row) { return NumberOf(type(row), rows.values[row]); });
      case ValuePart::kWhole:
        return Set<int64_t>(place, rows.count, chunk,
                            [&](size_t row) { return WholeNumberOf(type(row), rows.values[row]); });
      case ValuePart::kText:
        return set_text([&](size_t row) -> std::optional<duckdb::Text> {
          if (type(row) != RangeValue::kText) return std::nullopt;
          return TextValue(text(static_cast<uint32_t>(rows.values[row])));
        });
      case ValuePart::kHost:
        return set_text([&](size_t) { return std::optional(TextValue(names_.Text(of.host))); });
      case ValuePart::kRank:
        return Set<uint64_t>(place, rows.count, chunk, [&](size_t) { return of.rank; });
      case ValuePart::kPid:
        return Set<int64_t>(place, rows.count, chunk,
                            [&](size_t) { return std::optional(process.pid); });
      case ValuePart::kTid:
        return Set<int64_t>(place, rows.count, chunk,
                            [&](size_t) { return std::optional(track.tid); });
      case ValuePart::kTrack:
        return Set<uint64_t>(place, rows.count, chunk, [&](size_t) {
          return std::optional(TrackNumber(at.process, at.track));
        });
    }
  }

  const TraceNames& names_;
  const std::vector<ValueTrack>& tracks_;
  std::vector<ValuePart> parts_;
};

class RangeValueQuery : public QueryTable {
 public:
  explicit RangeValueQuery(const TraceNames& names)
      : QueryTable("range_values", "values of ranges and marks: extended payloads of NVTX, NCCL"),
        names_(names) {
    Add(ValuePart::kTime, {"time_ns", ValueType::kSigned, "ns"});
    Add(ValuePart::kKind, {"kind", ValueType::kText});
    Add(ValuePart::kDepth, {"depth", ValueType::kUnsigned});
    Add(ValuePart::kDomain, {"domain_id", ValueType::kId, "", "names"});
    Add(ValuePart::kName, {"name_id", ValueType::kId, "", "names"});
    Add(ValuePart::kNumber, {"number", ValueType::kReal});
    Add(ValuePart::kWhole, {"whole", ValueType::kSigned});
    Add(ValuePart::kText, {"text", ValueType::kText});
    Add(ValuePart::kHost, {"host", ValueType::kText});
    Add(ValuePart::kRank, {"rank", ValueType::kUnsigned});
    Add(ValuePart::kPid, {"pid", ValueType::kSigned});
    Add(ValuePart::kTid, {"tid", ValueType::kSigned});
    Add(ValuePart::kTrack, {"track", ValueType::kUnsigned});
    std::vector<size_t> all(names.places());
    std::iota(all.begin(), all.end(), size_t{0});
    Choose(all);
  }

  uint64_t rows() const override { return rows_; }
  bool IsOfEvents() const override { return true; }
  void Choose(const std::vector<size_t>& processes) override {
    tracks_.clear();
    rows_ = 0;
    for (const size_t process : processes) {
      const std::vector<Track>& tracks = names_.process(process).tracks;
      for (size_t track = 0; track < tracks.size(); ++track) {
        const size_t rows = tracks[track].range_value.rows();
        if (rows != 0) tracks_.push_back({process, track});
        rows_ += rows;
      }
    }
  }
  Error Begin(const std::vector<size_t>& columns, std::unique_ptr<TableScan>* scan) override {
    std::vector<ValuePart> parts;
    for (const size_t column : columns) parts.push_back(parts_[column]);
    *scan = std::make_unique<ValueScan>(names_, tracks_, std::move(parts));
    return {};
  }

 private:
  void Add(ValuePart part, QueryColumn column) {
    columns_.push_back(std::move(column));
    parts_.push_back(part);
  }

  const TraceNames& names_;
  std::vector<ValuePart> parts_;
  std::vector<ValueTrack> tracks_;
  uint64_t rows_ = 0;
};

}  // namespace

std::unique_ptr<QueryTable> MakeRangeValueTable(const TraceNames& names) {
  return std::make_unique<RangeValueQuery>(names);
}

}  // namespace gpuprof::analysis
