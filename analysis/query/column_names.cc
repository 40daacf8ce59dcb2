// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/query/column_names.h"

namespace gpuprof::analysis {

using proto::ColumnType;

ValueType SqlTypeOf(ColumnType type) {
  switch (type) {
    case ColumnType::kTime:
    case ColumnType::kDuration:
    case ColumnType::kSignedBytes:
    case ColumnType::kSigned:
    case ColumnType::kThread:
      return ValueType::kSigned;
    case ColumnType::kEnum:
    case ColumnType::kFlags:
    case ColumnType::kDevice:
      return ValueType::kText;
    case ColumnType::kString:
    case ColumnType::kSignature:
    case ColumnType::kFunction:
    case ColumnType::kCounter:
      return ValueType::kId;
    case ColumnType::kFlag:
      return ValueType::kBoolean;
    default:
      return ValueType::kUnsigned;
  }
}

const char* SqlUnitOf(ColumnType type) {
  switch (type) {
    case ColumnType::kTime:
    case ColumnType::kDuration:
      return "ns";
    case ColumnType::kBytes:
    case ColumnType::kSignedBytes:
      return "bytes";
    default:
      return "";
  }
}

std::string SqlNameOf(const char* name, ColumnType type) {
  const std::string plain = name;
  switch (type) {
    case ColumnType::kTime:
      return plain == "time" ? "time_ns" : plain + "_ns";
    case ColumnType::kDuration:
      return plain == "duration" ? "dur_ns" : plain + "_ns";
    case ColumnType::kBytes:
    case ColumnType::kSignedBytes:
      return plain == "bytes" || plain.ends_with("_bytes") ? plain : plain + "_bytes";
    case ColumnType::kString:
      return plain + "_id";
    case ColumnType::kSignature:
    case ColumnType::kFunction:
    case ColumnType::kCounter:
      return "name_id";
    default:
      return plain;
  }
}

}  // namespace gpuprof::analysis
