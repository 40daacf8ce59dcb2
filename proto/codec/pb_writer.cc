// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Protobuf's wire format, the four shapes that trace.proto needs. Drain thread and recovery;
// allocates through the vector only.

#include <cstring>

#include "proto/codec/tables.h"
#include "proto/codec/varint.h"

namespace gpuprof::codec {
namespace {

enum : uint32_t { kWireVarint = 0, kWireFixed64 = 1, kWireBytes = 2 };

}  // namespace

void PbWriter::RawVarint(uint64_t value) {
  uint8_t bytes[kMaxVarintBytes];
  uint8_t* end = PutVarint(bytes, value);
  out_->insert(out_->end(), bytes, end);
}

void PbWriter::Tag(int field, uint32_t wire_type) {
  RawVarint(static_cast<uint32_t>(field) << 3 | wire_type);
}

void PbWriter::Varint(int field, uint64_t value) {
  Tag(field, kWireVarint);
  RawVarint(value);
}

void PbWriter::Signed(int field, int64_t value) {
  Varint(field, ZigZag(static_cast<uint64_t>(value)));
}

void PbWriter::Fixed64(int field, uint64_t value) {
  Tag(field, kWireFixed64);
  uint8_t bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out_->insert(out_->end(), bytes, bytes + sizeof value);
}

void PbWriter::Bytes(int field, const void* data, uint64_t bytes) {
  Tag(field, kWireBytes);
  RawVarint(bytes);
  const uint8_t* from = static_cast<const uint8_t*>(data);
  out_->insert(out_->end(), from, from + bytes);
}

uint64_t PbWriter::Begin(int field) {
  Tag(field, kWireBytes);
  return out_->size();
}

// The length goes in front once it is known; what was written moves up by its one to five bytes.
void PbWriter::End(uint64_t mark) {
  uint8_t bytes[kMaxVarintBytes];
  uint8_t* end = PutVarint(bytes, out_->size() - mark);
  out_->insert(out_->begin() + static_cast<std::ptrdiff_t>(mark), bytes, end);
}

}  // namespace gpuprof::codec
