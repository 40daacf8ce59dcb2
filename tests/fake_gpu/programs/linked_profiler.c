// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A profiler as torch.profiler is one: in a library that is linked to libcupti, loaded with
// RTLD_LOCAL, with a clock of its own in units of its own. It subscribes to nothing, as of late; or
// once for all, and where that is refused it never looks for a GPU again, as before. Each library
// is linked to one libcupti (11.8, 12, 13).

#include <cupti.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { kBytes = 1 << 20, kMost = 4096 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static uint8_t* given[kMost];
static int outside, kernels, foreign;
static uint64_t first_ticks;
static CUpti_SubscriberHandle subscriber;
static int has_tried, subscribed, contexts;

static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
                                           CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL};
enum { kKinds = sizeof kinds / sizeof kinds[0] };

// What its clock begins with, as one that reads the GPU's does: within a call of CUPTI's, then.
static void (*start_cuda)(void);
__attribute__((visibility("default"))) int StartCudaBy(void (*start)(void)) {
  start_cuda = start;
  return 0;
}

// Ticks of a quarter of a nanosecond, since the machine began.
static uint64_t Ticks(void) {
  void (*start)(void) = start_cuda;
  start_cuda = NULL;
  if (start != NULL) start();
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 4 * ((uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

static void Requested(uint8_t** buffer, size_t* size, size_t* records) {
  pthread_mutex_lock(&mutex);
  for (int i = 0; i < kMost; ++i) {
    if (given[i] != NULL) continue;
    *buffer = given[i] = malloc(kBytes);
    ++outside;
    break;
  }
  pthread_mutex_unlock(&mutex);
  *size = kBytes;
  *records = 0;
}

static void Completed(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                      size_t valid) {
  pthread_mutex_lock(&mutex);
  int place = 0;
  while (place < kMost && given[place] != buffer) ++place;
  if (place == kMost) {
    ++foreign;
  } else {
    given[place] = NULL;
    --outside;
    CUpti_Activity* record = NULL;
    while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
      if (record->kind != CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) continue;
      const uint64_t start = ((const CUpti_ActivityKernel4*)record)->start;
      if (start >= first_ticks && start <= Ticks()) ++kernels;
    }
    free(buffer);
  }
  pthread_mutex_unlock(&mutex);
}

static void OnCallback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                       const void* data) {
  if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CONTEXT_CREATED)
    __atomic_add_fetch((int*)user, 1, __ATOMIC_RELAXED);
}

static int Subscribe(void) {
  const CUptiResult result = cuptiSubscribe(&subscriber, OnCallback, &contexts);
  if (result != CUPTI_SUCCESS) return (int)result;
  return (int)cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                  CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
}

__attribute__((visibility("default"))) int Begin(int subscribes) {
  if (subscribes && !has_tried) subscribed = Subscribe();
  has_tried = 1;
  if (subscribed != 0) return subscribed;
  cuptiActivityRegisterTimestampCallback(Ticks);
  first_ticks = Ticks();
  // As there, what fails is told and nothing else: the rest is asked for all the same.
  int result = (int)cuptiActivityRegisterCallbacks(Requested, Completed);
  for (int i = 0; i < kKinds; ++i) {
    const CUptiResult enabled = cuptiActivityEnable(kinds[i]);
    if (result == 0) result = (int)enabled;
  }
  return result;
}

// Before it has any buffers, and they in turn.
__attribute__((visibility("default"))) int Early(void) {
  first_ticks = Ticks();
  cuptiActivityRegisterTimestampCallback(Ticks);
  return (int)cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}
__attribute__((visibility("default"))) int Kind(int kind) {
  return (int)cuptiActivityEnable((CUpti_ActivityKind)kind);
}
__attribute__((visibility("default"))) int Buffers(void) {
  return (int)cuptiActivityRegisterCallbacks(Requested, Completed);
}

// That it was called back for.
__attribute__((visibility("default"))) int Contexts(void) { return contexts; }

// Lets go of the subscription, or asks to be called back for each call: the result of CUPTI.
__attribute__((visibility("default"))) int Leave(void) { return cuptiUnsubscribe(subscriber); }
__attribute__((visibility("default"))) int Follow(int enable) {
  return cuptiEnableDomain(enable, subscriber, CUPTI_CB_DOMAIN_RUNTIME_API);
}

// What is in its buffers stays there.
__attribute__((visibility("default"))) int Pause(void) {
  int result = 0;
  for (int i = 0; i < kKinds; ++i) {
    const CUptiResult disabled = cuptiActivityDisable(kinds[i]);
    if (result == 0) result = (int)disabled;
  }
  return result;
}
__attribute__((visibility("default"))) int Quiet(void) {
  return cuptiEnableDomain(0, subscriber, CUPTI_CB_DOMAIN_RESOURCE);
}
__attribute__((visibility("default"))) int Dropped(void) {
  size_t dropped = 0;
  const CUptiResult result = cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped);
  return result == CUPTI_SUCCESS ? (int)dropped : -(int)result;
}
// Subscribes by the second generation's function, as releases from 13.0 on have it, and leaves.
__attribute__((visibility("default"))) int Second(void) {
#if LINKED_CUPTI >= 130000
  CUpti_SubscriberParams parameters = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
                                       .subscriberName = "linked_profiler"};
  CUpti_SubscriberHandle handle;
  const CUptiResult result = cuptiSubscribe_v2(&handle, NULL, NULL, &parameters);
  return result != CUPTI_SUCCESS ? (int)result : (int)cuptiUnsubscribe(handle);
#else
  return -1;
#endif
}
__attribute__((visibility("default"))) int Finalize(void) { return cuptiFinalize(); }

// Kernels within its time, by its clock; negative: it was given what is not its own.
__attribute__((visibility("default"))) int End(void) {
  Pause();
  // With no buffer outside there is nothing to be had, it takes for granted.
  pthread_mutex_lock(&mutex);
  const int has_any = outside != 0;
  pthread_mutex_unlock(&mutex);
  if (!has_any) return 0;
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  pthread_mutex_lock(&mutex);
  const int found = foreign != 0 ? -foreign : kernels;
  kernels = 0;
  pthread_mutex_unlock(&mutex);
  return found;
}
