// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Walks the fields of one protobuf message in memory. The reader's and recovery's; any thread;
// hostile bytes end the walk, and nothing is allocated or read past the message.

#pragma once

#include <cstdint>
#include <cstring>

#include "proto/codec/varint.h"

namespace gpuprof::codec {

struct PbField {
  int number = 0;
  int wire_type = 0;              // 0 varint, 1 fixed64, 2 bytes, 5 fixed32
  uint64_t value = 0;             // of the numeric types
  const uint8_t* data = nullptr;  // of bytes
  uint64_t bytes = 0;
};

class PbReader {
 public:
  PbReader(const uint8_t* data, uint64_t bytes) : at_(data), end_(data + bytes) {}

  // False: the end, or nonsense (then ok() is false).
  bool Next(PbField* field) {
    if (at_ == end_) return false;
    if (Read(field)) return true;
    ok_ = false;
    at_ = end_;
    return false;
  }
  bool ok() const { return ok_; }

 private:
  bool Read(PbField* field) {
    uint64_t tag = 0;
    at_ = GetVarint(at_, end_, &tag);
    if (at_ == nullptr || tag >> 3 == 0 || tag >> 32 != 0) return false;
    field->number = static_cast<int>(tag >> 3);
    field->wire_type = static_cast<int>(tag & 7);
    field->value = 0;
    switch (field->wire_type) {
      case 0:
        at_ = GetVarint(at_, end_, &field->value);
        return at_ != nullptr;
      case 1:
        return Fixed(&field->value, 8);
      case 2:
        at_ = GetVarint(at_, end_, &field->bytes);
        if (at_ == nullptr || field->bytes > static_cast<uint64_t>(end_ - at_)) return false;
        field->data = at_;
        at_ += field->bytes;
        return true;
      case 5:
        return Fixed(&field->value, 4);
      default:
        return false;
    }
  }

  bool Fixed(uint64_t* value, int bytes) {
    if (end_ - at_ < bytes) return false;
    std::memcpy(value, at_, static_cast<size_t>(bytes));
    at_ += bytes;
    return true;
  }

  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace gpuprof::codec
