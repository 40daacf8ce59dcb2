// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A small tool for the doubles' own tests, loaded through CUDA_INJECTION64_PATH: enables what
// SELFTEST says, and writes each record it gets, and what it did, as lines of JSON to SELFTEST_OUT.
// It knows nothing of the doubles but the public interface.
//
// SELFTEST: words of
//   kinds=1,5,10      to enable, after subscribing          dump=9,37    with EnableAndDump
//   callbacks=2       domains to enable; each call is a line
//   buffer=N records=N null=N (the first N requests get none)
//   flush=0|1         at exit (1)         at=N              flush with 0 after N milliseconds, each
//   N filter=N          runtime call that is not recorded     external=N   id pushed on the main
//   thread flush_in_callback, subscribe2 (a second subscriber), system_tids, no_exit_flush,
//   fork_flush

#include <cupti.h>
#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

FILE* out;
std::mutex out_mutex;
void* library;
size_t buffer_size = 1 << 20, most_records;
std::atomic<int> refused{0};
std::atomic<uint64_t> buffers{0};
std::atomic<bool> enabling{true};
bool flush_in_callback, count_only;
std::atomic<uint64_t> counted[64];
// Buffers that came back, for the next request: a tool's own page faults are not the double's cost.
std::mutex spare_mutex;
std::vector<uint8_t*> spare;

template <typename F>
F* Find(const char* name) {
  return reinterpret_cast<F*>(dlsym(library, name));
}

// The call by name, and a line of its result when it is not success.
template <typename F, typename... A>
int Call(const char* name, A... arguments) {
  F* function = Find<F>(name);
  const int result = function == nullptr ? -1 : static_cast<int>(function(arguments...));
  if (result != 0) {
    const std::lock_guard lock(out_mutex);
    fprintf(out, "{\"t\":\"result\",\"name\":\"%s\",\"result\":%d}\n", name, result);
  }
  return result;
}
#define CALL(name, ...) Call<decltype(name)>(#name, ##__VA_ARGS__)

long Option(const char* name, long otherwise) {
  const std::string words = std::string(" ") + (getenv("SELFTEST") ? getenv("SELFTEST") : "") + " ";
  size_t at = words.find(std::string(" ") + name + "=");
  if (at != std::string::npos) return atol(words.c_str() + at + 2 + strlen(name));
  return words.find(std::string(" ") + name + " ") != std::string::npos ? 1 : otherwise;
}

template <typename F>
void EachOf(const char* name, F work) {
  const std::string words = std::string(" ") + (getenv("SELFTEST") ? getenv("SELFTEST") : "") + " ";
  const size_t found = words.find(std::string(" ") + name + "=");
  if (found == std::string::npos) return;
  for (const char* at = words.c_str() + found + 2 + strlen(name); *at >= '0' && *at <= '9';) {
    char* end;
    work(static_cast<uint32_t>(strtoul(at, &end, 10)));
    at = *end == ',' ? end + 1 : end;
  }
}

void Requested(uint8_t** buffer, size_t* size, size_t* records) {
  *buffer = nullptr;
  *size = 0;
  *records = most_records;
  if (!count_only) {
    const std::lock_guard lock(out_mutex);
    fprintf(out, "{\"t\":\"request\",\"tid\":%ld,\"enabling\":%s}\n", syscall(SYS_gettid),
            enabling ? "true" : "false");
  }
  if (refused.fetch_sub(1) > 0) return;
  *size = buffer_size;
  const std::lock_guard lock(spare_mutex);
  if (spare.empty()) {
    *buffer = static_cast<uint8_t*>(aligned_alloc(8, buffer_size));
  } else {
    *buffer = spare.back();
    spare.pop_back();
  }
}

#define COMMON(r, name)                                                                           \
  "{\"t\":\"" name                                                                                \
  "\",\"buffer\":%lu,\"correlation\":%u,\"stream\":%u,\"context\":%u,\"start\":%lu,\"end\":%lu,", \
      number, r->correlationId, r->streamId, r->contextId, r->start, r->end

void WriteWork(const CUpti_Activity* record, uint64_t number) {
  if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
    const auto* r = reinterpret_cast<const CUpti_ActivityKernel8*>(record);
    fprintf(out, COMMON(r, "kernel"));
    fprintf(out,
            "\"name\":\"%s\",\"grid\":[%d,%d,%d],\"block\":[%d,%d,%d],\"dynamic_smem\":%d,"
            "\"registers\":%d,\"graph\":%u,\"node\":%lu,\"channel\":%u,\"executed\":%u}\n",
            r->name, r->gridX, r->gridY, r->gridZ, r->blockX, r->blockY, r->blockZ,
            r->dynamicSharedMemory, r->registersPerThread, r->graphId, r->graphNodeId, r->channelID,
            r->sharedMemoryExecuted);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
    const auto* r = reinterpret_cast<const CUpti_ActivityMemcpy5*>(record);
    fprintf(out, COMMON(r, "copy"));
    fprintf(out,
            "\"kind\":%u,\"bytes\":%lu,\"src\":%u,\"dst\":%u,\"flags\":%u,\"channel\":%u,\"node\":%"
            "lu}\n",
            r->copyKind, r->bytes, r->srcKind, r->dstKind, r->flags, r->channelID, r->graphNodeId);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
    const auto* r = reinterpret_cast<const CUpti_ActivityMemcpyPtoP4*>(record);
    fprintf(out, COMMON(r, "peer"));
    fprintf(out, "\"bytes\":%lu,\"from\":%u,\"to\":%u}\n", r->bytes, r->srcDeviceId,
            r->dstDeviceId);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
    const auto* r = reinterpret_cast<const CUpti_ActivityMemset4*>(record);
    fprintf(out, COMMON(r, "set"));
    fprintf(out, "\"bytes\":%lu,\"value\":%u}\n", r->bytes, r->value);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_GRAPH_TRACE) {
    const auto* r = reinterpret_cast<const CUpti_ActivityGraphTrace*>(record);
    fprintf(out, COMMON(r, "graph"));
    fprintf(out, "\"graph\":%u}\n", r->graphId);
  } else {
    fprintf(out, "{\"t\":\"record\",\"buffer\":%lu,\"kind\":%u}\n", number, record->kind);
  }
}

void WriteRecord(const CUpti_Activity* record, uint64_t number) {
  if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME || record->kind == CUPTI_ACTIVITY_KIND_DRIVER) {
    const auto* r = reinterpret_cast<const CUpti_ActivityAPI*>(record);
    const char* name = "?";
    CALL(cuptiGetCallbackName,
         record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
                                                     : CUPTI_CB_DOMAIN_DRIVER_API,
         r->cbid, &name);
    fprintf(
        out,
        "{\"t\":\"%s\",\"buffer\":%lu,\"name\":\"%s\",\"cbid\":%u,\"tid\":%u,\"correlation\":%u,"
        "\"start\":%lu,\"end\":%lu,\"result\":%u}\n",
        record->kind == CUPTI_ACTIVITY_KIND_RUNTIME ? "runtime" : "driver", number, name, r->cbid,
        r->threadId, r->correlationId, r->start, r->end, r->returnValue);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_SYNCHRONIZATION) {
    const auto* r = reinterpret_cast<const CUpti_ActivitySynchronization*>(record);
    fprintf(out,
            "{\"t\":\"sync\",\"buffer\":%lu,\"type\":%d,\"correlation\":%u,\"stream\":%u,\"event\":"
            "%u}\n",
            number, r->type, r->correlationId, r->streamId, r->cudaEventId);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION) {
    const auto* r = reinterpret_cast<const CUpti_ActivityExternalCorrelation*>(record);
    fprintf(out, "{\"t\":\"external\",\"buffer\":%lu,\"id\":%lu,\"correlation\":%u}\n", number,
            r->externalId, r->correlationId);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMORY2) {
    const auto* r = reinterpret_cast<const CUpti_ActivityMemory3*>(record);
    fprintf(out,
            "{\"t\":\"memory\",\"buffer\":%lu,\"operation\":%d,\"kind\":%d,\"address\":%lu,"
            "\"bytes\":%lu,"
            "\"async\":%u,\"pool\":%lu,\"correlation\":%u}\n",
            number, r->memoryOperationType, r->memoryKind, r->address, r->bytes, r->isAsync,
            r->memoryPoolConfig.address, r->correlationId);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
    const auto* r = reinterpret_cast<const CUpti_ActivityContext*>(record);
    fprintf(out, "{\"t\":\"context\",\"id\":%u,\"null_stream\":%u}\n", r->contextId,
            r->nullStreamId);
  } else if (record->kind == CUPTI_ACTIVITY_KIND_STREAM) {
    const auto* r = reinterpret_cast<const CUpti_ActivityStream*>(record);
    fprintf(out, "{\"t\":\"stream\",\"id\":%u,\"context\":%u}\n", r->streamId, r->contextId);
  } else {
    WriteWork(record, number);
  }
}

void Completed(CUcontext, uint32_t, uint8_t* buffer, size_t size, size_t valid) {
  if (flush_in_callback) CALL(cuptiActivityFlushAll, 0U);
  timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  const uint64_t now =
      static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
  const std::lock_guard lock(out_mutex);
  const uint64_t number = buffers.fetch_add(1);
  CUpti_Activity* record = nullptr;
  uint64_t count = 0, last = 0, stride = 0;
  while (Find<decltype(cuptiActivityGetNextRecord)>("cuptiActivityGetNextRecord")(buffer, valid,
                                                                                  &record) == 0) {
    const auto at = static_cast<uint64_t>(reinterpret_cast<uint8_t*>(record) - buffer);
    if (count++ > 0) stride = at - last;
    last = at;
    if (count_only) {
      ++counted[record->kind % 64];
    } else {
      WriteRecord(record, number);
    }
  }
  const std::lock_guard spare_lock(spare_mutex);
  spare.push_back(buffer);
  if (count_only) return;
  fprintf(out,
          "{\"t\":\"complete\",\"tid\":%ld,\"buffer\":%lu,\"records\":%lu,\"size\":%zu,\"valid\":%"
          "zu,\"stride\":%lu,\"now\":%lu}\n",
          syscall(SYS_gettid), number, count, size, valid, stride, now);
  fflush(out);
}

void CalledBack(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void* data) {
  const std::lock_guard lock(out_mutex);
  fprintf(out, "{\"t\":\"callback\",\"domain\":%d,\"id\":%u", domain, id);
  if (domain == CUPTI_CB_DOMAIN_RUNTIME_API || domain == CUPTI_CB_DOMAIN_DRIVER_API) {
    const auto* d = static_cast<const CUpti_CallbackData*>(data);
    fprintf(out, ",\"site\":%d,\"name\":\"%s\",\"symbol\":\"%s\",\"correlation\":%u,\"result\":%d",
            d->callbackSite, d->functionName, d->symbolName ? d->symbolName : "", d->correlationId,
            d->functionReturnValue ? *static_cast<int*>(d->functionReturnValue) : -1);
  } else if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_MODULE_LOADED) {
    const auto* d = static_cast<const CUpti_ResourceData*>(data);
    const auto* m = static_cast<const CUpti_ModuleResourceData*>(d->resourceDescriptor);
    fprintf(out, ",\"module\":%u,\"bytes\":%zu,\"first\":%d", m->moduleId, m->cubinSize,
            m->pCubin[0]);
  }
  fprintf(out, "}\n");
}

void AtExit() {
  if (Option("no_exit_flush", 0)) {
    // What is on its way comes first.
    uint64_t seen;
    do {
      seen = buffers;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    } while (seen != buffers);
    // Whoever writes has written a whole line, and nobody begins another one: at its end the
    // process writes out what stands in the file's buffer, whether a thread is at work there or
    // not.
    out_mutex.lock();
    fflush(out);
    return;
  }
  const int result = CALL(cuptiActivityFlushAll, static_cast<uint32_t>(Option("flush", 1)));
  size_t dropped = 0, again = 0;
  CALL(cuptiActivityGetNumDroppedRecords, static_cast<CUcontext>(nullptr), 0U, &dropped);
  CALL(cuptiActivityGetNumDroppedRecords, static_cast<CUcontext>(nullptr), 0U, &again);
  for (size_t kind = 0; kind < 64; ++kind) {
    if (counted[kind] == 0) continue;
    fprintf(out, "{\"t\":\"count\",\"kind\":%zu,\"records\":%lu}\n", kind, counted[kind].load());
  }
  fprintf(out,
          "{\"t\":\"end\",\"dropped\":%zu,\"dropped_again\":%zu,\"flush\":%d,\"buffers\":%lu}\n",
          dropped, again, result, buffers.load());
  fflush(out);
}

void FlushNow() { CALL(cuptiActivityFlushAll, 0U); }

}  // namespace

extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  out = fopen(getenv("SELFTEST_OUT"), "ae");
  const char* name = getenv("SELFTEST_CUPTI");
  library = dlopen(name != nullptr ? name : "libcupti.so.13", RTLD_NOW);
  if (out == nullptr || library == nullptr) return 0;
  buffer_size = static_cast<size_t>(Option("buffer", 1 << 20));
  most_records = static_cast<size_t>(Option("records", 0));
  refused = static_cast<int>(Option("null", 0));
  count_only = Option("count", 0) != 0;
  flush_in_callback = Option("flush_in_callback", 0) != 0;
  uint32_t version = 0;
  CALL(cuptiGetVersion, &version);
  fprintf(out, "{\"t\":\"version\",\"version\":%u}\n", version);
  CUpti_SubscriberHandle subscriber = nullptr, second = nullptr;
  CALL(cuptiSubscribe, &subscriber, &CalledBack, static_cast<void*>(nullptr));
  if (Option("subscribe2", 0)) {
    char holder[64] = {};
    CUpti_SubscriberParams parameters{CUpti_SubscriberParams_STRUCT_SIZE, "second", holder,
                                      sizeof holder};
    CALL(cuptiSubscribe, &second, &CalledBack, static_cast<void*>(nullptr));
    CALL(cuptiSubscribe_v2, &second, &CalledBack, static_cast<void*>(nullptr), &parameters);
    fprintf(out, "{\"t\":\"holder\",\"name\":\"%s\"}\n", holder);
  }
  if (Option("system_tids", 1)) CALL(cuptiSetThreadIdType, CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
  CALL(cuptiActivityRegisterCallbacks, &Requested, &Completed);
  EachOf("callbacks", [&](uint32_t domain) {
    CALL(cuptiEnableDomain, 1U, subscriber, static_cast<CUpti_CallbackDomain>(domain));
  });
  EachOf("kinds",
         [](uint32_t kind) { CALL(cuptiActivityEnable, static_cast<CUpti_ActivityKind>(kind)); });
  EachOf("filter", [](uint32_t id) { CALL(cuptiActivityEnableRuntimeApi, id, uint8_t{0}); });
  EachOf("external", [](uint32_t id) {
    CALL(cuptiActivityPushExternalCorrelationId, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2,
         uint64_t{id});
  });
  enabling = false;
  if (const long at = Option("at", 0); at > 0) {
    std::thread([at] {
      for (;;) {
        std::this_thread::sleep_for(std::chrono::milliseconds(at));
        EachOf("dump", [](uint32_t kind) {
          CALL(cuptiActivityEnableAndDump, static_cast<CUpti_ActivityKind>(kind));
        });
        FlushNow();
      }
    }).detach();
  }
  if (Option("fork_flush", 0)) pthread_atfork(nullptr, nullptr, FlushNow);
  atexit(AtExit);
  return 1;
}
