// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A tool for NVTX_INJECTION64_PATH that takes the payload extension too: prints to NVTX_TOOL_OUT,
// when the program ends, how often each function of it was called, and every schema that it had
// never given out. Its ids and levels are its own. NVTX_TOOL_REFUSES: it fills the extension's
// slots and then fails.

#include <nvtx3/nvToolsExtPayload.h>
#include <stdio.h>
#include <stdlib.h>

static int schemas, enums, pushes, pops, starts, ends, marks, initialised, foreign;

// Handles are addresses here. Each string has its own.
static char domain_handle, string_handles[16];
static unsigned strings;
#define FIRST_ID (NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START + 7000)

static void look(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count) {
  if ((char*)domain != &domain_handle) ++foreign;
  for (size_t i = 0; i < count; ++i) {
    const uint64_t id = data[i].schemaId;
    if (id >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START && (id < FIRST_ID || id >= FIRST_ID + schemas))
      ++foreign;
  }
}

static uint64_t NVTX_API schema(nvtxDomainHandle_t domain, const nvtxPayloadSchemaAttr_t* a) {
  look(domain, NULL, 0);
  const uint64_t id = FIRST_ID + schemas++;
  return a->schemaId != 0 ? a->schemaId : id;
}
static uint64_t NVTX_API enumeration(nvtxDomainHandle_t domain, const nvtxPayloadEnumAttr_t* a) {
  look(domain, NULL, 0);
  return ++enums, a->schemaId;
}
static int NVTX_API push(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count) {
  look(domain, data, count);
  return ++pushes, 1000;
}
static int NVTX_API pop(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count) {
  look(domain, data, count);
  return ++pops, 1000;
}
static nvtxRangeId_t NVTX_API start(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data,
                                    size_t count) {
  look(domain, data, count);
  return 99 + (nvtxRangeId_t)++starts;
}
static void NVTX_API end(nvtxDomainHandle_t domain, nvtxRangeId_t id, const nvtxPayloadData_t* data,
                         size_t count) {
  look(domain, data, count);
  if (id != 99 + (nvtxRangeId_t)starts) ++foreign;
  ++ends;
}
static void NVTX_API mark(nvtxDomainHandle_t domain, const nvtxPayloadData_t* data, size_t count) {
  look(domain, data, count);
  ++marks;
}
static uint8_t NVTX_API enabled(nvtxDomainHandle_t domain) { return 1; }

static nvtxDomainHandle_t NVTX_API create(const char* name) {
  return (nvtxDomainHandle_t)&domain_handle;
}
static nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t domain, const char* text) {
  return (nvtxStringHandle_t)&string_handles[strings++ % 16];
}
static nvtxRangeId_t NVTX_API domain_start(nvtxDomainHandle_t domain,
                                           const nvtxEventAttributes_t* a) {
  return 5;
}

static void report(void) {
  const char* path = getenv("NVTX_TOOL_OUT");
  FILE* out = path != NULL ? fopen(path, "w") : NULL;
  if (out == NULL) return;
  fprintf(out,
          "{\"initialised\": %d, \"schemas\": %d, \"enums\": %d, \"pushes\": %d, \"pops\": %d, "
          "\"starts\": %d, \"ends\": %d, \"marks\": %d, \"foreign\": %d}\n",
          initialised, schemas, enums, pushes, pops, starts, ends, marks, foreign);
  fclose(out);
}

__attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get_table) {
  const NvtxExportTableCallbacks* callbacks = get_table(NVTX_ETID_CALLBACKS);
  NvtxFunctionTable table;
  unsigned size;
  if (callbacks == NULL) return 0;
  if (!callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size)) return 0;
  *table[NVTX_CBID_CORE2_DomainCreateA] = (NvtxFunctionPointer)create;
  *table[NVTX_CBID_CORE2_DomainRegisterStringA] = (NvtxFunctionPointer)register_string;
  *table[NVTX_CBID_CORE2_DomainRangeStartEx] = (NvtxFunctionPointer)domain_start;
  return 1;
}

__attribute__((visibility("default"))) int InitializeInjectionNvtxExtension(
    nvtxExtModuleInfo_t* module) {
  if (module->moduleId != NVTX_EXT_PAYLOAD_MODULEID) return 0;
  intptr_t* slots = module->segments->functionSlots;
  slots[NVTX3EXT_CBID_nvtxPayloadSchemaRegister] = (intptr_t)schema;
  slots[NVTX3EXT_CBID_nvtxPayloadEnumRegister] = (intptr_t)enumeration;
  slots[NVTX3EXT_CBID_nvtxRangePushPayload] = (intptr_t)push;
  slots[NVTX3EXT_CBID_nvtxRangePopPayload] = (intptr_t)pop;
  slots[NVTX3EXT_CBID_nvtxRangeStartPayload] = (intptr_t)start;
  slots[NVTX3EXT_CBID_nvtxRangeEndPayload] = (intptr_t)end;
  slots[NVTX3EXT_CBID_nvtxMarkPayload] = (intptr_t)mark;
  slots[NVTX3EXT_CBID_nvtxDomainIsEnabled] = (intptr_t)enabled;
  if (++initialised == 1) atexit(report);
  return getenv("NVTX_TOOL_REFUSES") == NULL;
}
