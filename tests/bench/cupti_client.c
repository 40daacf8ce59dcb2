// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// CUPTI bare, for tests/bench/launches.py: what any tool that asks for kernels, copies and runtime
// calls makes a program pay, and nothing more. With CUPTI_CLIENT_ASKS=gpuprof it asks for what
// gpuprof asks for: allocations and the driver's launches as well, but no calls that only look.
// CUDA_INJECTION64_PATH names this library; buffers are kept by the dozen and thrown away as they
// come. At the end it prints how many bytes there were in them, by which the bench knows that it
// measured something.

#include <cupti.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kBufferBytes = 1 << 20, kMostKept = 64 };

static pthread_mutex_t g_mutex = PTHREAD_MUTEX_INITIALIZER;
static uint8_t* g_kept[kMostKept];
static int g_count;
static unsigned long long g_bytes;

static void CUPTIAPI OnRequest(uint8_t** buffer, size_t* size, size_t* most_records) {
  *buffer = NULL;
  pthread_mutex_lock(&g_mutex);
  if (g_count > 0) *buffer = g_kept[--g_count];
  pthread_mutex_unlock(&g_mutex);
  if (*buffer == NULL) *buffer = aligned_alloc(8, kBufferBytes);
  *size = kBufferBytes;
  *most_records = 0;
}

static void CUPTIAPI OnComplete(CUcontext context, uint32_t stream, uint8_t* buffer, size_t size,
                                size_t valid) {
  (void)context, (void)stream, (void)size;
  pthread_mutex_lock(&g_mutex);
  g_bytes += valid;
  const int keep = g_count < kMostKept;
  if (keep) g_kept[g_count++] = buffer;
  pthread_mutex_unlock(&g_mutex);
  if (!keep) free(buffer);
}

static void CUPTIAPI OnCallback(void* user, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data) {
  (void)user, (void)domain, (void)id, (void)data;
}

static void Enable(const CUpti_ActivityKind* kinds, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (cuptiActivityEnable(kinds[i]) != CUPTI_SUCCESS) abort();
  }
}

// Whether a function's name begins with one of `names`, which ends in NULL.
static int BeginsWith(const char* const* names, CUpti_CallbackDomain domain, uint32_t id) {
  const char* name = NULL;
  if (cuptiGetCallbackName(domain, id, &name) != CUPTI_SUCCESS || name == NULL) return 0;
  for (; *names != NULL; ++names) {
    if (strncmp(name, *names, strlen(*names)) == 0) return 1;
  }
  return 0;
}

static void AskAsGpuprof(void) {
  static const CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_MEMORY2,
                                             CUPTI_ACTIVITY_KIND_MEMORY_POOL};
  static const char* const driver[] = {"cuLaunch", "cuGraphLaunch", "cuMem", NULL};
  static const char* const idle[] = {"cudaGetDevice",
                                     "cudaSetDevice",
                                     "cudaGetLastError",
                                     "cudaPeekAtLastError",
                                     "cudaStreamIsCapturing",
                                     "__cudaPushCallConfiguration",
                                     "__cudaPopCallConfiguration",
                                     NULL};
  Enable(kinds, sizeof(kinds) / sizeof(kinds[0]));
  for (uint32_t id = 1; id < 1024; ++id) {
    if (BeginsWith(driver, CUPTI_CB_DOMAIN_DRIVER_API, id)) cuptiActivityEnableDriverApi(id, 1);
    if (BeginsWith(idle, CUPTI_CB_DOMAIN_RUNTIME_API, id)) cuptiActivityEnableRuntimeApi(id, 0);
  }
}

static void Tell(void) { printf("cupti_bytes=%llu\n", g_bytes); }

__attribute__((visibility("default"))) int InitializeInjection(void) {
  static const CUpti_ActivityKind kinds[] = {
      CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
      CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
      CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
  CUpti_SubscriberHandle subscriber;
  if (cuptiSubscribe(&subscriber, OnCallback, NULL) != CUPTI_SUCCESS) abort();
  if (cuptiActivityRegisterCallbacks(OnRequest, OnComplete) != CUPTI_SUCCESS) abort();
  Enable(kinds, sizeof(kinds) / sizeof(kinds[0]));
  atexit(Tell);
  const char* asks = getenv("CUPTI_CLIENT_ASKS");
  if (asks != NULL && strcmp(asks, "gpuprof") == 0) AskAsGpuprof();
  return 1;
}
