// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See wire.h.

#include "analysis/import/wire.h"

#include <cstring>

namespace gpuprof::analysis::import {

const char* ReadHead(const char* at, const char* end, FieldHead* head) {
  uint64_t tag = 0;
  at = ReadVarint(at, end, &tag);
  if (at == nullptr || tag >> 3 == 0 || tag > 0xffffffff) return nullptr;
  head->number = static_cast<uint32_t>(tag >> 3);
  head->type = static_cast<WireType>(tag & 7);
  head->length = head->value = 0;
  switch (head->type) {
    case WireType::kVarint:
      return ReadVarint(at, end, &head->value);
    case WireType::kFixed64:
      head->length = 8;
      return at;
    case WireType::kFixed32:
      head->length = 4;
      return at;
    case WireType::kBytes:
      return ReadVarint(at, end, &head->length);
  }
  return nullptr;
}

bool WireReader::Next(WireField* field) {
  if (at_ == end_) return false;
  FieldHead head;
  const char* const value = ReadHead(at_, end_, &head);
  if (value == nullptr || head.length > static_cast<uint64_t>(end_ - value)) {
    is_broken_ = true;
    at_ = end_;
    return false;
  }
  field->number = head.number;
  field->type = head.type;
  field->value = head.value;
  field->bytes = {};
  if (head.type == WireType::kBytes) {
    field->bytes = {value, head.length};
  } else if (head.length != 0) {
    // Little-endian, as the machines that gpuprof runs on.
    std::memcpy(&field->value, value, head.length);
  }
  at_ = value + head.length;
  return true;
}

}  // namespace gpuprof::analysis::import
