// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which release of CUPTI this build of the double is (FAKE_CUPTI_VERSION), and how long its records
// are. A release fills the newest layout that it knows, and all layouts of a kind begin alike: so a
// record is built in the layout of the headers at hand and cut, or lengthened by zeroes, to the
// release's length.

#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

#include "tests/fake_gpu/cupti/host_records.h"

namespace fake_gpu_cupti {

constexpr uint32_t kVersion = FAKE_CUPTI_VERSION;
constexpr int kMajor = kVersion >= 130000 ? 13 : kVersion >= 19 ? 12 : 11;
// Buffers of each thread's own by default; refused buffers survived; the later domain; all as
// released.
constexpr bool kPerThreadBuffers = kVersion >= 130000;
// Of the device's records, until 12.0.
constexpr bool kPinnedBuffers = kVersion <= 19;
constexpr bool kToleratesNoBuffer = kVersion >= 27;
constexpr bool kHasStateDomain = kVersion >= 20;
constexpr uint32_t kLastKind = kVersion >= 130200   ? 59
                               : kVersion >= 130100 ? 58
                               : kVersion >= 28     ? 55
                               : kVersion >= 26     ? 54
                                                    : 52;

// 0: a kind that this double never writes.
constexpr size_t SizeOf(uint32_t kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return kVersion >= 130300   ? 232
             : kVersion >= 130100 ? 224
             : kVersion >= 130000 ? 216
             : kVersion >= 19     ? 208
                                  : 200;
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return kVersion >= 26 ? 96 : 88;
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return 96;
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return 88;
    case CUPTI_ACTIVITY_KIND_MEMORY2:
      return kVersion >= 24 ? 128 : 120;
    case CUPTI_ACTIVITY_KIND_MEMORY_POOL:
      return kVersion >= 130000 ? 80 : 72;
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return 40;
    case CUPTI_ACTIVITY_KIND_OVERHEAD:
      return kVersion >= 22 ? 56 : kVersion >= 20 ? 48 : 40;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return kVersion >= 26 ? 56 : 40;
    case CUPTI_ACTIVITY_KIND_CUDA_EVENT:
      return kVersion >= 26 ? 56 : 24;
    case CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER:
      return kVersion >= 26 ? 104 : 64;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
      return kVersion >= 21 ? 56 : 48;
    case CUPTI_ACTIVITY_KIND_CONTEXT:
      return kVersion >= 130100 ? 40 : kVersion >= 23 ? 32 : kVersion >= 22 ? 24 : 16;
    case CUPTI_ACTIVITY_KIND_DEVICE:
      return kVersion >= 130200 ? 192 : kVersion >= 22 ? 184 : 176;
    case CUPTI_ACTIVITY_KIND_STREAM:
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return 24;
    case kKindHostLaunch:
      return kVersion >= 130100 ? 48 : 0;
    case kKindGraphHostNode:
      return kVersion >= 130100 ? 56 : 0;
    default:
      return 0;
  }
}

static_assert(sizeof(CUpti_ActivityKernel10) == 216 && sizeof(CUpti_ActivityKernel9) == 208 &&
              sizeof(CUpti_ActivityKernel8) == 200);
static_assert(sizeof(CUpti_ActivityMemcpy6) == 96 && sizeof(CUpti_ActivityMemcpy5) == 88);
static_assert(sizeof(CUpti_ActivityMemcpyPtoP4) == 96 && sizeof(CUpti_ActivityMemset4) == 88);
static_assert(sizeof(CUpti_ActivityMemory4) == 128 && sizeof(CUpti_ActivityMemory3) == 120);
static_assert(sizeof(CUpti_ActivityMemoryPool3) == 80 && sizeof(CUpti_ActivityMemoryPool2) == 72);
static_assert(sizeof(CUpti_ActivityAPI) == 40 && sizeof(CUpti_ActivityExternalCorrelation) == 24);
static_assert(sizeof(CUpti_ActivityOverhead3) == 56 && sizeof(CUpti_ActivityOverhead) == 40);
static_assert(sizeof(CUpti_ActivitySynchronization2) == 56 &&
              sizeof(CUpti_ActivitySynchronization) == 40);
static_assert(sizeof(CUpti_ActivityCudaEvent2) == 56 && sizeof(CUpti_ActivityCudaEvent) == 24);
static_assert(sizeof(CUpti_ActivityUnifiedMemoryCounter3) == 104 &&
              sizeof(CUpti_ActivityUnifiedMemoryCounter2) == 64);
static_assert(sizeof(CUpti_ActivityGraphTrace2) == 56 && sizeof(CUpti_ActivityGraphTrace) == 48);
static_assert(sizeof(CUpti_ActivityContext3) == 32 && sizeof(CUpti_ActivityContext2) == 24);
static_assert(sizeof(CUpti_ActivityDevice5) == 184 && sizeof(CUpti_ActivityDevice4) == 176);
static_assert(sizeof(CUpti_ActivityStream) == 24);
static_assert(sizeof(HostLaunchRecord) == 48 && sizeof(GraphHostNodeRecord) == 56);

}  // namespace fake_gpu_cupti
