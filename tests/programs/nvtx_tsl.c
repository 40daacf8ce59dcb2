// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hazard: a library makes its domain, its strings and its schema once, before anything is recorded,
// and makes no range for the rest of its life if the domain is null. JAX's library does so.
//
// Prints whether there is a domain. Then it makes ranges for each line that it reads.

#include <nvtx3/nvToolsExtPayload.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef struct {
  uint64_t module;
  uint64_t program_id;
} Payload;

static nvtxDomainHandle_t tsl;

static void push(nvtxStringHandle_t registered, const char* text, const nvtxPayloadData_t* data) {
  nvtxEventAttributes_t event = {0};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = registered != NULL ? NVTX_MESSAGE_TYPE_REGISTERED : NVTX_MESSAGE_TYPE_ASCII;
  if (registered != NULL) {
    event.message.registered = registered;
  } else {
    event.message.ascii = text;
  }
  if (data != NULL) {
    event.payload.ullValue = (uint64_t)(uintptr_t)data;
    event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    event.reserved0 = 1;
  }
  nvtxDomainRangePushEx(tsl, &event);
}

int main(void) {
  tsl = nvtxDomainCreateA("TSL");
  // As long as TSL lets a string be.
  static char text[65330];
  memset(text, 'x', sizeof text - 1);
  const nvtxStringHandle_t longest = nvtxDomainRegisterStringA(tsl, text);
  const nvtxStringHandle_t name =
      nvtxDomainRegisterStringA(tsl, "XlaModule:#hlo_module=jit_train_step,program_id=11#");
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "hlo_module", NULL, 0, 0, NULL,
       NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "program_id", NULL, 0, sizeof(uint64_t), NULL, NULL}};
  nvtxPayloadSchemaAttr_t schema;
  memset(&schema, 0, sizeof schema);
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = sizeof(Payload);
  const uint64_t id = nvtxPayloadSchemaRegister(tsl, &schema);
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "executor");
  printf("domain %d, strings %d\n", tsl != NULL, longest != NULL && name != NULL);
  fflush(stdout);
  char line[64];
  while (fgets(line, sizeof line, stdin) != NULL) {
    const Payload payload = {(uint64_t)(uintptr_t)name, 11};
    const nvtxPayloadData_t data = {id, sizeof payload, &payload};
    push(name, NULL, &data);
    push(NULL, "dot.1", NULL);
    push(longest, NULL, NULL);
    nvtxDomainRangePop(tsl);
    nvtxDomainRangePop(tsl);
    nvtxDomainRangePop(tsl);
    printf("done\n");
    fflush(stdout);
  }
  return 0;
}
