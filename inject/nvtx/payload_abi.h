// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a tool must know of NVTX's payload extension: numbers and layouts of its versions 0x0103 and
// 0x0104. A unit test compares every one with NVIDIA's headers where there are any.
//
// Each library that uses an extension has an instance of it. Its first call initialises NVTX
// itself, then asks the same object, NVTX_INJECTION64_PATH's, for InitializeInjectionNvtxExtension,
// and hands that the extension's slots: 0 in a slot that nobody has taken, 1 in one that is off.
// What the function leaves at 0 is off from then on; where it returns 0, everything is. A tool
// without that function leaves the extension off too, and nvtxDomainIsEnabled then says 1.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject::nvtx {

struct ModuleSegment {
  size_t id;
  size_t slot_count;
  intptr_t* slots;
};

struct ModuleInfo {
  uint16_t nvtx_version;
  uint16_t struct_size;
  uint16_t module_id;
  uint16_t compat_id;
  size_t segment_count;
  ModuleSegment* segments;
  intptr_t (*get_export_function)(uint32_t id);
  const void* extra;  // sizes of the C types in the program, which are ours
};

inline constexpr uint16_t kPayloadModule = 2;
inline constexpr uint16_t kOldestPayloadCompat = 0x0103;
inline constexpr uint16_t kNewestPayloadCompat = 0x0104;

inline constexpr intptr_t kFreshSlot = 0;
inline constexpr intptr_t kDisabledSlot = 1;

enum PayloadId : unsigned {
  kPayloadSchemaRegister = 0,
  kPayloadEnumRegister,
  kMarkPayload,
  kRangePushPayload,
  kRangePopPayload,
  kRangeStartPayload,
  kRangeEndPayload,
  kDomainIsEnabled,
  kPayloadIds,
};

// EventAttributes::payload_type: payload is the address of an array of PayloadData, and reserved
// their number.
inline constexpr int32_t kExtendedPayload = static_cast<int32_t>(0xDFBD0009);

struct PayloadData {
  uint64_t schema_id;
  size_t size;  // kUnknownSize: as the schema says
  const void* payload;
};
inline constexpr size_t kUnknownSize = ~size_t{0};

enum EntryFlag : uint64_t {
  kEntryPointer = 1u << 1,
  kEntryOffsetFromBase = 1u << 2,
  kEntryOffsetFromHere = 1u << 3,
  kEntryMessage = 1u << 10,
};
enum EntryArray : uint32_t { kNoArray = 0, kFixedSize = 1, kZeroTerminated = 2 };
constexpr uint32_t ArrayOf(uint64_t flags) { return static_cast<uint32_t>(flags >> 4 & 7); }

// What an entry is; from kFirstSchemaId on the id of a schema or an enumeration.
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

struct SchemaEntry {
  uint64_t flags;
  uint64_t type;
  const char* name;
  const char* description;
  uint64_t detail;  // length of a string or an array
  uint64_t offset;  // 0: behind the entry before, aligned as a compiler would
  const void* semantics;
  const void* reserved;
};

enum SchemaType : uint64_t { kStaticSchema = 1, kDynamicSchema = 2 };
enum SchemaField : uint64_t {
  kSchemaType = 1u << 2,
  kSchemaEntries = 1u << 4,
  kSchemaEntryCount = 1u << 5,
  kSchemaStaticSize = 1u << 6,
  kSchemaAlignment = 1u << 7,
  kSchemaId = 1u << 8,
};

// Version 0x0103 ends with id.
struct SchemaAttributes {
  uint64_t fields;  // SchemaField
  const char* name;
  uint64_t type;  // SchemaType, or a union
  uint64_t flags;
  const SchemaEntry* entries;
  size_t entry_count;
  size_t static_size;
  size_t pack_align;
  uint64_t id;
};

struct EnumEntry {
  const char* name;
  uint64_t value;
  int8_t is_flag;
};

enum EnumField : uint64_t {
  kEnumEntries = 1u << 2,
  kEnumEntryCount = 1u << 3,
  kEnumSize = 1u << 4,
  kEnumId = 1u << 5,
};

// Version 0x0103 ends with id.
struct EnumAttributes {
  uint64_t fields;  // EnumField
  const char* name;
  const EnumEntry* entries;
  size_t entry_count;
  size_t size;
  uint64_t id;
};

}  // namespace gpuprof::inject::nvtx
