// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the driver's opaque handles point to. Objects are never freed, so that a stale handle is
// told by its `alive` and not by a crash; a test's process is short.

#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace fake_gpu {

class SpinLock {
 public:
  void lock() {
    while (held_.exchange(true, std::memory_order_acquire)) {
      while (held_.load(std::memory_order_relaxed)) __builtin_ia32_pause();
    }
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

// An instant that only moves forward.
class Latest {
 public:
  uint64_t get() const { return value_.load(std::memory_order_relaxed); }
  void Raise(uint64_t to) {
    uint64_t seen = get();
    while (seen < to && !value_.compare_exchange_weak(seen, to, std::memory_order_relaxed)) {}
  }

 private:
  std::atomic<uint64_t> value_{0};
};

// A capture that streams take part in.
struct Capture {
  CUgraph graph = nullptr;
  CUstream origin = nullptr;
  bool broken = false;
};

enum class Engine { kCompute, kToDevice, kFromDevice };

}  // namespace fake_gpu

struct CUctx_st {
  uint32_t id = 0;
  int device = 0;
  bool primary = false;
  std::atomic<bool> alive{true};
  CUstream null_stream = nullptr;
  CUcontext parent = nullptr;
  std::mutex mutex;
  std::vector<CUstream> streams;
  // Destroyed, and to be made again of the same memory.
  std::vector<CUstream> free_streams;
  // When the legacy stream, the streams that wait for it, and all are done.
  fake_gpu::Latest null_end, blocking_end, any_end;
  // Copies in one direction run one after the other, whatever their streams.
  fake_gpu::Latest engine_end[3];
};

struct CUstream_st {
  static constexpr uint64_t kQueue = 1024;
  CUcontext context = nullptr;
  uint32_t id = 0;
  unsigned flags = 0;
  int priority = 0;
  bool legacy = false;
  std::atomic<bool> alive{true};
  fake_gpu::SpinLock lock;
  // Guarded by lock.
  uint64_t last_end = 0;
  uint64_t count = 0;
  uint64_t ends[kQueue] = {};
  std::shared_ptr<fake_gpu::Capture> capture;
  std::vector<CUgraphNode> capture_last;
};

struct CUevent_st {
  CUcontext context = nullptr;
  uint32_t id = 0;
  unsigned flags = 0;
  std::atomic<bool> alive{true};
  fake_gpu::SpinLock lock;
  bool recorded = false;
  uint64_t time = 0;
  uint64_t sync_id = 0;
  CUstream stream = nullptr;
  std::shared_ptr<fake_gpu::Capture> capture;
  std::vector<CUgraphNode> capture_nodes;
};

struct CUmod_st {
  uint32_t id = 0;
  const void* image = nullptr;
  size_t image_size = 0;
  std::map<std::string, CUfunction> functions;
};

struct CUfunc_st {
  // Interned: one address for the process's life.
  const char* name = nullptr;
  CUmodule module = nullptr;
  uint64_t duration = 0;
  int registers = 0;
  int static_smem = 0;
  int max_dynamic_smem = 48 * 1024;
  std::atomic<bool> loaded{false};
};

// A library's kernel is its function: the simulation has one device's code.
struct CUkern_st {
  CUfunc_st function;
};

struct CUlib_st {
  CUmodule module = nullptr;
};

struct CUmemPoolHandle_st {
  uint64_t address = 0;
  int device = 0;
  uint64_t threshold = 0;
  std::atomic<bool> alive{true};
  std::mutex mutex;
  uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0;
};

namespace fake_gpu {

struct Dim {
  unsigned x = 1, y = 1, z = 1;
};

struct KernelWork {
  CUfunction function = nullptr;
  Dim grid, block, cluster{0, 0, 0};
  unsigned dynamic_smem = 0;
  bool cooperative = false;
};

struct CopyWork {
  void* destination = nullptr;
  const void* source = nullptr;
  size_t bytes = 0;
  // CUPTI's numbers for the kind and for what memory it is.
  uint8_t kind = 0, source_memory = 0, destination_memory = 0;
  bool async = false;
  CUcontext source_context = nullptr, destination_context = nullptr;
};

struct SetWork {
  void* destination = nullptr;
  unsigned value = 0;
  unsigned element = 1;
  size_t count = 0;
  uint8_t memory = 0;
  bool async = false;
};

struct HostWork {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};

// One piece of device work: what a stream holds, and a graph's node too.
struct Work {
  enum class Type { kKernel, kCopy, kSet, kHost, kEmpty, kEventRecord, kEventWait, kChild };
  Type type = Type::kEmpty;
  KernelWork kernel;
  CopyWork copy;
  SetWork set;
  HostWork host;
  CUevent event = nullptr;
};

}  // namespace fake_gpu

struct CUgraphNode_st {
  uint64_t id = 0;
  CUgraph graph = nullptr;
  fake_gpu::Work work;
  std::vector<CUgraphNode> dependencies;
  CUgraph child = nullptr;
  CUgraphNode original = nullptr;
  bool alive = true;
};

struct CUgraph_st {
  uint32_t id = 0;
  std::atomic<bool> alive{true};
  std::mutex mutex;
  // In the order of creation, which is an order of dependency too.
  std::vector<CUgraphNode> nodes;
};

struct CUgraphExec_st {
  uint32_t id = 0;
  std::atomic<bool> alive{true};
  CUgraph graph = nullptr;
  // Made before a tool asked for records: those of its launches lack fields.
  bool before_tool = false;
  // Made while launches were recorded as wholes.
  bool traced = false;
  fake_gpu::Latest last_end;
};
