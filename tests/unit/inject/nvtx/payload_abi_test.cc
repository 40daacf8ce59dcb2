// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// inject/nvtx/payload_abi.h, line by line, against NVIDIA's headers of NVTX's payload extension.

#include "inject/nvtx/payload_abi.h"

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>

#include "inject/nvtx/abi.h"

namespace gpuprof::inject::nvtx {
namespace {

static_assert(kPayloadModule == NVTX_EXT_PAYLOAD_MODULEID);
static_assert(kFreshSlot == NVTX_EXTENSION_FRESH && kDisabledSlot == NVTX_EXTENSION_DISABLED);
static_assert(kExtendedPayload == NVTX_PAYLOAD_TYPE_EXT);
static_assert(kReferencedPayload == NVTX_TYPE_PAYLOAD_SCHEMA_REFERENCED);
static_assert(kFirstSchemaId == NVTX_PAYLOAD_SCHEMA_ID_STATIC_START);
static_assert(kFirstDynamicId == NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);

#define SAME_ID(ours, theirs) static_assert(unsigned{ours} == NVTX3EXT_CBID_##theirs)
SAME_ID(kPayloadSchemaRegister, nvtxPayloadSchemaRegister);
SAME_ID(kPayloadEnumRegister, nvtxPayloadEnumRegister);
SAME_ID(kMarkPayload, nvtxMarkPayload);
SAME_ID(kRangePushPayload, nvtxRangePushPayload);
SAME_ID(kRangePopPayload, nvtxRangePopPayload);
SAME_ID(kRangeStartPayload, nvtxRangeStartPayload);
SAME_ID(kRangeEndPayload, nvtxRangeEndPayload);
SAME_ID(kDomainIsEnabled, nvtxDomainIsEnabled);

#define SAME_FLAG(ours, theirs) static_assert(uint64_t{ours} == NVTX_PAYLOAD_ENTRY_FLAG_##theirs)
SAME_FLAG(kEntryPointer, POINTER);
SAME_FLAG(kEntryOffsetFromBase, OFFSET_FROM_BASE);
SAME_FLAG(kEntryOffsetFromHere, OFFSET_FROM_HERE);
SAME_FLAG(kEntryMessage, EVENT_MESSAGE);
static_assert(ArrayOf(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE) == kFixedSize);
static_assert(ArrayOf(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED) == kZeroTerminated);
static_assert(ArrayOf(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX) > kZeroTerminated);
static_assert(ArrayOf(NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_PAYLOAD_INDEX) > kZeroTerminated);

#define SAME_TYPE(ours, theirs) static_assert(uint64_t{ours} == NVTX_PAYLOAD_ENTRY_TYPE_##theirs)
SAME_TYPE(kChar, CHAR);
SAME_TYPE(kUnsignedChar, UCHAR);
SAME_TYPE(kShort, SHORT);
SAME_TYPE(kUnsignedShort, USHORT);
SAME_TYPE(kInt, INT);
SAME_TYPE(kUnsignedInt, UINT);
SAME_TYPE(kLong, LONG);
SAME_TYPE(kUnsignedLong, ULONG);
SAME_TYPE(kLongLong, LONGLONG);
SAME_TYPE(kUnsignedLongLong, ULONGLONG);
SAME_TYPE(kInt8, INT8);
SAME_TYPE(kUint8, UINT8);
SAME_TYPE(kInt16, INT16);
SAME_TYPE(kUint16, UINT16);
SAME_TYPE(kInt32, INT32);
SAME_TYPE(kUint32, UINT32);
SAME_TYPE(kInt64, INT64);
SAME_TYPE(kUint64, UINT64);
SAME_TYPE(kFloat, FLOAT);
SAME_TYPE(kDouble, DOUBLE);
SAME_TYPE(kLongDouble, LONGDOUBLE);
SAME_TYPE(kSize, SIZE);
SAME_TYPE(kAddress, ADDRESS);
SAME_TYPE(kWideChar, WCHAR);
SAME_TYPE(kChar8, CHAR8);
SAME_TYPE(kChar16, CHAR16);
SAME_TYPE(kChar32, CHAR32);
SAME_TYPE(kByte, BYTE);
SAME_TYPE(kInt128, INT128);
SAME_TYPE(kUint128, UINT128);
SAME_TYPE(kFloat16, FLOAT16);
SAME_TYPE(kFloat32, FLOAT32);
SAME_TYPE(kFloat64, FLOAT64);
SAME_TYPE(kFloat128, FLOAT128);
SAME_TYPE(kBrainFloat16, BF16);
SAME_TYPE(kTensorFloat32, TF32);
SAME_TYPE(kCString, CSTRING);
SAME_TYPE(kCStringUtf8, CSTRING_UTF8);
SAME_TYPE(kCStringUtf16, CSTRING_UTF16);
SAME_TYPE(kCStringUtf32, CSTRING_UTF32);
SAME_TYPE(kRegisteredString, NVTX_REGISTERED_STRING_HANDLE);
#if NVTX_EXT_PAYLOAD_COMPATID >= 0x0104
SAME_TYPE(kCategory, CATEGORY);
SAME_TYPE(kColorArgb, COLOR_ARGB);
SAME_TYPE(kScopeId, SCOPE_ID);
SAME_TYPE(kPidUint32, PID_UINT32);
SAME_TYPE(kPidUint64, PID_UINT64);
SAME_TYPE(kTidUint32, TID_UINT32);
SAME_TYPE(kTidUint64, TID_UINT64);
#endif

static_assert(uint64_t{kStaticSchema} == NVTX_PAYLOAD_SCHEMA_TYPE_STATIC &&
              uint64_t{kDynamicSchema} == NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC);
static_assert(uint64_t{kSchemaType} == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE &&
              uint64_t{kSchemaEntries} == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES &&
              uint64_t{kSchemaEntryCount} == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES &&
              uint64_t{kSchemaStaticSize} == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE &&
              uint64_t{kSchemaAlignment} == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ALIGNMENT &&
              uint64_t{kSchemaId} == NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID);
static_assert(uint64_t{kEnumEntries} == NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES &&
              uint64_t{kEnumEntryCount} == NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES &&
              uint64_t{kEnumSize} == NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE &&
              uint64_t{kEnumId} == NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID);

#define SAME_PLACE(type, ours, their_type, theirs)                     \
  static_assert(offsetof(type, ours) == offsetof(their_type, theirs)); \
  static_assert(sizeof(type::ours) == sizeof(their_type::theirs))
SAME_PLACE(ModuleSegment, id, nvtxExtModuleSegment_t, segmentId);
SAME_PLACE(ModuleSegment, slot_count, nvtxExtModuleSegment_t, slotCount);
SAME_PLACE(ModuleSegment, slots, nvtxExtModuleSegment_t, functionSlots);
static_assert(sizeof(ModuleSegment) == sizeof(nvtxExtModuleSegment_t));
SAME_PLACE(ModuleInfo, nvtx_version, nvtxExtModuleInfo_t, nvtxVer);
SAME_PLACE(ModuleInfo, struct_size, nvtxExtModuleInfo_t, structSize);
SAME_PLACE(ModuleInfo, module_id, nvtxExtModuleInfo_t, moduleId);
SAME_PLACE(ModuleInfo, compat_id, nvtxExtModuleInfo_t, compatId);
SAME_PLACE(ModuleInfo, segment_count, nvtxExtModuleInfo_t, segmentsCount);
SAME_PLACE(ModuleInfo, segments, nvtxExtModuleInfo_t, segments);
SAME_PLACE(ModuleInfo, get_export_function, nvtxExtModuleInfo_t, getExportFunction);
SAME_PLACE(ModuleInfo, extra, nvtxExtModuleInfo_t, extInfo);
static_assert(sizeof(ModuleInfo) == sizeof(nvtxExtModuleInfo_t));
SAME_PLACE(PayloadData, schema_id, nvtxPayloadData_t, schemaId);
SAME_PLACE(PayloadData, size, nvtxPayloadData_t, size);
SAME_PLACE(PayloadData, payload, nvtxPayloadData_t, payload);
static_assert(sizeof(PayloadData) == sizeof(nvtxPayloadData_t));
SAME_PLACE(SchemaEntry, flags, nvtxPayloadSchemaEntry_t, flags);
SAME_PLACE(SchemaEntry, type, nvtxPayloadSchemaEntry_t, type);
SAME_PLACE(SchemaEntry, name, nvtxPayloadSchemaEntry_t, name);
SAME_PLACE(SchemaEntry, description, nvtxPayloadSchemaEntry_t, description);
SAME_PLACE(SchemaEntry, detail, nvtxPayloadSchemaEntry_t, arrayOrUnionDetail);
SAME_PLACE(SchemaEntry, offset, nvtxPayloadSchemaEntry_t, offset);
static_assert(sizeof(SchemaEntry) == sizeof(nvtxPayloadSchemaEntry_t));
SAME_PLACE(SchemaAttributes, fields, nvtxPayloadSchemaAttr_t, fieldMask);
SAME_PLACE(SchemaAttributes, name, nvtxPayloadSchemaAttr_t, name);
SAME_PLACE(SchemaAttributes, type, nvtxPayloadSchemaAttr_t, type);
SAME_PLACE(SchemaAttributes, flags, nvtxPayloadSchemaAttr_t, flags);
SAME_PLACE(SchemaAttributes, entries, nvtxPayloadSchemaAttr_t, entries);
SAME_PLACE(SchemaAttributes, entry_count, nvtxPayloadSchemaAttr_t, numEntries);
SAME_PLACE(SchemaAttributes, static_size, nvtxPayloadSchemaAttr_t, payloadStaticSize);
SAME_PLACE(SchemaAttributes, pack_align, nvtxPayloadSchemaAttr_t, packAlign);
SAME_PLACE(SchemaAttributes, id, nvtxPayloadSchemaAttr_t, schemaId);
static_assert(sizeof(SchemaAttributes) <= sizeof(nvtxPayloadSchemaAttr_t));
SAME_PLACE(EnumEntry, name, nvtxPayloadEnum_t, name);
SAME_PLACE(EnumEntry, value, nvtxPayloadEnum_t, value);
SAME_PLACE(EnumEntry, is_flag, nvtxPayloadEnum_t, isFlag);
static_assert(sizeof(EnumEntry) == sizeof(nvtxPayloadEnum_t));
SAME_PLACE(EnumAttributes, fields, nvtxPayloadEnumAttr_t, fieldMask);
SAME_PLACE(EnumAttributes, name, nvtxPayloadEnumAttr_t, name);
SAME_PLACE(EnumAttributes, entries, nvtxPayloadEnumAttr_t, entries);
SAME_PLACE(EnumAttributes, entry_count, nvtxPayloadEnumAttr_t, numEntries);
SAME_PLACE(EnumAttributes, size, nvtxPayloadEnumAttr_t, sizeOfEnum);
SAME_PLACE(EnumAttributes, id, nvtxPayloadEnumAttr_t, schemaId);
static_assert(sizeof(EnumAttributes) <= sizeof(nvtxPayloadEnumAttr_t));
// Where an event says how many payloads it has.
static_assert(offsetof(EventAttributes, reserved) == offsetof(nvtxEventAttributes_t, reserved0));

TEST(NvtxPayloadAbi, TheVersionOfTheseHeadersIsOneThatWeTake) {
  EXPECT_GE(NVTX_EXT_PAYLOAD_COMPATID, kOldestPayloadCompat);
  EXPECT_LE(NVTX_EXT_PAYLOAD_COMPATID, kNewestPayloadCompat);
  EXPECT_GE(NVTX_EXT_PAYLOAD_SLOT_COUNT, int{kPayloadIds});
}

}  // namespace
}  // namespace gpuprof::inject::nvtx
