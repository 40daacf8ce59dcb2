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

uint64_t BitsOf(double wide) {
  uint64_t bits;
  memcpy(&bits, &wide, sizeof(bits));
  return bits;
}

// The bits of a half as those of the double of the same value: 5 bits of exponent, of which 15 is
// 0, become 11, of which 1023 is; 10 of fraction become 52.
uint64_t WidenedHalf(uint64_t bits) {
  const uint64_t sign = bits >> 15 << 63, exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0)
    return sign | BitsOf(static_cast<double>(static_cast<int>(fraction)) * 0x1p-24);
  return sign | (exponent == 0x1f ? uint64_t{0x7ff} : exponent + 1023 - 15) << 52 | fraction << 42;
}

uint64_t DoubleAt(const char* at, uint32_t bytes) {
  const uint64_t bits = UnsignedAt(at, bytes);
  if (bytes == sizeof(uint16_t)) return WidenedHalf(bits);
  if (bytes != sizeof(float)) return bits;
  float single;
  memcpy(&single, at, sizeof(single));
  return BitsOf(static_cast<double>(single));
}

// The upper half of a float.
uint64_t BrainFloatAt(const char* at) {
  const auto bits = static_cast<uint32_t>(UnsignedAt(at, sizeof(uint16_t))) << 16;
  float single;
  memcpy(&single, &bits, sizeof(single));
  return BitsOf(static_cast<double>(single));
}

// UTF-8 of UTF-16 or UTF-32, to its zero, the end of its `size` bytes, or what fits.
uint32_t Utf8Of(const char* at, uint64_t size, uint32_t unit, char* to, uint32_t capacity) {
  uint32_t bytes = 0;
  for (; size >= unit; at += unit, size -= unit) {
    auto character = static_cast<uint32_t>(UnsignedAt(at, unit));
    if (character == 0) break;
    if (unit == 2 && size >= 4 && character >> 10 == 0xd800 >> 10) {
      const auto low = static_cast<uint32_t>(UnsignedAt(at + 2, 2));
      if (low >> 10 == 0xdc00 >> 10) {
        character = 0x10000 + ((character & 0x3ff) << 10) + (low & 0x3ff);
        at += 2;
        size -= 2;
      }
    }
    if (!ranges::AppendUtf8(character, to, capacity, &bytes)) break;
  }
  return bytes;
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
    // Elements of arrays last: they may be many, and nothing else is left out for them.
    for (const bool are_elements : {false, true}) {
      for (uint32_t i = 0; i < schema->count; ++i) {
        const Field& field = schema->fields()[i];
        if (field.is_element == are_elements) AddField(field, begin, size);
      }
    }
  }

 private:
  static Field EnumField(const Definition& definition) {
    return {nullptr, definition.id, 0, definition.bytes, Reading::kById, 1, false, false};
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
      return TextAt(begin + field.offset, size - field.offset, field.unit, value);
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
      case Reading::kBrainFloating:
        value->type = RangeValue::kDouble;
        value->bits = BrainFloatAt(at);
        return true;
      case Reading::kAddress:
        value->type = RangeValue::kAddress;
        value->bits = UnsignedAt(at, bytes);
        return true;
      case Reading::kText:
        return TextAt(at, bytes, field.unit, value);
      case Reading::kRegistered:
        return RegisteredAt(UnsignedAt(at, bytes), value);
      case Reading::kById:
        ReadEnum(*named, at, value);
        return true;
      default:
        return false;
    }
  }

  static bool TextAt(const char* at, uint64_t most, uint32_t unit, Value* value) {
    if (unit > 1) {
      char text[proto::kMostNameBytes];
      return SetText(text, Utf8Of(at, most, unit, text, sizeof(text)), value);
    }
    if (most > proto::kMostNameBytes) most = proto::kMostNameBytes;
    return SetText(at, static_cast<uint32_t>(strnlen(at, most)), value);
  }

  static bool SetText(const char* at, uint32_t bytes, Value* value) {
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
