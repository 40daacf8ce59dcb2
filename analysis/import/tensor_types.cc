// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See tensor_types.h.

#include "analysis/import/tensor_types.h"

#include <iterator>

namespace gpuprof::analysis::import {

std::string NameOfDataType(int64_t number) {
  static constexpr const char* kNames[] = {"INVALID",
                                           "float",
                                           "double",
                                           "int32",
                                           "uint8",
                                           "int16",
                                           "int8",
                                           "string",
                                           "complex64",
                                           "int64",
                                           "bool",
                                           "qint8",
                                           "quint8",
                                           "qint32",
                                           "bfloat16",
                                           "qint16",
                                           "quint16",
                                           "uint16",
                                           "complex128",
                                           "half",
                                           "resource",
                                           "variant",
                                           "uint32",
                                           "uint64",
                                           "float8_e5m2",
                                           "float8_e4m3fn",
                                           "float8_e4m3fnuz",
                                           "float8_e4m3b11fnuz",
                                           "float8_e5m2fnuz",
                                           "int4",
                                           "uint4"};
  constexpr int32_t kReference = 100;
  auto type = static_cast<int32_t>(number);
  const char* const suffix = type > kReference ? "_ref" : "";
  if (type > kReference) type -= kReference;
  const bool is_known = type >= 0 && type < static_cast<int32_t>(std::size(kNames));
  return (is_known ? kNames[type] : "unknown dtype enum (" + std::to_string(type) + ")") + suffix;
}

}  // namespace gpuprof::analysis::import
