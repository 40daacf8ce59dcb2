// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The entry points of 13.3 that name their subscriber. No header of that release was at hand: names
// and orders of arguments are the documentation's, and sizes of what is only passed on are not
// looked at. Of several subscribers this double hosts one; what it does copy is that the two
// generations of entry points do not mix, and that they need a driver of their age.

#include "tests/fake_gpu/cupti/buffers.h"
#include "tests/fake_gpu/cupti/personality.h"
#include "tests/fake_gpu/cupti/state.h"
#include "tests/fake_gpu/cupti/v2.h"
#include "tests/fake_gpu/device/call.h"
#include "tests/fake_gpu/device/script.h"

using fake_gpu_cupti::Gate;
using fake_gpu_cupti::TheState;

namespace {

RequestV2 request_v2;
CompleteV2 complete_v2;

void Requested(uint8_t** buffer, size_t* size, size_t* records) {
  RequestInfoV2 info{sizeof info, fake_gpu::CurrentTid()};
  request_v2(buffer, size, records, &info);
}

void Completed(CUcontext, uint32_t, uint8_t* buffer, size_t size, size_t valid) {
  CompleteInfoV2 info{sizeof info, 0, nullptr, 0};
  complete_v2(buffer, size, valid, &info);
}

// Each begins with it.
CUptiResult Enter(const char* function, CUpti_SubscriberHandle subscriber) {
  if (const CUptiResult gate = Gate(function, true); gate != CUPTI_SUCCESS) return gate;
  if (fake_gpu::TheScript().driver_version < fake_gpu_cupti::kDriverOfV2)
    return CUPTI_ERROR_NOT_SUPPORTED;
  if (subscriber == nullptr || subscriber != TheState().subscriber.load())
    return CUPTI_ERROR_INVALID_PARAMETER;
  return TheState().several.load() ? CUPTI_SUCCESS : CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

}  // namespace

CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber, RequestV2 request,
                                              CompleteV2 complete) {
  const CUptiResult enter = Enter("cuptiActivityRegisterCallbacks_v2", subscriber);
  if (enter != CUPTI_SUCCESS) return enter;
  if (request == nullptr || complete == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
  request_v2 = request;
  complete_v2 = complete;
  fake_gpu_cupti::SetBufferCallbacks(Requested, Completed);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                   void*) {
  const CUptiResult enter = Enter("cuptiActivityEnable_v2", subscriber);
  return enter != CUPTI_SUCCESS ? enter : fake_gpu_cupti::SetKind(kind, true);
}

CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                    void*) {
  const CUptiResult enter = Enter("cuptiActivityDisable_v2", subscriber);
  return enter != CUPTI_SUCCESS ? enter : fake_gpu_cupti::SetKind(kind, false);
}

CUptiResult cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle subscriber,
                                          CUpti_ActivityKind kind, void*) {
  const CUptiResult enter = Enter("cuptiActivityEnableAndDump_v2", subscriber);
  if (enter != CUPTI_SUCCESS) return enter;
  const CUptiResult result = fake_gpu_cupti::SetKind(kind, true);
  if (result == CUPTI_SUCCESS) fake_gpu_cupti::Dump(kind);
  return result;
}

CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle, uint8_t* buffer, size_t valid,
                                          CUpti_Activity** record) {
  return fake_gpu_cupti::NextRecord(buffer, valid, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber, CUcontext,
                                                 uint32_t, size_t* dropped) {
  const CUptiResult enter = Enter("cuptiActivityGetNumDroppedRecords_v2", subscriber);
  if (enter == CUPTI_SUCCESS) *dropped = fake_gpu_cupti::TakeDropped();
  return enter;
}

CUptiResult cuptiGetTimestamp_v2(CUpti_SubscriberHandle, uint64_t* timestamp) {
  return cuptiGetTimestamp(timestamp);
}

CUptiResult cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle subscriber,
                                         CUpti_ActivityAttribute attribute, size_t* size,
                                         void* value) {
  const CUptiResult enter = Enter("cuptiActivityGetAttribute_v2", subscriber);
  return enter != CUPTI_SUCCESS ? enter : cuptiActivityGetAttribute(attribute, size, value);
}

CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle subscriber,
                                         CUpti_ActivityAttribute attribute, size_t* size,
                                         void* value) {
  const CUptiResult enter = Enter("cuptiActivitySetAttribute_v2", subscriber);
  return enter != CUPTI_SUCCESS ? enter : cuptiActivitySetAttribute(attribute, size, value);
}
