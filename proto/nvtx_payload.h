// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The vocabulary of NVTX's payload extension, and the layout of a definition in a trace. The
// recorder writes definitions (schemas and enumerations) and payloads as the program gave them.
// analysis/ reads values out of them. Both lay entries out with the classes here. The numbers are
// NVTX's. A unit test compares each with NVIDIA's headers.

#pragma once

#include <cstdint>

namespace gpuprof::proto::nvtx {

enum EntryFlag : uint64_t {
  kEntryPointer = 1u << 1,
  kEntryOffsetFromBase = 1u << 2,
  kEntryOffsetFromHere = 1u << 3,
  kEntryMessage = 1u << 10,
};
enum EntryArray : uint32_t {
  kNoArray = 0,
  kFixedSize = 1,
  kZeroTerminated = 2,
  kLengthInEntry = 3,  // the detail is the index of the entry that holds the length
};
constexpr uint32_t ArrayOf(uint64_t flags) { return static_cast<uint32_t>(flags >> 4 & 7); }
constexpr bool IsIndirect(uint64_t flags) {
  return (flags & (kEntryPointer | kEntryOffsetFromBase | kEntryOffsetFromHere)) != 0;
}

// The type of an entry. From kFirstSchemaId on it is the id of a schema or an enumeration.
enum EntryType : uint64_t {
  kChar = 1,
  kUnsignedChar,
  kShort,
  kUnsignedShort,
  kInt,
  kUnsignedInt,
  kLong,
  kUnsignedLong,
  kLongLong,
  kUnsignedLongLong,
  kInt8,
  kUint8,
  kInt16,
  kUint16,
  kInt32,
  kUint32,
  kInt64,
  kUint64,
  kFloat,
  kDouble,
  kLongDouble,
  kSize,
  kAddress,
  kWideChar,
  kChar8,
  kChar16,
  kChar32,
  kByte = 32,
  kInt128,
  kUint128,
  kFloat16 = 42,
  kFloat32,
  kFloat64,
  kFloat128,
  kBrainFloat16 = 50,
  kTensorFloat32 = 52,
  kCategory = 68,
  kColorArgb,
  kScopeId,
  kPidUint32,
  kPidUint64,
  kTidUint32,
  kTidUint64,
  kCString,
  kCStringUtf8,
  kCStringUtf16,
  kCStringUtf32,
  kRegisteredString = 80,
};
inline constexpr uint64_t kReferencedPayload = 1022;  // other payloads point into it
inline constexpr uint64_t kFirstSchemaId = 1u << 24;
inline constexpr uint64_t kFirstDynamicId = uint64_t{1} << 32;  // those that a tool gives

enum SchemaType : uint64_t {
  kEnumeration = 0,  // of a definition in a trace
  kStaticSchema = 1,
  kDynamicSchema = 2,
  kUnion = 3,              // an entry next to the union selects the member
  kUnionWithSelector = 4,  // an entry of the union selects the member
};

struct TypeSizes {
  static constexpr uint8_t Of(uint64_t type) {
    switch (type) {
      case kChar:
      case kUnsignedChar:
      case kInt8:
      case kUint8:
      case kChar8:
      case kByte:
        return 1;
      case kShort:
      case kUnsignedShort:
      case kInt16:
      case kUint16:
      case kChar16:
      case kFloat16:
      case kBrainFloat16:
        return 2;
      case kInt:
      case kUnsignedInt:
      case kInt32:
      case kUint32:
      case kFloat:
      case kFloat32:
      case kTensorFloat32:
      case kWideChar:
      case kChar32:
      case kCategory:
      case kColorArgb:
      case kPidUint32:
      case kTidUint32:
        return 4;
      case kLong:
      case kUnsignedLong:
      case kLongLong:
      case kUnsignedLongLong:
      case kInt64:
      case kUint64:
      case kDouble:
      case kFloat64:
      case kSize:
      case kAddress:
      case kScopeId:
      case kPidUint64:
      case kTidUint64:
      case kRegisteredString:
        return 8;
      case kLongDouble:
      case kInt128:
      case kUint128:
      case kFloat128:
        return 16;
      default:
        return 0;
    }
  }
  constexpr TypeSizes() {
    for (uint64_t type = 0; type <= kRegisteredString; ++type) of[type] = Of(type);
  }
  uint8_t of[kRegisteredString + 1] = {};
};
inline constexpr TypeSizes kTypeSizes;
// Returns the bytes of a single value of a predefined type; 0: not known, or a string.
constexpr uint32_t TypeBytes(uint64_t type) {
  return type <= kRegisteredString ? kTypeSizes.of[type] : 0;
}

constexpr bool IsString(uint64_t type) { return type >= kCString && type <= kCStringUtf32; }
// Returns whether an array of this type is a text.
constexpr bool IsCharacter(uint64_t type) {
  return type == kChar || (type >= kWideChar && type <= kChar32);
}
// Returns the bytes of one character.
constexpr uint32_t UnitOf(uint64_t type) {
  if (type == kCStringUtf16 || type == kChar16) return 2;
  return type == kCStringUtf32 || type == kChar32 || type == kWideChar ? 4 : 1;
}

// Larger payloads are not known in full.
inline constexpr uint64_t kMostLaidOut = 1u << 20;

// The room that an entry takes.
struct Extent {
  uint64_t bytes = 0;  // 0: not known
  uint64_t align = 1;
};

// Returns the extent of an entry. `defined`: of the schema or enumeration that its type names.
constexpr Extent ExtentOf(uint64_t flags, uint64_t type, uint64_t detail, Extent defined) {
  if ((flags & (kEntryOffsetFromBase | kEntryOffsetFromHere)) != 0) return {};
  if ((flags & kEntryPointer) != 0) return {8, 8};
  const uint32_t array = ArrayOf(flags);
  Extent one = defined;
  if (type <= kRegisteredString) one = {TypeBytes(type), TypeBytes(type)};
  if (IsString(type)) one = {UnitOf(type), UnitOf(type)};
  if (one.align == 0) one.align = 1;
  const bool is_fixed = array == kFixedSize || (array == kNoArray && IsString(type) && detail != 0);
  if (array == kNoArray && !IsString(type)) return one;
  if (!is_fixed || one.bytes == 0 || detail > kMostLaidOut / one.bytes) return {0, one.align};
  return {one.bytes * detail, one.align};
}

// Finds the places of a schema's entries, one after the other. A place is the program's offset, or
// else the place that a compiler would choose.
class Layout {
 public:
  constexpr Layout(uint64_t schema_type, uint64_t pack)
      : is_union_(schema_type >= kUnion), pack_(pack) {}

  // Finds the place of the next entry. `offset`: the program's, or 0. False: the place is not
  // known.
  constexpr bool Place(uint64_t offset, Extent extent, uint64_t* place) {
    if (pack_ != 0 && extent.align > pack_) extent.align = pack_;
    if (extent.align > align_) align_ = extent.align;
    const bool is_given = offset != 0 || is_first_ || is_union_;
    const bool is_placed = is_given || is_known_;
    is_first_ = false;
    *place = is_given ? offset : AlignedUp(end_, extent.align);
    is_known_ = is_placed && extent.bytes != 0 && *place <= kMostLaidOut;
    if (is_known_) EndsAt(*place + extent.bytes);
    if (!is_known_) has_gap_ = true;
    return is_placed && *place <= kMostLaidOut;
  }
  // Takes the end of an entry whose bytes had to be read to find the end.
  constexpr void EndsAt(uint64_t end) {
    is_known_ = true;
    end_ = end;
    if (end > most_) most_ = end;
  }

  // Returns the extent of the whole schema.
  constexpr Extent extent() const {
    const uint64_t whole = AlignedUp(most_, align_);
    return {has_gap_ || whole > kMostLaidOut ? 0 : whole, align_};
  }
  constexpr uint64_t end() const { return end_; }

 private:
  static constexpr uint64_t AlignedUp(uint64_t place, uint64_t align) {
    return (place + align - 1) / align * align;
  }

  bool is_union_;
  uint64_t pack_;
  uint64_t end_ = 0;
  uint64_t most_ = 0;
  uint64_t align_ = 1;
  bool is_first_ = true;
  bool is_known_ = true;
  bool has_gap_ = false;
};

// A definition is a string of the trace. It begins with this header, and so with a zero byte.
// `kept` entries follow. An entry of a schema has flags, type, detail and offset. An entry of an
// enumeration has a value, and 1 if the value is a flag. All numbers are varints. A name and a zero
// follow them.
struct DefinitionHeader {
  uint8_t zero;
  uint8_t type;         // SchemaType
  uint8_t pack;         // alignment of a packed schema; 0: natural
  uint8_t has_handles;  // of registered strings
  uint32_t domain;      // string id; 0: the default domain. Ids are a domain's own.
  uint64_t id;
  uint32_t bytes;  // of a payload, or of the enumeration; 0: not known
  uint32_t align;
  uint32_t count;  // the program's entries
  uint32_t kept;   // those that the definition has room for
};
static_assert(sizeof(DefinitionHeader) == 32);

inline constexpr uint32_t kMostDefinitionBytes = 4096;
inline constexpr uint32_t kMostEntryNameBytes = 255;

// A registered string among the bytes of a payload.
struct HandleText {
  uint64_t handle;
  uint64_t text;  // string id
};

}  // namespace gpuprof::proto::nvtx
