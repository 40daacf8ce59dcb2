// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Declarations of the entry points of 13.3 after its headers (wheel nvidia-cuda-cupti 13.3.75); the
// toolkit that builds this is older.

#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace fake_gpu_cupti {

// What cuDriverGetVersion tells for r610.
constexpr int kDriverOfV2 = 13030;

}  // namespace fake_gpu_cupti

struct RequestInfoV2 {
  size_t structSize;
  uint64_t threadId;
};

struct CompleteInfoV2 {
  size_t structSize;
  uint64_t threadId;
  void** ppRecordLayouts;
  size_t numRecordLayouts;
};

using RequestV2 = void (*)(uint8_t**, size_t*, size_t*, RequestInfoV2*);
using CompleteV2 = void (*)(uint8_t*, size_t, size_t, CompleteInfoV2*);

// As 13.2 and later have it: the last two fields are new, and are of the size that is told.
struct SubscriberParamsV2 {
  CUpti_SubscriberParams first;
  uint8_t allowMultipleSubscribers;
  uint8_t padding[7];
};
static_assert(sizeof(SubscriberParamsV2) == 40);

// CUpti_ActivityAttribute.
constexpr int kAttributeMultipleSubscriberState = 12;
constexpr int kAttributeAllSyncRecords = 16;
constexpr int kAttributeGraphTrace = 20;
constexpr int kAttributeThreadIdType = 21;

extern "C" {
CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle, RequestV2, CompleteV2);
CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle, CUpti_ActivityKind, void*);
CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle, CUpti_ActivityKind, void*);
CUptiResult cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle, CUpti_ActivityKind, void*);
CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle, uint8_t*, size_t,
                                          CUpti_Activity**);
CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle, CUcontext, uint32_t,
                                                 size_t*);
CUptiResult cuptiActivityGetEnabledKinds(CUpti_SubscriberHandle, CUpti_ActivityKind*, uint32_t*,
                                         uint32_t*);
CUptiResult cuptiGetTimestamp_v2(CUpti_SubscriberHandle, uint64_t*);
CUptiResult cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle, CUpti_ActivityAttribute, size_t*,
                                         void*);
CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle, CUpti_ActivityAttribute, size_t*,
                                         void*);
}
