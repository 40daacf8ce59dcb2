// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The functions and structs of NVTX's payload extension, of its versions 0x0103 and 0x0104. Its
// types and flags are in proto/nvtx_payload.h. A unit test compares every number with NVIDIA's
// headers, if they are installed.
//
// Each library that uses an extension has an instance of it. Its first call initialises NVTX
// itself, then asks the same object, NVTX_INJECTION64_PATH's, for InitializeInjectionNvtxExtension,
// and hands that the extension's slots: 0 in a slot that nobody has taken, 1 in one that is off.
// What the function leaves at 0 is off from then on; where it returns 0, everything is. A tool
// without that function leaves the extension off too, and nvtxDomainIsEnabled then says 1.

#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/nvtx_payload.h"

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

using enum proto::nvtx::EntryFlag;
using enum proto::nvtx::EntryArray;
using enum proto::nvtx::EntryType;
using enum proto::nvtx::SchemaType;
using proto::nvtx::ArrayOf;
using proto::nvtx::kFirstDynamicId;
using proto::nvtx::kFirstSchemaId;
using proto::nvtx::kReferencedPayload;

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
