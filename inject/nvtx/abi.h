// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a tool must know of NVTX 3 to be its injection: numbers and layouts, as they have been since
// its first release. A unit test compares every one with NVIDIA's headers where there are any.
//
// NVTX is headers alone: each library that includes them has an instance of its own, which finds
// the tool at its first call and hands it tables of slots. A slot that the tool leaves alone
// becomes a null pointer, and the call then costs the program one branch.

#pragma once

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject::nvtx {

using Function = void (*)();

// What the tool's initialiser is given: tables by their id.
using GetExportTable = const void* (*)(uint32_t id);
inline constexpr uint32_t kCallbacksTable = 1;
inline constexpr uint32_t kVersionTable = 3;

struct CallbacksTable {
  size_t struct_size;
  // `table` receives an array of addresses of slots, `size` its length; entry 0 is none. 0: there
  // is no such module.
  int (*get_module_function_table)(int module, Function*** table, unsigned int* size);
};

enum Module : int {
  kCore = 1,
  kCuda = 2,
  kOpenCl = 3,
  kCudart = 4,
  kCore2 = 5,
  kSync = 6,
  kModules = 7,
};

enum CoreId : unsigned {
  kMarkEx = 1,
  kMarkA,
  kMarkW,
  kRangeStartEx,
  kRangeStartA,
  kRangeStartW,
  kRangeEnd,
  kRangePushEx,
  kRangePushA,
  kRangePushW,
  kRangePop,
  kNameCategoryA,
  kNameCategoryW,
  kNameOsThreadA,
  kNameOsThreadW,
  kCoreIds,
};

enum Core2Id : unsigned {
  kDomainMarkEx = 1,
  kDomainRangeStartEx,
  kDomainRangeEnd,
  kDomainRangePushEx,
  kDomainRangePop,
  kDomainResourceCreate,
  kDomainResourceDestroy,
  kDomainNameCategoryA,
  kDomainNameCategoryW,
  kDomainRegisterStringA,
  kDomainRegisterStringW,
  kDomainCreateA,
  kDomainCreateW,
  kDomainDestroy,
  kInitialize,
  kCore2Ids,
};

enum CudaId : unsigned {
  kNameCuDeviceA = 1,
  kNameCuDeviceW,
  kNameCuContextA,
  kNameCuContextW,
  kNameCuStreamA,
  kNameCuStreamW,
  kNameCuEventA,
  kNameCuEventW,
  kCudaIds,
};

enum CudartId : unsigned {
  kNameCudaDeviceA = 1,
  kNameCudaDeviceW,
  kNameCudaStreamA,
  kNameCudaStreamW,
  kNameCudaEventA,
  kNameCudaEventW,
  kCudartIds,
};

inline constexpr unsigned kMostIds = 16;

enum ColorType : int32_t { kNoColor = 0, kArgb = 1 };

struct EventAttributes {
  uint16_t version;
  uint16_t size;
  uint32_t category;
  int32_t color_type;
  uint32_t color;
  int32_t payload_type;  // proto::NvtxPayload, or a kind that an extension defines
  int32_t reserved;      // how many payloads an extended one is
  uint64_t payload;
  int32_t message_type;  // ranges::MessageType
  const void* message;
};
static_assert(sizeof(EventAttributes) == 48);

}  // namespace gpuprof::inject::nvtx
