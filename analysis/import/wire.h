// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Reads messages of protobuf field by field, without building them. Any bytes are safe: a
// message ends where a field cannot be read. Pure functions, any thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace gpuprof::analysis::import {

enum class WireType : uint8_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

// A tag, and a length if the field has one, take no more bytes.
inline constexpr size_t kMostHeadBytes = 20;

// Reads a varint of at most ten bytes. Null: the bytes end within it, or it has more.
inline const char* ReadVarint(const char* at, const char* end, uint64_t* value) {
  if (at != end && static_cast<unsigned char>(*at) < 0x80) {
    *value = static_cast<unsigned char>(*at);
    return at + 1;
  }
  uint64_t sum = 0;
  for (int shift = 0; shift < 70 && at != end; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    sum |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) {
      *value = sum;
      return at;
    }
  }
  return nullptr;
}

// What stands before the value of a field.
struct FieldHead {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t length = 0;  // of the value behind the head; of a varint: 0, it is in `value`
  uint64_t value = 0;
};

// Reads any head, for ReadHead().
inline const char* ReadLongHead(const char* at, const char* end, FieldHead* head) {
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

// Reads the head of a field; a varint with its value. Null: these bytes are not a field.
[[gnu::always_inline]] inline const char* ReadHead(const char* at, const char* end,
                                                   FieldHead* head) {
  // Nearly all messages in messages are short.
  constexpr uint8_t kLong = 0x80, kTypeBits = 3;
  if (end - at >= 2) {
    const auto tag = static_cast<uint8_t>(at[0]), length = static_cast<uint8_t>(at[1]);
    const bool is_bytes = (tag & ((1 << kTypeBits) - 1)) == static_cast<int>(WireType::kBytes);
    if (is_bytes && (tag | length) < kLong && tag >> kTypeBits != 0) {
      head->number = tag >> kTypeBits;
      head->type = WireType::kBytes;
      head->length = length;
      head->value = 0;
      return at + 2;
    }
  }
  return ReadLongHead(at, end, head);
}

// A field with its value.
struct WireField {
  uint32_t number = 0;
  WireType type = WireType::kVarint;
  uint64_t value = 0;      // of numbers
  std::string_view bytes;  // of kBytes

  bool Is(uint32_t wanted, WireType wanted_type) const {
    return number == wanted && type == wanted_type;
  }
};

// Walks the fields of a message that is in memory.
class WireReader {
 public:
  explicit WireReader(std::string_view message)
      : at_(message.data()), end_(message.data() + message.size()) {}
  // Reads the next field. False: the message ends here, or cannot be read further.
  bool Next(WireField* field) {
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
    const bool is_bytes = head.type == WireType::kBytes;
    field->bytes = {value, static_cast<size_t>(is_bytes ? head.length : 0)};
    if (!is_bytes && head.length != 0) {
      // Little-endian, as the machines that gpuprof runs on.
      std::memcpy(&field->value, value, head.length);
    }
    at_ = value + head.length;
    return true;
  }
  // Returns whether bytes were left that are not a field.
  bool is_broken() const { return is_broken_; }

 private:
  const char* at_;
  const char* end_;
  bool is_broken_ = false;
};

}  // namespace gpuprof::analysis::import
