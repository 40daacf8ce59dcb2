// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A program that profiles itself through CUPTI, as a framework does: own_profiler
// v1|v2|unsubscribed|linked|linked_once|linked_first (of the last three the first two subscribe to nothing, as
// torch.profiler of late: by functions that dlsym found, or by a library that is linked to CUPTI,
// linked_profiler.c; the third is that library and subscribes once for all; linked_first begins with
// CUDA as its clock is registered). Reads from stdin, and answers each line with one:
//   launch N    N kernels, waited for                   launched N
//   begin       subscribes and records kernels          began RESULT ("CUPTI for ..." where told)
//   end         lets go of it                           ended KERNELS, as many as it has got
//   reset       makes a new context (linked_once)       reset CONTEXTS that it was called back for
//   follow 1|0  wants callbacks of the runtime's calls  follow RESULT
//   leave       lets go of its subscription             left RESULT
//   pause       turns its kinds off                     pause RESULT
//   early       turns a kind on without buffers         early RESULT
//   kind N      turns one on                            kind RESULT
//   buffers     registers them                          buffers RESULT
//   quiet       wants no callbacks of resources         quiet RESULT
//   dropped     asks how many records were dropped      dropped COUNT
//   finalize    ends CUPTI                              finalize RESULT
//   stub        flushes by a stub (cupti_stub.c)        stub RESULT
//   second      subscribes by cuptiSubscribe_v2, leaves second RESULT
//   profiler 1|0   cuProfilerStart or Stop, as a static runtime has them   profiler RESULT
//   sessions begins, launches 5 and ends, until the next line comes (linked*)   sessions COUNT, how many of them WRONG
// V2 is the interface of several subscribers, with others allowed.

#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>

#include <atomic>
#include <mutex>
#include <set>
#include <utility>

#include "check.h"

__global__ void Work() {}

struct Parameters {
  size_t size;
  const char* name;
  char* holder;
  size_t holder_size;
  uint8_t allow_others;
};

static void* library;
static void* subscriber;
static bool second;
static bool subscribes = true;
static std::atomic<int> kernels{0};
static const uint32_t kKernel = 10;
static const size_t kBytes = 1 << 20;

template <typename F>
static F Find(const char* name) {
  F found = (F)dlsym(library, name);
  if (found == nullptr) exit(5);
  return found;
}

static std::mutex mutex;
static std::set<uint8_t*> given;

static void Requested(uint8_t** buffer, size_t* size, size_t* records) {
  const std::lock_guard<std::mutex> lock(mutex);
  *buffer = *given.insert((uint8_t*)malloc(kBytes)).first;
  *size = kBytes;
  *records = 0;
}

static void Completed(uint8_t* buffer, size_t valid) {
  const std::lock_guard<std::mutex> lock(mutex);
  if (given.erase(buffer) == 0) return;  // somebody else's
  void* record = nullptr;
  for (;;) {
    const int result =
        second ? Find<int (*)(void*, uint8_t*, size_t, void**)>("cuptiActivityGetNextRecord_v2")(
                     subscriber, buffer, valid, &record)
               : Find<int (*)(uint8_t*, size_t, void**)>("cuptiActivityGetNextRecord")(
                     buffer, valid, &record);
    if (result != 0) break;
    if (*(uint32_t*)record == kKernel) ++kernels;
  }
  free(buffer);
}

static void RequestedV2(uint8_t** buffer, size_t* size, size_t* records, void*) {
  Requested(buffer, size, records);
}
static void CompletedV1(void*, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  Completed(buffer, valid);
}
static void CompletedV2(uint8_t* buffer, size_t, size_t valid, void*) { Completed(buffer, valid); }

static int Begin(char* holder) {
  if (!second) {
    int result = 0;
    if (subscribes)
      result = Find<int (*)(void**, void*, void*)>("cuptiSubscribe")(&subscriber, nullptr, nullptr);
    if (result != 0) return result;
    result = Find<int (*)(void*, void*)>("cuptiActivityRegisterCallbacks")((void*)Requested,
                                                                           (void*)CompletedV1);
    return result != 0 ? result : Find<int (*)(uint32_t)>("cuptiActivityEnable")(kKernel);
  }
  Parameters parameters = {sizeof(Parameters), "own_profiler", holder, 64, 1};
  int result = Find<int (*)(void**, void*, void*, Parameters*)>("cuptiSubscribe_v2")(
      &subscriber, nullptr, nullptr, &parameters);
  if (result != 0) return result;
  result = Find<int (*)(void*, void*, void*)>("cuptiActivityRegisterCallbacks_v2")(
      subscriber, (void*)RequestedV2, (void*)CompletedV2);
  if (result != 0) return result;
  return Find<int (*)(void*, uint32_t, void*)>("cuptiActivityEnable_v2")(subscriber, kKernel,
                                                                         nullptr);
}

static void End() {
  Find<int (*)(uint32_t)>("cuptiActivityFlushAll")(1);
  if (second) {
    Find<int (*)(void*, uint32_t, void*)>("cuptiActivityDisable_v2")(subscriber, kKernel, nullptr);
  } else {
    Find<int (*)(uint32_t)>("cuptiActivityDisable")(kKernel);
  }
  if (subscribes) Find<int (*)(void*)>("cuptiUnsubscribe")(subscriber);
}

static void* LoadBeside(const char* program, const char* name) {
  const char* end = strrchr(program, '/');
  const int folder = end != nullptr ? (int)(end - program) : 0;
  char path[4096];
  snprintf(path, sizeof path, "%.*s/%s", folder, program, name);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// The one that finds its libcupti.
static void* LoadLinked(const char* program) {
  for (const char* name :
       {"linked_profiler-11.8.so", "linked_profiler-12.so", "linked_profiler-13.so"}) {
    if (void* found = LoadBeside(program, name)) return found;
  }
  return nullptr;
}

// One after the other without a pause, until a line comes.
static void RunSessions(bool once) {
  const auto begin = Find<int (*)(int)>("Begin");
  const auto end = Find<int (*)()>("End");
  int count = 0, wrong = 0;
  for (pollfd input = {0, POLLIN, 0}; poll(&input, 1, 0) == 0; ++count) {
    const bool has_begun = begin(once) == 0;
    for (int i = 0; i < 5; ++i) Work<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
    if (end() != 5 || !has_begun) ++wrong;
  }
  printf("sessions %d %d\n", count, wrong);
}

int main(int argc, char** argv) {
  const bool once = argc > 1 && strcmp(argv[1], "linked_once") == 0;
  const bool linked = argc > 1 && strncmp(argv[1], "linked", 6) == 0;
  second = argc > 1 && strcmp(argv[1], "v2") == 0;
  subscribes = argc < 2 || strcmp(argv[1], "unsubscribed") != 0;
  for (const char* name : {"libcupti.so.11.8", "libcupti.so.12", "libcupti.so.13"}) {
    if (library == nullptr && !linked) library = dlopen(name, RTLD_NOW);
  }
  if (linked) library = LoadLinked(argv[0]);
  if (library == nullptr) return 4;
  if (argc > 1 && strcmp(argv[1], "linked_first") == 0) {
    Find<int (*)(void (*)())>("StartCudaBy")([] { CHECK(cudaFree(nullptr)); });
  } else {
    Work<<<1, 32>>>();
    CHECK(cudaDeviceSynchronize());
  }
  printf("ready\n");
  fflush(stdout);
  char line[100];
  for (int round = 2; fgets(line, sizeof line, stdin) != nullptr;) {
    if (strncmp(line, "launch ", 7) == 0) {
      const int count = atoi(line + 7);
      for (int i = 0; i < count; ++i) Work<<<round, 32>>>();
      CHECK(cudaDeviceSynchronize());
      ++round;
      printf("launched %d\n", count);
    } else if (strncmp(line, "begin", 5) == 0) {
      char holder[64] = "";
      const int result = linked ? Find<int (*)(int)>("Begin")(once) : Begin(holder);
      printf("began %d%s%s\n", result, *holder != 0 ? " " : "", holder);
    } else if (strncmp(line, "end", 3) == 0) {
      if (linked) {
        kernels = Find<int (*)()>("End")();
      } else {
        End();
      }
      printf("ended %d\n", kernels.exchange(0));
    }
    if (strncmp(line, "sessions", 8) == 0) {
      RunSessions(once);
    } else if (strncmp(line, "reset", 5) == 0) {
      CHECK(cudaDeviceReset());
      Work<<<1, 32>>>();
      CHECK(cudaDeviceSynchronize());
      printf("reset %d\n", Find<int (*)()>("Contexts")());
    } else if (strncmp(line, "follow ", 7) == 0) {
      printf("follow %d\n", Find<int (*)(int)>("Follow")(atoi(line + 7)));
    } else if (strncmp(line, "profiler ", 9) == 0) {
      void* function = nullptr;
      CHECK(cudaGetDriverEntryPointByVersion(
          atoi(line + 9) != 0 ? "cuProfilerStart" : "cuProfilerStop", &function, 13000,
          cudaEnableDefault, nullptr));
      printf("profiler %d\n", reinterpret_cast<int (*)()>(function)());
    } else if (strncmp(line, "kind ", 5) == 0) {
      printf("kind %d\n", Find<int (*)(int)>("Kind")(atoi(line + 5)));
    } else if (strncmp(line, "leave", 5) == 0) {
      printf("left %d\n", Find<int (*)()>("Leave")());
    } else if (strncmp(line, "stub", 4) == 0) {
      void* linked_one = library;
      library = LoadBeside(argv[0], "cupti_stub.so");
      printf("stub %d\n", Find<int (*)()>("Flush")());
      library = linked_one;
    }
    for (const auto& [command, function] : 
         {std::pair{"pause", "Pause"}, {"quiet", "Quiet"}, {"dropped", "Dropped"},
          {"finalize", "Finalize"}, {"early", "Early"}, {"buffers", "Buffers"}, {"second", "Second"}}) {
      if (strncmp(line, command, strlen(command)) == 0)
        printf("%s %d\n", command, Find<int (*)()>(function)());
    }
    fflush(stdout);
  }
  return 0;
}
