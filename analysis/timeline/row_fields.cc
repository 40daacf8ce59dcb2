// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See row_fields.h.

#include "analysis/timeline/row_fields.h"

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <string_view>

#include "analysis/derived/detailed_op.h"
#include "analysis/model/names.h"
#include "analysis/model/table_columns.h"
#include "proto/columns.h"

namespace gpuprof::analysis::timeline {
namespace {

using proto::BitField;
using proto::Codes;
using proto::ColumnSpec;
using proto::ColumnType;

// Reads the values of one row: 64 bits each. Those of columns with a sign are extended.
struct RowValues {
  size_t row;
  std::vector<uint64_t> values;

  template <proto::ChunkKind kKind, typename... Columns>
  void Rows(const Columns&... columns) {
    (values.push_back(static_cast<uint64_t>(columns[row])), ...);
  }
  void Capture(const Column<uint16_t>&) {}
  void Weight(const Column<uint32_t>&) {}
};

class FieldWriter {
 public:
  explicit FieldWriter(const Process& process) : process_(&process) {}

  void Add(std::string_view name, std::string value) {
    if (value.empty()) return;
    std::string words(name);
    std::replace(words.begin(), words.end(), '_', ' ');
    fields_.push_back({std::move(words), std::move(value)});
  }
  void AddColumn(const ColumnSpec& column, uint64_t value) {
    if (column.type == ColumnType::kSignature) return AddSignature(static_cast<uint32_t>(value));
    if (column.fields == 0) return Add(column.name, Text(column.type, column.codes, value));
    for (int i = 0; i < column.fields; ++i) {
      const BitField& field = column.field[i];
      if (field.type != ColumnType::kDepth && field.type != ColumnType::kColor)
        Add(field.name, FieldText(field, field.Of(value)));
    }
  }
  std::vector<EventField> Take() { return std::move(fields_); }

 private:
  static std::string CodeText(Codes codes, uint64_t value) {
    const std::string_view word =
        value <= UINT32_MAX ? CodeName(codes, static_cast<uint32_t>(value)) : "";
    return word.empty() ? std::to_string(value) : std::string(word);
  }
  static std::string FieldText(const BitField& field, uint64_t bits) {
    switch (field.type) {
      case ColumnType::kEnum:
        return CodeText(field.codes, bits);
      case ColumnType::kFlag:
        return bits == 0 ? "no" : "yes";
      case ColumnType::kGpu:
        return bits == 0 ? "" : std::to_string(bits - 1);
      case ColumnType::kFlags: {
        std::string text;
        for (uint32_t bit = 0; bit < field.bits && bit < 32; ++bit) {
          const std::string_view word = CodeName(field.codes, uint32_t{1} << bit);
          if ((bits >> bit & 1) == 0 || word.empty()) continue;
          text.append(text.empty() ? "" : ", ").append(word);
        }
        return text;
      }
      default:
        return std::to_string(bits);
    }
  }
  std::string Text(ColumnType type, Codes codes, uint64_t value) const {
    switch (type) {
      case ColumnType::kString:
        return process_->String(static_cast<uint32_t>(value));
      case ColumnType::kAddress:
      case ColumnType::kPc: {
        char text[24] = "";
        if (value != 0) std::snprintf(text, sizeof text, "0x%" PRIx64, value);
        return text;
      }
      case ColumnType::kBytes:
      case ColumnType::kSignedBytes: {
        const auto bytes = static_cast<int64_t>(value);
        return bytes == -1 ? "" : std::to_string(bytes) + " bytes";
      }
      case ColumnType::kThread:
      case ColumnType::kGraph:
      case ColumnType::kGraphNode:
      case ColumnType::kCorrelation:
      case ColumnType::kResult:
        return value == 0 ? "" : std::to_string(value);
      case ColumnType::kSigned:
        return std::to_string(static_cast<int64_t>(value));
      case ColumnType::kEnum:
        return CodeText(codes, value);
      default:
        return std::to_string(value);
    }
  }
  void AddSignature(uint32_t id) {
    const auto known = process_->signatures.find(id);
    if (known == process_->signatures.end()) return;
    const proto::Signature& signature = known->second;
    const auto shape = [](const auto& numbers) {
      std::string text;
      for (const uint32_t each : numbers)
        text.append(text.empty() ? "" : " × ").append(std::to_string(each));
      return text;
    };
    Add("grid", shape(signature.grid()));
    Add("block", shape(signature.block()));
    if (std::any_of(signature.cluster().begin(), signature.cluster().end(),
                    [](uint32_t each) { return each > 1; }))
      Add("cluster", shape(signature.cluster()));
    Add("registers a thread", std::to_string(signature.registers()));
    Add("static shared memory", std::to_string(signature.static_shared_bytes()) + " bytes");
    Add("dynamic shared memory", std::to_string(signature.dynamic_shared_bytes()) + " bytes");
    Add("device", std::to_string(signature.device()));
  }

  const Process* process_;
  std::vector<EventField> fields_;
};

}  // namespace

std::vector<EventField> FieldsOf(const Process& process, const Track& track, proto::ChunkKind kind,
                                 size_t row) {
  RowValues row_values{row, {}};
  const proto::TableSpec* table = proto::FindTable(kind);
  if (table == nullptr || !ReadTable(track, kind, &row_values)) return {};
  FieldWriter writer(process);
  // The first column is the end. The third one names the row, mostly.
  constexpr size_t kName = 2;
  for (size_t i = 1; i < row_values.values.size(); ++i) {
    const ColumnSpec& column = table->column[i];
    if (kind == proto::ChunkKind::kPython && i > kName) continue;  // the caller follows
    if (kind == proto::ChunkKind::kOp && i == proto::op_column::kSequence) {
      // The table has one more: 0 is none.
      const uint64_t sequence = row_values.values[i];
      if (sequence != 0) writer.Add("sequence", std::to_string(sequence - 1));
      continue;
    }
    const bool is_name =
        i == kName && (column.type == ColumnType::kString || column.type == ColumnType::kFunction);
    if (is_name || column.type == ColumnType::kDuration || column.type == ColumnType::kStack)
      continue;
    writer.AddColumn(column, row_values.values[i]);
  }
  if (kind == proto::ChunkKind::kPython && track.python.parent[row] < track.python.rows())
    writer.Add("called by", process.String(track.python.name[track.python.parent[row]]));
  return writer.Take();
}

std::vector<EventField> DetailFieldsOf(const Process& process, const Track& track,
                                       proto::ChunkKind kind, size_t row, RowDetails* details) {
  FieldWriter writer(process);
  if (kind == proto::ChunkKind::kOp) {
    const RowDetail& detail = details->Of(DetailOf(track.op, row));
    writer.Add("input_shapes", detail.shapes);
    writer.Add("input_types", detail.types);
  } else if (kind == proto::ChunkKind::kKernel) {
    const uint32_t id = DetailOf(track.kernel, row);
    if (id == 0) return {};
    const RowDetail& detail = details->Of(id);
    const auto signature = process.signatures.find(track.kernel.signature[row]);
    const bool is_known = signature != process.signatures.end();
    writer.Add("operation",
               OpNameOf(detail, is_known ? process.String(signature->second.name()) : ""));
    writer.Add("framework scope", detail.tf_op);
    writer.Add("HLO module", detail.hlo_module);
    writer.Add("HLO category", detail.hlo_category);
  }
  return writer.Take();
}

}  // namespace gpuprof::analysis::timeline
