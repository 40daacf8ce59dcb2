// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A tool for NVTX_INJECTION64_PATH, as a user may have one: prints to NVTX_TOOL_OUT, when the
// program ends, how often each of its functions was called, and every handle or number that it had
// never given out. NVTX_TOOL_REFUSES: it fills the slots and then fails.

#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Threads call at the same time.
static _Atomic int pushes, pops, starts, ends, marks, domains, strings, resources, categories;
static _Atomic int initialised, foreign, depth;
// Handles are addresses here, ids odd numbers.
static char domain_handles[8], string_handles[8], resource_handle;

static int is_domain(nvtxDomainHandle_t domain) {
  return domain == NULL ||
         ((char*)domain >= domain_handles && (char*)domain < domain_handles + domains);
}

static void look(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  if (!is_domain(domain)) ++foreign;
  if (a == NULL || a->messageType != NVTX_MESSAGE_TYPE_REGISTERED) return;
  char* handle = (char*)a->message.registered;
  if (handle < string_handles || handle >= string_handles + strings) ++foreign;
}

static int NVTX_API push(const char* text) { return ++pushes, depth++; }
static int NVTX_API push_wide(const wchar_t* text) { return ++pushes, depth++; }
static int NVTX_API domain_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  look(domain, a);
  return ++pushes, 1000;
}
static int NVTX_API pop(void) { return ++pops, --depth; }
static int NVTX_API domain_pop(nvtxDomainHandle_t domain) {
  look(domain, NULL);
  return ++pops, 1000;
}
static nvtxRangeId_t next_id(void) { return 1 + 2 * (nvtxRangeId_t)++starts; }
static nvtxRangeId_t NVTX_API start(const char* text) { return next_id(); }
static nvtxRangeId_t NVTX_API start_wide(const wchar_t* text) { return next_id(); }
static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain,
                                           const nvtxEventAttributes_t* a) {
  look(domain, a);
  return next_id();
}
static void NVTX_API end(nvtxRangeId_t id) {
  ++ends;
  if (id % 2 == 0 || id > 1 + 2 * (nvtxRangeId_t)starts) ++foreign;
}
static void NVTX_API domain_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  look(domain, NULL);
  end(id);
}
static void NVTX_API mark(const char* text) { ++marks; }
static void NVTX_API domain_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* a) {
  look(domain, a);
  ++marks;
}
static nvtxDomainHandle_t NVTX_API create(const char* name) {
  return (nvtxDomainHandle_t)&domain_handles[domains++];
}
static nvtxDomainHandle_t NVTX_API create_wide(const wchar_t* name) {
  return (nvtxDomainHandle_t)&domain_handles[domains++];
}
static void NVTX_API destroy(nvtxDomainHandle_t domain) { look(domain, NULL); }
static nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t domain, const char* text) {
  look(domain, NULL);
  return (nvtxStringHandle_t)&string_handles[strings++];
}
static nvtxStringHandle_t NVTX_API register_wide(nvtxDomainHandle_t domain, const wchar_t* text) {
  look(domain, NULL);
  return (nvtxStringHandle_t)&string_handles[strings++];
}
static void NVTX_API category(nvtxDomainHandle_t domain, uint32_t number, const char* name) {
  look(domain, NULL);
  ++categories;
}
static nvtxResourceHandle_t NVTX_API resource(nvtxDomainHandle_t domain,
                                              nvtxResourceAttributes_t* a) {
  look(domain, NULL);
  ++resources;
  return (nvtxResourceHandle_t)&resource_handle;
}

static void report(void) {
  const char* path = getenv("NVTX_TOOL_OUT");
  FILE* out = path != NULL ? fopen(path, "w") : NULL;
  if (out == NULL) return;
  fprintf(out,
          "{\"initialised\": %d, \"pushes\": %d, \"pops\": %d, \"starts\": %d, \"ends\": %d, "
          "\"marks\": %d, \"domains\": %d, \"strings\": %d, \"categories\": %d, \"foreign\": %d}\n",
          initialised, pushes, pops, starts, ends, marks, domains, strings, categories, foreign);
  fclose(out);
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableCallbacks* callbacks = get_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned size;
  if (callbacks == NULL) return 0;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size)) return 0;
#define TAKE(id, function) *table[id] = (NvtxFunctionPointer)(function)
  TAKE(NVTX_CBID_CORE_MarkA, mark);
  TAKE(NVTX_CBID_CORE_RangeStartA, start);
  TAKE(NVTX_CBID_CORE_RangeStartW, start_wide);
  TAKE(NVTX_CBID_CORE_RangeEnd, end);
  TAKE(NVTX_CBID_CORE_RangePushA, push);
  TAKE(NVTX_CBID_CORE_RangePushW, push_wide);
  TAKE(NVTX_CBID_CORE_RangePop, pop);
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
  TAKE(NVTX_CBID_CORE2_DomainMarkEx, domain_mark);
  TAKE(NVTX_CBID_CORE2_DomainRangeStartEx, domain_start);
  TAKE(NVTX_CBID_CORE2_DomainRangeEnd, domain_end);
  TAKE(NVTX_CBID_CORE2_DomainRangePushEx, domain_push);
  TAKE(NVTX_CBID_CORE2_DomainRangePop, domain_pop);
  TAKE(NVTX_CBID_CORE2_DomainResourceCreate, resource);
  TAKE(NVTX_CBID_CORE2_DomainNameCategoryA, category);
  TAKE(NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  TAKE(NVTX_CBID_CORE2_DomainRegisterStringW, register_wide);
  TAKE(NVTX_CBID_CORE2_DomainCreateA, create);
  TAKE(NVTX_CBID_CORE2_DomainCreateW, create_wide);
  TAKE(NVTX_CBID_CORE2_DomainDestroy, destroy);
  if (++initialised == 1) atexit(report);
  return getenv("NVTX_TOOL_REFUSES") == NULL;
}
