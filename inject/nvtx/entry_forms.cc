// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/nvtx/entry_forms.h"

namespace gpuprof::inject::nvtx {
namespace {

// By type; what is not there is of no known size.
struct Scalar {
  Reading reading;
  uint8_t bytes;
};
constexpr Scalar ScalarOf(uint64_t type) {
  switch (type) {
    case kChar:
    case kInt8:
      return {Reading::kSigned, 1};
    case kUnsignedChar:
    case kUint8:
    case kChar8:
    case kByte:
      return {Reading::kUnsigned, 1};
    case kShort:
    case kInt16:
      return {Reading::kSigned, 2};
    case kUnsignedShort:
    case kUint16:
    case kChar16:
      return {Reading::kUnsigned, 2};
    case kInt:
    case kInt32:
      return {Reading::kSigned, 4};
    case kUnsignedInt:
    case kUint32:
    case kChar32:
    case kWideChar:
    case kCategory:
    case kColorArgb:
    case kPidUint32:
    case kTidUint32:
      return {Reading::kUnsigned, 4};
    case kLong:
    case kLongLong:
    case kInt64:
      return {Reading::kSigned, 8};
    case kUnsignedLong:
    case kUnsignedLongLong:
    case kUint64:
    case kSize:
    case kScopeId:
    case kPidUint64:
    case kTidUint64:
      return {Reading::kUnsigned, 8};
    case kFloat16:
      return {Reading::kFloating, 2};
    case kBrainFloat16:
      return {Reading::kBrainFloating, 2};
    case kFloat:
    case kFloat32:
      return {Reading::kFloating, 4};
    case kDouble:
    case kFloat64:
      return {Reading::kFloating, 8};
    case kAddress:
      return {Reading::kAddress, 8};
    case kRegisteredString:
      return {Reading::kRegistered, 8};
    case kTensorFloat32:
      return {Reading::kLeftOut, 4};
    case kLongDouble:
    case kInt128:
    case kUint128:
    case kFloat128:
      return {Reading::kLeftOut, 16};
    default:
      return {Reading::kLeftOut, 0};
  }
}

struct Scalars {
  Scalar of_type[kRegisteredString + 1];
};
constexpr Scalars kScalars = [] {
  Scalars scalars = {};
  for (uint64_t type = 0; type <= kRegisteredString; ++type) scalars.of_type[type] = ScalarOf(type);
  return scalars;
}();

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

Form TextForm(Reading reading, uint32_t bytes, uint8_t unit) {
  return {bytes, unit, 0, reading, unit};
}

// A string by itself, and one that is said to, ends with its zero.
Form FormOfString(const SchemaEntry& entry) {
  const uint32_t array = ArrayOf(entry.flags);
  if (array == kZeroTerminated && entry.detail == 0) return FormOfType(entry.type);
  if (array > kFixedSize || entry.detail == 0 || entry.detail > kMostPayloadBytes) return {};
  const uint8_t unit = UnitOf(entry.type);
  return TextForm(Reading::kText, static_cast<uint32_t>(entry.detail) * unit, unit);
}

}  // namespace

Form FormOfType(uint64_t type) noexcept {
  if (IsString(type)) return TextForm(Reading::kTerminatedText, 0, UnitOf(type));
  if (type > kRegisteredString) return {};
  const Scalar scalar = kScalars.of_type[type];
  const uint32_t bytes = scalar.bytes;
  return {bytes, bytes != 0 ? bytes : 1, 0, scalar.reading, 1};
}

Form FormOf(const SchemaEntry& entry, const Definition* defined) noexcept {
  if ((entry.flags & (kEntryOffsetFromBase | kEntryOffsetFromHere)) != 0) return {};
  if ((entry.flags & kEntryPointer) != 0) return FormOfType(kAddress);
  if (IsString(entry.type)) return FormOfString(entry);
  Form form = FormOfType(entry.type);
  if (defined != nullptr) form = {defined->bytes, defined->align, 0, Reading::kById, 1};
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
