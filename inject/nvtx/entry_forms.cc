// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nvtx/entry_forms.h"

namespace gpuprof::inject::nvtx {
namespace {

constexpr Form Scalar(Reading reading, uint32_t bytes) { return {reading, bytes, bytes, 0, 1}; }

bool IsString(uint64_t type) { return type >= kCString && type <= kCStringUtf32; }

// Arrays of these are texts.
bool IsCharacter(uint64_t type) {
  return type == kChar || type == kWideChar || (type >= kChar8 && type <= kChar32);
}

// Bytes of one character.
uint8_t UnitOf(uint64_t type) {
  if (type == kCStringUtf16 || type == kChar16) return 2;
  return type == kCStringUtf32 || type == kChar32 || type == kWideChar ? 4 : 1;
}

Form FormOfString(const SchemaEntry& entry) {
  const uint32_t array = ArrayOf(entry.flags);
  if (array == kZeroTerminated && entry.detail == 0) return FormOfType(entry.type);
  if (array > kFixedSize || entry.detail == 0 || entry.detail > kMostPayloadBytes) return {};
  const uint8_t unit = UnitOf(entry.type);
  return {Reading::kText, static_cast<uint32_t>(entry.detail) * unit, unit, 0, unit};
}

}  // namespace

Form FormOfType(uint64_t type) noexcept {
  switch (type) {
    case kChar:
    case kInt8:
      return Scalar(Reading::kSigned, 1);
    case kUnsignedChar:
    case kUint8:
    case kChar8:
    case kByte:
      return Scalar(Reading::kUnsigned, 1);
    case kShort:
    case kInt16:
      return Scalar(Reading::kSigned, 2);
    case kUnsignedShort:
    case kUint16:
    case kChar16:
      return Scalar(Reading::kUnsigned, 2);
    case kInt:
    case kInt32:
      return Scalar(Reading::kSigned, 4);
    case kUnsignedInt:
    case kUint32:
    case kChar32:
    case kWideChar:
    case kCategory:
    case kColorArgb:
    case kPidUint32:
    case kTidUint32:
      return Scalar(Reading::kUnsigned, 4);
    case kLong:
    case kLongLong:
    case kInt64:
      return Scalar(Reading::kSigned, 8);
    case kUnsignedLong:
    case kUnsignedLongLong:
    case kUint64:
    case kSize:
    case kScopeId:
    case kPidUint64:
    case kTidUint64:
      return Scalar(Reading::kUnsigned, 8);
    case kFloat:
    case kFloat32:
      return Scalar(Reading::kFloating, 4);
    case kDouble:
    case kFloat64:
      return Scalar(Reading::kFloating, 8);
    case kAddress:
      return Scalar(Reading::kAddress, 8);
    case kRegisteredString:
      return Scalar(Reading::kRegistered, 8);
    case kFloat16:
      return Scalar(Reading::kFloating, 2);
    case kBrainFloat16:
      return Scalar(Reading::kBrainFloating, 2);
    case kTensorFloat32:
      return Scalar(Reading::kLeftOut, 4);
    case kLongDouble:
    case kInt128:
    case kUint128:
    case kFloat128:
      return Scalar(Reading::kLeftOut, 16);
    default:
      break;
  }
  if (!IsString(type)) return {};
  // A string by itself ends with its zero.
  const uint8_t unit = UnitOf(type);
  return {Reading::kTerminatedText, 0, unit, 0, unit};
}

Form FormOf(const SchemaEntry& entry, const Definition* defined) noexcept {
  if ((entry.flags & (kEntryOffsetFromBase | kEntryOffsetFromHere)) != 0) return {};
  if ((entry.flags & kEntryPointer) != 0) return Scalar(Reading::kAddress, sizeof(void*));
  if (IsString(entry.type)) return FormOfString(entry);
  Form form = FormOfType(entry.type);
  if (defined != nullptr) form = {Reading::kById, defined->bytes, defined->align, 0, 1};
  if (defined == nullptr && entry.type >= kFirstSchemaId) form.reading = Reading::kById;
  const uint32_t array = ArrayOf(entry.flags);
  if (array == kNoArray) return form;
  if (array != kFixedSize || form.bytes == 0 || entry.detail > kMostPayloadBytes / form.bytes)
    return {};
  form.bytes *= static_cast<uint32_t>(entry.detail);
  if (IsCharacter(entry.type)) {
    form.reading = Reading::kText;
    form.unit = UnitOf(entry.type);
  } else if ((defined != nullptr && !defined->is_enum) || entry.detail == 0 ||
             entry.detail > kMostElements) {
    form.reading = Reading::kLeftOut;
  } else if (form.reading != Reading::kLeftOut) {
    form.elements = static_cast<uint32_t>(entry.detail);
  }
  return form;
}

}  // namespace gpuprof::inject::nvtx
