// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Schemas and enumerations of NVTX payloads, as strings of a trace have them
// (proto/nvtx_payload.h). The bytes are foreign: each number is bounded before it is used.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/nvtx_payload.h"

namespace gpuprof::analysis {

struct SchemaEntry {
  uint64_t flags;
  uint64_t type;
  uint64_t detail;
  uint64_t offset;
  std::string name;
};

struct NamedNumber {
  uint64_t number;
  bool is_flag;
  std::string name;
};

struct PayloadDefinition {
  uint32_t string_id = 0;
  proto::nvtx::DefinitionHeader header = {};
  std::vector<SchemaEntry> entries;  // of a schema
  std::vector<NamedNumber> numbers;  // of an enumeration

  bool is_enumeration() const { return header.type == proto::nvtx::kEnumeration; }
  proto::nvtx::Extent extent() const { return {header.bytes, header.align}; }
};

class PayloadDefinitions {
 public:
  // Adds a string of the trace, if the string is a definition.
  void Add(uint32_t string_id, std::string_view bytes);

  // Returns the definition of the string; null: the string is not a definition.
  const PayloadDefinition* Find(uint32_t string_id) const;
  // Returns the definition that an entry of `from` names as its type; null: it is not known. An id
  // may be registered again. The last definition before `from` counts, else the first one after
  // `from`.
  const PayloadDefinition* Named(uint64_t type, const PayloadDefinition& from) const;

 private:
  std::map<uint32_t, PayloadDefinition> by_string_;
  std::map<std::pair<uint32_t, uint64_t>, std::vector<uint32_t>> by_id_;  // string ids, ascending
};

}  // namespace gpuprof::analysis
