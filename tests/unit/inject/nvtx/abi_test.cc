// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// inject/nvtx/abi.h, line by line, against NVIDIA's headers of NVTX.

#include "inject/nvtx/abi.h"

#include "inject/ranges/ranges.h"

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstddef>
#include <type_traits>

#include "proto/record.h"

namespace gpuprof::inject::nvtx {
namespace {

static_assert(kCallbacksTable == NVTX_ETID_CALLBACKS && kVersionTable == NVTX_ETID_VERSIONINFO);
static_assert(sizeof(CallbacksTable) == sizeof(NvtxExportTableCallbacks));
static_assert(offsetof(CallbacksTable, get_module_function_table) ==
              offsetof(NvtxExportTableCallbacks, GetModuleFunctionTable));
static_assert(std::is_same_v<Function, NvtxFunctionPointer>);
static_assert(std::is_same_v<Function**, NvtxFunctionTable>);
static_assert(std::is_same_v<GetExportTable, NvtxGetExportTableFunc_t>);

static_assert(int{kCore} == NVTX_CB_MODULE_CORE && int{kCuda} == NVTX_CB_MODULE_CUDA &&
              int{kOpenCl} == NVTX_CB_MODULE_OPENCL && int{kCudart} == NVTX_CB_MODULE_CUDART &&
              int{kCore2} == NVTX_CB_MODULE_CORE2 && int{kSync} == NVTX_CB_MODULE_SYNC);

#define SAME_ID(module, name) static_assert(unsigned{k##name} == NVTX_CBID_##module##_##name)
SAME_ID(CORE, MarkEx);
SAME_ID(CORE, MarkA);
SAME_ID(CORE, MarkW);
SAME_ID(CORE, RangeStartEx);
SAME_ID(CORE, RangeStartA);
SAME_ID(CORE, RangeStartW);
SAME_ID(CORE, RangeEnd);
SAME_ID(CORE, RangePushEx);
SAME_ID(CORE, RangePushA);
SAME_ID(CORE, RangePushW);
SAME_ID(CORE, RangePop);
SAME_ID(CORE, NameCategoryA);
SAME_ID(CORE, NameCategoryW);
SAME_ID(CORE, NameOsThreadA);
SAME_ID(CORE, NameOsThreadW);
static_assert(unsigned{kCoreIds} == NVTX_CBID_CORE_SIZE && kMostIds >= kCoreIds);
SAME_ID(CORE2, DomainMarkEx);
SAME_ID(CORE2, DomainRangeStartEx);
SAME_ID(CORE2, DomainRangeEnd);
SAME_ID(CORE2, DomainRangePushEx);
SAME_ID(CORE2, DomainRangePop);
SAME_ID(CORE2, DomainResourceCreate);
SAME_ID(CORE2, DomainResourceDestroy);
SAME_ID(CORE2, DomainNameCategoryA);
SAME_ID(CORE2, DomainNameCategoryW);
SAME_ID(CORE2, DomainRegisterStringA);
SAME_ID(CORE2, DomainRegisterStringW);
SAME_ID(CORE2, DomainCreateA);
SAME_ID(CORE2, DomainCreateW);
SAME_ID(CORE2, DomainDestroy);
SAME_ID(CORE2, Initialize);
static_assert(unsigned{kCore2Ids} == NVTX_CBID_CORE2_SIZE && kMostIds >= kCore2Ids);
SAME_ID(CUDA, NameCuDeviceA);
SAME_ID(CUDA, NameCuDeviceW);
SAME_ID(CUDA, NameCuContextA);
SAME_ID(CUDA, NameCuContextW);
SAME_ID(CUDA, NameCuStreamA);
SAME_ID(CUDA, NameCuStreamW);
SAME_ID(CUDA, NameCuEventA);
SAME_ID(CUDA, NameCuEventW);
static_assert(unsigned{kCudaIds} == NVTX_CBID_CUDA_SIZE);
SAME_ID(CUDART, NameCudaDeviceA);
SAME_ID(CUDART, NameCudaDeviceW);
SAME_ID(CUDART, NameCudaStreamA);
SAME_ID(CUDART, NameCudaStreamW);
SAME_ID(CUDART, NameCudaEventA);
SAME_ID(CUDART, NameCudaEventW);
static_assert(unsigned{kCudartIds} == NVTX_CBID_CUDART_SIZE);

static_assert(int32_t{ranges::kNoMessage} == NVTX_MESSAGE_UNKNOWN &&
              int32_t{ranges::kAscii} == NVTX_MESSAGE_TYPE_ASCII &&
              int32_t{ranges::kUnicode} == NVTX_MESSAGE_TYPE_UNICODE &&
              int32_t{ranges::kRegistered} == NVTX_MESSAGE_TYPE_REGISTERED);
static_assert(int32_t{kNoColor} == NVTX_COLOR_UNKNOWN && int32_t{kArgb} == NVTX_COLOR_ARGB);
static_assert(ranges::kNoTracking == NVTX_NO_PUSH_POP_TRACKING);

constexpr int32_t Code(proto::NvtxPayload payload) { return static_cast<int32_t>(payload); }
static_assert(Code(proto::NvtxPayload::kNone) == NVTX_PAYLOAD_UNKNOWN &&
              Code(proto::NvtxPayload::kUint64) == NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 &&
              Code(proto::NvtxPayload::kInt64) == NVTX_PAYLOAD_TYPE_INT64 &&
              Code(proto::NvtxPayload::kDouble) == NVTX_PAYLOAD_TYPE_DOUBLE &&
              Code(proto::NvtxPayload::kUint32) == NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 &&
              Code(proto::NvtxPayload::kInt32) == NVTX_PAYLOAD_TYPE_INT32 &&
              Code(proto::NvtxPayload::kFloat) == NVTX_PAYLOAD_TYPE_FLOAT);

#define SAME_PLACE(ours, theirs)                                                             \
  static_assert(offsetof(EventAttributes, ours) == offsetof(nvtxEventAttributes_t, theirs)); \
  static_assert(sizeof(EventAttributes::ours) == sizeof(nvtxEventAttributes_t::theirs))
SAME_PLACE(version, version);
SAME_PLACE(size, size);
SAME_PLACE(category, category);
SAME_PLACE(color_type, colorType);
SAME_PLACE(color, color);
SAME_PLACE(payload_type, payloadType);
SAME_PLACE(payload, payload);
SAME_PLACE(message_type, messageType);
SAME_PLACE(message, message);
static_assert(sizeof(EventAttributes) == NVTX_EVENT_ATTRIB_STRUCT_SIZE);

TEST(NvtxAbi, TablesAreAsLongAsTheirs) {
  // What cannot be known when compiling: the tables of an instance.
  const auto* callbacks =
      static_cast<const CallbacksTable*>(NVTX_VERSIONED_IDENTIFIER(nvtxGetExportTable)(1));
  ASSERT_NE(callbacks, nullptr);
  EXPECT_GE(callbacks->struct_size, sizeof(CallbacksTable));
  const unsigned sizes[] = {0, kCoreIds, kCudaIds, 0, kCudartIds, kCore2Ids};
  for (const int module : {int{kCore}, int{kCuda}, int{kCudart}, int{kCore2}}) {
    Function** table = nullptr;
    unsigned size = 0;
    ASSERT_NE(callbacks->get_module_function_table(module, &table, &size), 0);
    EXPECT_GE(size, sizes[module]) << module;
  }
}

}  // namespace
}  // namespace gpuprof::inject::nvtx
