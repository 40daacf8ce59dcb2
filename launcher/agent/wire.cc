// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See wire.h.

#include "launcher/agent/wire.h"

namespace gpuprof::launcher {
namespace {

enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2, kFixed32 = 5 };
constexpr int kVarintBytes = 10;

// Takes a number from the front. Returns its bytes; 0: it is cut or too long.
size_t TakeVarint(std::string_view bytes, uint64_t* value) {
  *value = 0;
  for (size_t i = 0; i < bytes.size() && i < kVarintBytes; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    *value |= uint64_t{byte & 0x7fu} << (7 * i);
    if (byte < 0x80) return i + 1;
  }
  return 0;
}

void AddVarint(uint64_t value, std::string* message) {
  for (; value >= 0x80; value >>= 7) message->push_back(static_cast<char>(value | 0x80));
  message->push_back(static_cast<char>(value));
}

void AddTag(uint32_t field, WireType type, std::string* message) {
  AddVarint(uint64_t{field} << 3 | type, message);
}

// Returns whether a tag names a field.
bool IsField(uint64_t tag) { return tag >> 3 != 0 && tag >> 3 <= UINT32_MAX >> 3; }

}  // namespace

bool WireReader::Fail() {
  is_broken_ = true;
  rest_ = {};
  return false;
}

bool WireReader::TakeFixed(size_t bytes) {
  if (rest_.size() < bytes) return Fail();
  for (size_t i = 0; i < bytes; ++i)
    number_ |= uint64_t{static_cast<unsigned char>(rest_[i])} << (8 * i);
  rest_.remove_prefix(bytes);
  return true;
}

bool WireReader::Next() {
  bytes_ = {};
  number_ = 0;
  if (rest_.empty()) return false;
  uint64_t tag = 0;
  const size_t size = TakeVarint(rest_, &tag);
  if (size == 0 || !IsField(tag)) return Fail();
  rest_.remove_prefix(size);
  field_ = static_cast<uint32_t>(tag >> 3);
  is_bytes_ = (tag & 7) == kLengthDelimited;
  if ((tag & 7) == kFixed64) return TakeFixed(sizeof(uint64_t));
  if ((tag & 7) == kFixed32) return TakeFixed(sizeof(uint32_t));
  if ((tag & 7) != kVarint && !is_bytes_) return Fail();
  const size_t more = TakeVarint(rest_, &number_);
  if (more == 0) return Fail();
  rest_.remove_prefix(more);
  if (!is_bytes_) return true;
  const uint64_t length = number_;
  number_ = 0;
  if (length > rest_.size()) return Fail();
  bytes_ = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

bool ReadWireHead(std::string_view bytes, WireHead* head) {
  uint64_t tag = 0;
  const size_t size = TakeVarint(bytes, &tag);
  if (size == 0 || !IsField(tag)) return false;
  head->field = static_cast<uint32_t>(tag >> 3);
  head->is_bytes = (tag & 7) == kLengthDelimited;
  bytes.remove_prefix(size);
  if ((tag & 7) == kFixed64 || (tag & 7) == kFixed32) {
    const size_t fixed = (tag & 7) == kFixed64 ? sizeof(uint64_t) : sizeof(uint32_t);
    head->length = 0;
    head->size = size + fixed;
    return bytes.size() >= fixed;
  }
  if ((tag & 7) != kVarint && !head->is_bytes) return false;
  const size_t more = TakeVarint(bytes, &head->length);
  head->size = size + more;
  return more != 0;
}

void AddNumber(uint32_t field, uint64_t value, std::string* message) {
  if (value == 0) return;
  AddTag(field, kVarint, message);
  AddVarint(value, message);
}

void AddText(uint32_t field, std::string_view text, std::string* message) {
  if (!text.empty()) AddBytes(field, text, message);
}

void AddBytes(uint32_t field, std::string_view bytes, std::string* message) {
  AddLength(field, bytes.size(), message);
  message->append(bytes);
}

void AddLength(uint32_t field, uint64_t length, std::string* message) {
  AddTag(field, kLengthDelimited, message);
  AddVarint(length, message);
}

}  // namespace gpuprof::launcher
