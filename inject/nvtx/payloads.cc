// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nvtx/payloads.h"

#include <string.h>

#include "inject/nvtx/schemas.h"

namespace gpuprof::inject::nvtx {
namespace {

using proto::RangeValue;
using ranges::Text;
using ranges::Value;

constexpr uint64_t kMostPayloads = 16;

uint64_t UnsignedAt(const char* at, uint32_t bytes) {
  uint64_t bits = 0;  // little-endian, as everything here is
  memcpy(&bits, at, bytes);
  return bits;
}

uint64_t SignedAt(const char* at, uint32_t bytes) {
  const uint32_t unused = 64 - 8 * bytes;
  return static_cast<uint64_t>(static_cast<int64_t>(UnsignedAt(at, bytes) << unused) >> unused);
}

uint64_t DoubleAt(const char* at, uint32_t bytes) {
  uint64_t bits = UnsignedAt(at, bytes);
  if (bytes == sizeof(float)) {
    float single;
    memcpy(&single, at, sizeof(single));
    const double wide = static_cast<double>(single);
    memcpy(&bits, &wide, sizeof(bits));
  }
  return bits;
}

class Decoder {
 public:
  Decoder(Text* domain, bool wants_message, DecodedPayload* to)
      : domain_(domain), wants_message_(wants_message), to_(to) {}

  void Add(const PayloadData& payload) {
    if (payload.schema_id == kReferencedPayload) return;  // others may point into it
    const char* begin = static_cast<const char*>(payload.payload);
    if (begin == nullptr) {
      ++to_->lost;
      return;
    }
    if (payload.schema_id < kFirstSchemaId) return AddSingle(payload, begin);
    const Definition* schema = FindDefinition(domain_, payload.schema_id);
    const uint64_t size = schema != nullptr ? SizeOf(payload, *schema) : 0;
    if (size == 0) {
      ++to_->lost;
      return;
    }
    if (schema->is_enum) return AddField(EnumField(*schema), begin, size);
    for (uint32_t i = 0; i < schema->count; ++i) AddField(schema->fields()[i], begin, size);
  }

 private:
  static Field EnumField(const Definition& definition) {
    return {nullptr, definition.id, 0, definition.bytes, Reading::kById, false};
  }

  // The smaller of what event and schema say; 0: neither does.
  static uint64_t SizeOf(const PayloadData& payload, const Definition& schema) {
    const uint64_t told = payload.size != kUnknownSize ? payload.size : schema.bytes;
    return schema.bytes != 0 && schema.bytes < told ? schema.bytes : told;
  }

  void AddSingle(const PayloadData& payload, const char* begin) {
    const Field field = FieldOfType(payload.schema_id);
    const bool is_told = payload.size != kUnknownSize;
    // A string without a size ends with its zero.
    const uint64_t whole =
        field.reading == Reading::kTerminatedText ? proto::kMostNameBytes : field.bytes;
    AddField(field, begin, is_told ? payload.size : whole);
  }

  void AddField(const Field& field, const char* begin, uint64_t size) {
    Value value = {field.name, nullptr, 0, RangeValue::kUint64};
    if (!Read(field, begin, size, &value)) {
      ++to_->lost;
      return;
    }
    if (field.is_message && wants_message_ && to_->message == nullptr && value.text != nullptr) {
      to_->message = value.text;
      return;
    }
    if (value.name == nullptr) value.name = ranges::Intern(ranges::Ascii("payload"));
    if (value.name == nullptr || to_->values.count == ranges::kMostValues) {
      ++to_->lost;
      return;
    }
    to_->values.value[to_->values.count++] = value;
  }

  bool Read(const Field& field, const char* begin, uint64_t size, Value* value) const {
    if (field.reading == Reading::kTerminatedText) {
      if (field.offset >= size) return false;
      return TextAt(begin + field.offset, size - field.offset, value);
    }
    uint32_t bytes = field.bytes;
    const Definition* named = nullptr;
    if (field.reading == Reading::kById) {
      named = FindDefinition(domain_, field.type);
      if (named == nullptr || !named->is_enum) return false;
      bytes = named->bytes;
    }
    if (bytes == 0 || field.offset > size || bytes > size - field.offset) return false;
    const char* at = begin + field.offset;
    switch (field.reading) {
      case Reading::kUnsigned:
        value->bits = UnsignedAt(at, bytes);
        return true;
      case Reading::kSigned:
        value->type = RangeValue::kInt64;
        value->bits = SignedAt(at, bytes);
        return true;
      case Reading::kFloating:
        value->type = RangeValue::kDouble;
        value->bits = DoubleAt(at, bytes);
        return true;
      case Reading::kAddress:
        value->type = RangeValue::kAddress;
        value->bits = UnsignedAt(at, bytes);
        return true;
      case Reading::kText:
        return TextAt(at, bytes, value);
      case Reading::kRegistered:
        return RegisteredAt(UnsignedAt(at, bytes), value);
      case Reading::kById:
        ReadEnum(*named, at, value);
        return true;
      default:
        return false;
    }
  }

  static bool TextAt(const char* at, uint64_t most, Value* value) {
    if (most > proto::kMostNameBytes) most = proto::kMostNameBytes;
    const auto bytes = static_cast<uint32_t>(strnlen(at, most));
    value->type = RangeValue::kText;
    value->text = ranges::InternValue(at, bytes);
    return value->text != nullptr || bytes == 0;
  }

  static bool RegisteredAt(uint64_t handle, Value* value) {
    value->type = RangeValue::kText;
    value->text = ranges::RegisteredText(reinterpret_cast<const void*>(handle));
    return value->text != nullptr || handle == 0;
  }

  // By its name, else as the number that it is.
  static void ReadEnum(const Definition& named, const char* at, Value* value) {
    value->type = RangeValue::kInt64;
    value->bits = SignedAt(at, named.bytes);
    const uint32_t unused = 64 - 8 * named.bytes;
    for (uint32_t i = 0; i < named.count; ++i) {
      const NamedNumber& each = named.numbers()[i];
      if (each.name == nullptr || (each.number ^ value->bits) << unused != 0) continue;
      value->type = RangeValue::kText;
      value->text = each.name;
      return;
    }
  }

  Text* domain_;
  bool wants_message_;
  DecodedPayload* to_;
};

}  // namespace

void DecodePayloads(Text* domain, const PayloadData* payloads, uint64_t count, bool wants_message,
                    DecodedPayload* decoded) noexcept {
  decoded->values.count = 0;
  decoded->message = nullptr;
  decoded->lost = 0;
  if (payloads == nullptr) {
    decoded->lost = count != 0 ? 1 : 0;
    return;
  }
  Decoder decoder(domain, wants_message, decoded);
  for (uint64_t i = 0; i < count && i < kMostPayloads; ++i) decoder.Add(payloads[i]);
  if (count > kMostPayloads) ++decoded->lost;
}

}  // namespace gpuprof::inject::nvtx
