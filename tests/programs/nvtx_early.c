// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hazard: a library that the program is linked with calls NVTX in its constructor, which may run
// before the profiler's own. It and the program make a range each, the library another one when it
// is called.

#include <nvtx3/nvToolsExt.h>

__attribute__((visibility("default"))) void CallLibrary(void);

#ifdef GPUPROF_VICTIM_LIBRARY

static nvtxDomainHandle_t g_domain;

static void Range(const char* message) {
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = message;
  nvtxDomainRangePushEx(g_domain, &event);
  nvtxDomainRangePop(g_domain);
}

__attribute__((constructor)) static void Begin(void) {
  g_domain = nvtxDomainCreateA("library");
  Range("constructor");
}

void CallLibrary(void) { Range("function"); }

#else

int main(void) {
  nvtxRangePushA("main");
  CallLibrary();
  nvtxRangePop();
  return 0;
}

#endif
