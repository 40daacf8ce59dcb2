// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A double of NCCL, as far as a profiler plugin sees it. It finds the plugin as NCCL does: by
// NCCL_PROFILER_PLUGIN, or as libnccl-profiler.so. STATIC_PLUGIN is the process itself. Then it
// takes the newest version of the interface up to the one that it was told. It launches a kernel
// for each group of calls, and tells the plugin behind the launch, on the same thread. Nothing is
// sent: the processes of a job may meet before each launch (Meet).
//
// Orders of calls and layouts: src/plugin/profiler.cc, src/enqueue.cc and
// src/include/plugin/profiler of NCCL 2.30.

#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "../programs/check.h"

namespace nccl {

extern "C" __global__ void ncclDevKernel_Generic() {}
extern "C" __global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL() {}
extern "C" __global__ void ncclDevKernel_AllGather_RING_SIMPLE() {}
extern "C" __global__ void ncclDevKernel_ReduceScatter_Sum_f32_RING_LL() {}
extern "C" __global__ void ncclDevKernel_SendRecv() {}

enum Function { kBroadcast, kReduce, kAllGather, kReduceScatter, kAllReduce, kSendRecv, kSend, kRecv };
inline const char* const kFunctions[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                         "AllReduce", "SendRecv", "Send",      "Recv"};
enum Type { kUint8 = 1, kFloat32 = 7, kBfloat16 = 9 };
inline const char* NameOf(Type type) {
  // NCCL has no name for unsigned bytes.
  return type == kFloat32 ? "ncclFloat32" : type == kBfloat16 ? "ncclBfloat16" : "Unknown";
}

// One descriptor a version: the head, then the version's own part.
struct Head {
  uint64_t type;  // a byte before version 5; what is behind the byte is not read then
  void* parent;
  int rank;
};
#define FAKE_NCCL_NAMED const char *name; uint64_t hash
struct Coll1 { Head h; FAKE_NCCL_NAMED; uint64_t seq; uint8_t func; const void* send; void* recv; size_t count; int root; uint8_t type; uint32_t op; size_t traffic; uint8_t channels, warps, algo, proto; int collnet, nvls; };
struct Coll2 { Head h; FAKE_NCCL_NAMED; uint64_t seq; const char* func; const void* send; void* recv; size_t count; int root; const char* type; size_t traffic; uint8_t channels, warps; const char *algo, *proto; };
struct Coll3 { Head h; FAKE_NCCL_NAMED; uint64_t seq; const char* func; const void* send; void* recv; size_t count; int root; const char* type; uint8_t channels, warps; const char *algo, *proto; };
struct Coll4 { Head h; uint64_t seq; const char* func; const void* send; void* recv; size_t count; int root; const char* type; uint8_t channels, warps; const char *algo, *proto; void* group; };
struct P2p1 { Head h; FAKE_NCCL_NAMED; uint8_t func; void* buffer; uint8_t type; size_t count; int peer; };
struct P2p2 { Head h; FAKE_NCCL_NAMED; const char* func; void* buffer; const char* type; size_t count; int peer; };
struct P2p4 { Head h; const char* func; void* buffer; const char* type; size_t count; int peer; uint8_t channels; void* group; };

constexpr int kGroupType = 1, kCollType = 2, kP2pType = 4, kGroupApiType = 1 << 8, kLaunchType = 1 << 11;

struct Table {
  const char* name;
  void* init;
  int (*start)(void* context, void** handle, void* descriptor);
  int (*stop)(void* handle);
  int (*record)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

struct Plugin {
  Table* table = nullptr;
  int version = 0;
  int mask = 0;
};
inline Plugin g_plugin;

inline void LoadPlugin(int newest) {
  const char* name = getenv("NCCL_PROFILER_PLUGIN");
  if (name != nullptr && strcasecmp(name, "none") == 0) return;
  const std::string library = name == nullptr || *name == 0 ? "libnccl-profiler.so" : name;
  void* handle = library == "STATIC_PLUGIN" ? dlopen(nullptr, RTLD_NOW | RTLD_LOCAL)
                                            : dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  for (int version = newest; handle != nullptr && version > 0 && g_plugin.table == nullptr; --version) {
    const std::string symbol = "ncclProfiler_v" + std::to_string(version);
    g_plugin.table = static_cast<Table*>(dlsym(handle, symbol.c_str()));
    g_plugin.version = version;
  }
  if (g_plugin.table != nullptr) printf("plugin %s v%d\n", g_plugin.table->name, g_plugin.version);
  if (g_plugin.table == nullptr) printf("no plugin\n");
}

struct Comm {
  uint64_t hash = 0;
  std::string name;
  int nodes = 1, ranks = 1, rank = 0;
  void* context = nullptr;
  std::map<int, uint64_t> seq;
};

inline void Init(Comm* comm) {
  if (g_plugin.table == nullptr) return;
  void* init = g_plugin.table->init;
  const char* name = comm->name.empty() ? nullptr : comm->name.c_str();
  int failed = 0;
  if (g_plugin.version <= 3) {
    failed = reinterpret_cast<int (*)(void**, int*)>(init)(&comm->context, &g_plugin.mask);
  } else if (g_plugin.version == 4) {
    failed = reinterpret_cast<int (*)(void**, int*, const char*, uint64_t, int, int, int, void*)>(init)(
        &comm->context, &g_plugin.mask, name, comm->hash, comm->nodes, comm->ranks, comm->rank, nullptr);
  } else {
    failed = reinterpret_cast<int (*)(void**, uint64_t, int*, const char*, int, int, int, void*)>(init)(
        &comm->context, comm->hash, &g_plugin.mask, name, comm->nodes, comm->ranks, comm->rank, nullptr);
  }
  printf("init %d mask %d\n", failed, g_plugin.mask);
}

inline void Finalize(Comm* comm) {
  if (g_plugin.table != nullptr && comm->context != nullptr) g_plugin.table->finalize(comm->context);
}

struct Task {
  Function function;
  Type type;
  size_t count;
  int peer;  // of a message, else the root
};

// Fills a descriptor as NCCL does: what it does not set is 0, or what was there before.
inline void* Start(const Comm& comm, const Task& task) {
  void* handle = reinterpret_cast<void*>(1);
  const bool is_p2p = task.function == kSend || task.function == kRecv;
  if ((g_plugin.mask & (is_p2p ? kP2pType : kCollType)) == 0) return nullptr;
  char bytes[256];
  memset(bytes, 0xa5, sizeof(bytes));
  auto* head = reinterpret_cast<Head*>(bytes);
  if (g_plugin.version >= 5) head->type = 0;
  bytes[0] = static_cast<char>(is_p2p ? kP2pType : kCollType);
  head->parent = nullptr;
  head->rank = comm.rank;
  const uint64_t seq = is_p2p ? 0 : comm.seq.at(task.function);
  const char* func = kFunctions[task.function];
  const char* type = NameOf(task.type);
  const char* name = comm.name.empty() ? nullptr : comm.name.c_str();
  // Clang-style initialisers keep what the head has.
  const Head own = *head;
  switch (g_plugin.version) {
    case 1:
      if (is_p2p) new (bytes) P2p1{own, name, comm.hash, static_cast<uint8_t>(task.function), nullptr, static_cast<uint8_t>(task.type), task.count, task.peer};
      else new (bytes) Coll1{own, name, comm.hash, seq, static_cast<uint8_t>(task.function), nullptr, nullptr, task.count, task.peer, static_cast<uint8_t>(task.type), 0, 0, 2, 16, 1, 0, 0, 0};
      break;
    case 2:
      if (is_p2p) new (bytes) P2p2{own, name, comm.hash, func, nullptr, type, task.count, task.peer};
      else new (bytes) Coll2{own, name, comm.hash, seq, func, nullptr, nullptr, task.count, task.peer, type, 77, 2, 16, "RING", "LL"};
      break;
    case 3:
      if (is_p2p) new (bytes) P2p2{own, name, comm.hash, func, nullptr, type, task.count, task.peer};
      else new (bytes) Coll3{own, name, comm.hash, seq, func, nullptr, nullptr, task.count, task.peer, type, 2, 16, "RING", "LL"};
      break;
    default:
      if (is_p2p) new (bytes) P2p4{own, func, nullptr, type, task.count, task.peer, 2, nullptr};
      else new (bytes) Coll4{own, seq, func, nullptr, nullptr, task.count, task.peer, type, 2, 16, "RING", "LL", nullptr};
  }
  g_plugin.table->start(comm.context, &handle, bytes);
  return handle;
}

// Events that a plugin did not ask for come, too.
inline void* StartOther(const Comm& comm, int type) {
  void* handle = nullptr;
  char bytes[256] = {};
  reinterpret_cast<Head*>(bytes)->type = static_cast<uint64_t>(type);
  g_plugin.table->start(comm.context, &handle, bytes);
  return handle;
}

using Kernel = void (*)();

// The calls between ncclGroupStart and ncclGroupEnd of one communicator: one kernel. `is_told`: NCCL
// tells the plugin now. A graph that was captured without network is told at its capture, and one
// with network when it runs.
inline void Launch(Comm* comm, const std::vector<Task>& tasks, Kernel kernel, cudaStream_t stream) {
  const bool is_told = g_plugin.table != nullptr && comm->context != nullptr;
  void* api = is_told && g_plugin.version >= 5 ? StartOther(*comm, kGroupApiType) : nullptr;
  kernel<<<2, 512, 0, stream>>>();
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  CHECK(cudaStreamIsCapturing(stream, &status));
  const bool is_persistent = status != cudaStreamCaptureStatusNone;
  void* group = is_told ? StartOther(*comm, kGroupType) : nullptr;
  std::vector<void*> handles;
  for (const Task& task : tasks) {
    const bool is_p2p = task.function == kSend || task.function == kRecv;
    if (!is_p2p) comm->seq.try_emplace(task.function, 0);
    if (is_told) handles.push_back(Start(*comm, task));
    if (!is_p2p && !is_persistent) ++comm->seq[task.function];
  }
  for (void* handle : handles)
    if (handle != nullptr) g_plugin.table->stop(handle);
  if (group != nullptr) g_plugin.table->stop(group);
  if (api != nullptr) g_plugin.table->stop(api);
}

// The processes of a job meet here, by a file that all of them name.
class Meeting {
 public:
  Meeting(const char* path, int ranks) : ranks_(ranks) {
    const int fd = open(path, O_RDWR | O_CREAT, 0600);
    if (fd < 0 || ftruncate(fd, sizeof(uint64_t)) != 0) abort();
    came_ = static_cast<uint64_t*>(mmap(nullptr, sizeof(uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0));
    close(fd);
  }
  void Meet() {
    const uint64_t all = (__atomic_fetch_add(came_, 1, __ATOMIC_ACQ_REL) / ranks_ + 1) * ranks_;
    while (__atomic_load_n(came_, __ATOMIC_ACQUIRE) < all) usleep(50);
  }

 private:
  uint64_t ranks_;
  uint64_t* came_;
};

}  // namespace nccl
