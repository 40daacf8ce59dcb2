// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Ranges with extended payloads, as NCCL has them, and what can go wrong with them. Prints one JSON
// object a line for each range and mark, in the order in which they end: domain, name, values.
//
//   nvtx_payloads mix | wrong | late | cost N

#include <nvtx3/nvToolsExtPayload.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

typedef struct {
  uint64_t comm;
  size_t bytes;
  int op;
} Reduction;

#define OP_ID (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 11)
#define REDUCTION_ID (NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5)

static nvtxDomainHandle_t nccl;
static nvtxStringHandle_t all_reduce;

static uint64_t define(uint64_t type, const nvtxPayloadSchemaEntry_t* entries, size_t count,
                       size_t size, uint64_t id) {
  nvtxPayloadSchemaAttr_t a;
  memset(&a, 0, sizeof a);
  a.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                (id != 0 ? NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID : 0);
  a.type = type;
  a.entries = entries;
  a.numEntries = count;
  a.payloadStaticSize = size;
  a.schemaId = id;
  return nvtxPayloadSchemaRegister(nccl, &a);
}

static void define_all(void) {
  nccl = nvtxDomainCreateA("NCCL");
  all_reduce = nvtxDomainRegisterStringA(nccl, "ncclAllReduce");
  const nvtxPayloadEnum_t names[] = {{"Sum", 0, 0}, {"Prod", 1, 0}, {"Max", 2, 0}};
  nvtxPayloadEnumAttr_t a;
  memset(&a, 0, sizeof a);
  a.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  a.entries = names;
  a.numEntries = 3;
  a.sizeOfEnum = sizeof(int);
  a.schemaId = OP_ID;
  nvtxPayloadEnumRegister(nccl, &a);
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "NCCL communicator ID", NULL, 0,
       offsetof(Reduction, comm)},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "Message size [bytes]", NULL, 0,
       offsetof(Reduction, bytes)},
      {0, OP_ID, "Reduction operation", NULL, 0, offsetof(Reduction, op)},
  };
  define(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entries, 3, sizeof(Reduction), REDUCTION_ID);
}

static nvtxEventAttributes_t with(const nvtxPayloadData_t* data, int count) {
  nvtxEventAttributes_t a;
  memset(&a, 0, sizeof a);
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = all_reduce;
  a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  a.reserved0 = count;
  a.payload.ullValue = (uint64_t)(uintptr_t)data;
  return a;
}

static void push(uint64_t schema, const void* payload, size_t size) {
  nvtxPayloadData_t data = {schema, size, payload};
  const nvtxEventAttributes_t a = with(&data, 1);
  nvtxDomainRangePushEx(nccl, &a);
  memset(&data, 0xee, sizeof data);  // of no use after the call
}

static void tell(const char* name, const char* values) {
  printf("{\"domain\": \"NCCL\", \"name\": \"%s\", \"values\": {%s}}\n", name, values);
}

// The payload is overwritten before the range ends.
static void reduce(size_t bytes, int op, const char* op_name) {
  Reduction r = {0xfeedfacecafebeefu, bytes, op};
  push(REDUCTION_ID, &r, sizeof r);
  memset(&r, 0x77, sizeof r);
  nvtxDomainRangePop(nccl);
  char text[200];
  snprintf(text, sizeof text,
           "\"NCCL communicator ID\": %llu, \"Message size [bytes]\": %zu, "
           "\"Reduction operation\": %s",
           0xfeedfacecafebeefull, bytes, op_name);
  tell("ncclAllReduce", text);
}

static void payload_calls(void) {
  typedef struct {
    double rate;
    float share;
    int8_t sign;
    char tag[6];
    void* where;
  } Work;
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "rate"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "share"},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT8, "sign"},
      {NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE, NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, "message", NULL, 6},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_ADDRESS, "where"},
  };
  const uint64_t schema = define(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entries, 5, sizeof(Work), 0);
  const nvtxPayloadSchemaEntry_t box[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_UINT16, "id"},
                                          {0, schema, "work"}};
  const uint64_t outer = define(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, box, 2, 0, 0);
  struct {
    uint16_t id;
    Work work;
  } const payload = {65535, {0.5, 0.25f, -3, "step", (void*)0x1230}};
  const char* nested =
      "\"id\": 65535, \"work.rate\": 0.5, \"work.share\": 0.25, \"work.sign\": -3, \"work.where\": "
      "\"0x1230\"";
  const char* flat = "\"rate\": 0.5, \"share\": 0.25, \"sign\": -3, \"where\": \"0x1230\"";
  nvtxPayloadData_t data = {outer, sizeof payload, &payload};
  nvtxPayloadData_t inner = {schema, SIZE_MAX, &payload.work};
  const uint32_t result = 17;
  nvtxPayloadData_t more = {NVTX_PAYLOAD_ENTRY_TYPE_UINT32, sizeof result, &result};
  char text[300];

  nvtxRangePushPayload(nccl, &data, 1);
  nvtxMarkPayload(nccl, &inner, 1);
  tell("step", flat);
  nvtxRangePopPayload(nccl, &more, 1);
  snprintf(text, sizeof text, "%s, \"payload\": 17", nested);
  tell("step", text);

  const nvtxRangeId_t id = nvtxRangeStartPayload(nccl, &inner, 1);
  nvtxRangeEndPayload(nccl, id, &more, 1);
  snprintf(text, sizeof text, "%s, \"payload\": 17", flat);
  tell("step", text);

  nvtxPayloadData_t both[] = {{REDUCTION_ID, 0, NULL}, {schema, sizeof(Work), &payload.work}};
  const Reduction r = {1, 2, 0};
  both[0].size = sizeof r, both[0].payload = &r;
  nvtxEventAttributes_t a = with(both, 2);
  nvtxDomainMarkEx(nccl, &a);
  snprintf(text, sizeof text,
           "\"NCCL communicator ID\": 1, \"Message size [bytes]\": 2, \"Reduction operation\": "
           "\"Sum\", \"rate\": 0.5, \"share\": 0.25, \"sign\": -3, \"message\": \"step\", "
           "\"where\": \"0x1230\"");
  tell("ncclAllReduce", text);
  a = with(both, 1);
  const nvtxRangeId_t started = nvtxDomainRangeStartEx(nccl, &a);
  nvtxDomainRangeEnd(nccl, started);
  tell("ncclAllReduce",
       "\"NCCL communicator ID\": 1, \"Message size [bytes]\": 2, \"Reduction operation\": "
       "\"Sum\"");
}

// A union, a long array and a registered string, in a structure without gaps.
static void shapes(void) {
  typedef struct {
    uint8_t which;
    union {
      int32_t count;
      float rate;
    } value;
    nvtxStringHandle_t name;
    int16_t shape[10];
  } __attribute__((packed)) Shape;
  const nvtxPayloadSchemaEntry_t members[] = {{0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "count"},
                                              {0, NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "rate"}};
  const uint64_t either = define(NVTX_PAYLOAD_SCHEMA_TYPE_UNION, members, 2, 4, 0);
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "which"},
      {0, either, "value", NULL, 0, offsetof(Shape, value)},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "name", NULL, 0,
       offsetof(Shape, name)},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT16, "shape", NULL, 10,
       offsetof(Shape, shape)},
  };
  const uint64_t schema = define(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, entries, 4, sizeof(Shape), 0);
  Shape payload = {1,
                   {0},
                   nvtxDomainRegisterStringA(nccl, "a registered string"),
                   {0, 1, 2, 3, 4, 5, 6, 7, 8, -9}};
  payload.value.rate = 0.25f;
  push(schema, &payload, sizeof payload);
  nvtxDomainRangePop(nccl);
  const char* rest =
      "\"name\": \"a registered string\", \"shape[0]\": 0, \"shape[1]\": 1, \"shape[2]\": 2, "
      "\"shape[3]\": 3, \"shape[4]\": 4, \"shape[5]\": 5, \"shape[6]\": 6, \"shape[7]\": 7, "
      "\"shape[8]\": 8, \"shape[9]\": -9";
  char text[400];
  snprintf(text, sizeof text, "\"which\": 1, \"value.rate\": 0.25, %s", rest);
  tell("ncclAllReduce", text);
  payload.which = 0;
  payload.value.count = -5;
  push(schema, &payload, sizeof payload);
  nvtxDomainRangePop(nccl);
  snprintf(text, sizeof text, "\"which\": 0, \"value.count\": -5, %s", rest);
  tell("ncclAllReduce", text);
}

static void mix(void) {
  define_all();
  printf("{\"enabled\": %d}\n", nvtxDomainIsEnabled(nccl));
  reduce(1 << 20, 2, "\"Max\"");
  reduce(4096, 0, "\"Sum\"");
  reduce(16, 9, "9");  // of no name
  payload_calls();
  shapes();
}

// Payloads that end where the memory does, and programs that do not keep to the rules.
static void wrong(void) {
  define_all();
  const size_t page = 4096;
  char* end = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(end + page, page);
  end += page;
  const Reduction r = {1, 2, 0};
  memcpy(end - 12, &r, 12);
  push(REDUCTION_ID, end - 12, 12);  // its second value is cut, and the third is not there
  nvtxDomainRangePop(nccl);
  tell("ncclAllReduce", "\"NCCL communicator ID\": 1");
  push(REDUCTION_ID + 1000, &r, sizeof r);  // never registered
  nvtxDomainRangePop(nccl);
  tell("ncclAllReduce", "");
  push(REDUCTION_ID, NULL, sizeof r);
  nvtxDomainRangePop(nccl);
  tell("ncclAllReduce", "");
  nvtxEventAttributes_t a = with(NULL, 1);
  nvtxDomainRangePushEx(nccl, &a);
  nvtxDomainRangePop(nccl);
  tell("ncclAllReduce", "");
  const nvtxPayloadSchemaEntry_t arrays[] = {
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "array", NULL, 2},
      {NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "long", NULL, 9},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "after"}};
  const int numbers[12] = {1, 2, [11] = 3};
  push(define(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, arrays, 3, sizeof numbers, 0), numbers,
       sizeof numbers);
  nvtxDomainRangePop(nccl);
  tell("ncclAllReduce",
       "\"after\": 3, \"array[0]\": 1, \"array[1]\": 2, \"long[0]\": 0, \"long[1]\": 0, "
       "\"long[2]\": 0, \"long[3]\": 0, \"long[4]\": 0, \"long[5]\": 0, \"long[6]\": 0, "
       "\"long[7]\": 0, \"long[8]\": 0");
  nvtxPayloadSchemaEntry_t many[20];
  char names[20][8];
  memset(many, 0, sizeof many);
  for (int i = 0; i < 20; ++i) {
    snprintf(names[i], sizeof names[i], "v%d", i);
    many[i].type = NVTX_PAYLOAD_ENTRY_TYPE_UINT8;
    many[i].name = names[i];
  }
  const uint8_t bytes[20] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19};
  push(define(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, many, 20, 20, 0), bytes, 20);
  nvtxDomainRangePop(nccl);
  tell("ncclAllReduce",
       "\"v0\": 0, \"v1\": 1, \"v2\": 2, \"v3\": 3, \"v4\": 4, \"v5\": 5, \"v6\": 6, \"v7\": 7, "
       "\"v8\": 8, \"v9\": 9, \"v10\": 10, \"v11\": 11, \"v12\": 12, \"v13\": 13, \"v14\": 14, "
       "\"v15\": 15, \"v16\": 16, \"v17\": 17, \"v18\": 18, \"v19\": 19");
}

static void late(void) {
  char line[16];
  define_all();
  puts("ready");
  fflush(stdout);
  if (fgets(line, sizeof line, stdin) == NULL) exit(1);
  reduce(64, 1, "\"Prod\"");
  puts("done");
  fflush(stdout);
  if (fgets(line, sizeof line, stdin) == NULL) exit(1);
}

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void cost(long rounds) {
  double least = 1e9;
  define_all();
  for (int batch = 0; batch < 20; ++batch) {
    const Reduction r = {1, 4096, 0};
    const int64_t start = now();
    for (long i = 0; i < rounds; ++i) {
      push(REDUCTION_ID, &r, sizeof r);
      nvtxDomainRangePop(nccl);
    }
    const double each = (double)(now() - start) / (double)rounds;
    if (each < least) least = each;
  }
  printf("%.2f\n", least);
}

int main(int argc, char** argv) {
  const char* mode = argc > 1 ? argv[1] : "";
  if (strcmp(mode, "mix") == 0) mix();
  if (strcmp(mode, "wrong") == 0) wrong();
  if (strcmp(mode, "late") == 0) late();
  if (strcmp(mode, "cost") == 0) cost(argc > 2 ? atol(argv[2]) : 1000);
  return 0;
}
