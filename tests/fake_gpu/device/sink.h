// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Through this the CUPTI double hears what happens. Called on the thread that makes the call, with
// no lock of the simulation's held.

#pragma once

#include <atomic>
#include <cstdint>

#include "tests/fake_gpu/device/objects.h"

namespace fake_gpu {

enum class Domain : uint32_t { kDriver = 1, kRuntime = 2 };

// One call of the API, from entry to exit.
struct Call {
  Domain domain = Domain::kRuntime;
  uint32_t cbid = 0;
  const char* name = nullptr;
  const void* parameters = nullptr;
  const char* symbol = nullptr;
  CUcontext context = nullptr;
  uint32_t correlation = 0;
  uint64_t number = 0;
  uint32_t tid = 0;
  uint32_t depth = 0;
  // On the device's clock, for the truth; and on the tool's, which the sink writes.
  uint64_t start = 0;
  uint64_t start_tool = 0;
  int result = 0;
  // Where in the program the call was made.
  uint64_t caller = 0;
  // For each subscriber's use between entry and exit.
  uint64_t subscriber_data[4] = {};
  Call* outer = nullptr;
};

// Work with its times, on the device's clock.
struct Done {
  const Work* work = nullptr;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  uint64_t start = 0, end = 0;
  uint32_t correlation = 0;
  // Of the executable graph, or 0.
  uint32_t graph = 0;
  uint64_t node = 0;
  bool reduced = false;
  // Of a launch that is recorded as a whole, which is decided when it begins.
  bool whole = false;
};

struct Sync {
  // CUPTI's numbers: 1 event, 2 stream waits for event, 3 stream, 4 context.
  uint32_t type = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUevent event = nullptr;
  uint64_t start = 0, end = 0;
  uint32_t correlation = 0;
  uint32_t result = 0;
  // Not a wait but a question that was answered with "not ready".
  bool query = false;
};

struct MemoryChange {
  bool release = false;
  // CUPTI's number.
  uint32_t memory = 0;
  uint64_t address = 0, bytes = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUmemoryPool pool = nullptr;
  uint32_t correlation = 0;
  uint64_t pc = 0;
};

// Of managed memory, on the device's clock: one of CUPTI's counters, with CUPTI's numbers.
struct Migration {
  uint32_t counter = 0;
  uint64_t value = 0, address = 0;
  uint32_t source = 0, destination = 0;
  uint32_t flags = 0;
  uint64_t start = 0, end = 0;
};

// What happened to an object, in the order of the resource callbacks' numbers.
enum class ObjectEvent {
  kContextCreated = 1,
  kContextDestroyStarting = 2,
  kStreamCreated = 3,
  kStreamDestroyStarting = 4,
  kInitFinished = 5,
  kModuleLoaded = 6,
  kModuleUnloadStarting = 7,
  kGraphCreated = 9,
  kGraphDestroyStarting = 10,
  kGraphCloned = 11,
  kNodeCreateStarting = 12,
  kNodeCreated = 13,
  kNodeDestroyStarting = 14,
  kDependencyCreated = 15,
  kExecCreateStarting = 17,
  kExecCreated = 18,
  kExecDestroyStarting = 19,
  kNodeCloned = 20,
};

struct Object {
  ObjectEvent event = ObjectEvent::kInitFinished;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  CUgraph graph = nullptr, original_graph = nullptr;
  CUgraphNode node = nullptr, original_node = nullptr, dependency = nullptr;
  CUgraphExec exec = nullptr;
};

class Sink {
 public:
  virtual void Enter(Call* call) = 0;
  virtual void Exit(Call* call) = 0;
  // A call that was made elsewhere, all of it told: its times, here its end, on the device's clock.
  virtual void CallReplayed(const Call& call, uint64_t end) = 0;
  virtual void Finished(const Done& done) = 0;
  // Whether launches of graphs that begin now are recorded as wholes.
  virtual bool RecordsWholeGraphs() = 0;
  virtual void GraphLaunched(const Done& done) = 0;
  virtual void Synchronized(const Sync& sync) = 0;
  virtual void EventRecorded(CUevent event, uint64_t time, uint32_t correlation) = 0;
  virtual void MemoryChanged(const MemoryChange& change) = 0;
  // What: CUPTI's number: 1 created, 2 destroyed, 3 trimmed.
  virtual void PoolChanged(CUmemoryPool pool, uint32_t what, uint64_t kept,
                           uint32_t correlation) = 0;
  virtual void Migrated(const Migration& migration) = 0;
  virtual void ObjectChanged(const Object& object) = 0;
  virtual void FunctionLoaded(CUfunction function, uint64_t start, uint64_t end,
                              uint32_t correlation) = 0;
  // Hands out the buffers of the playback, to all who asked for anything. Null, or why not.
  virtual const char* PlayBuffers() = 0;
  // The driver's exit handler has run: contexts are no more.
  virtual void DriverExited() = 0;

 protected:
  ~Sink() = default;
};

// What the sink wants to hear of; the rest is skipped at the price of one load.
enum Want : uint32_t {
  kWantCalls = 1,
  kWantWork = 2,
  kWantIds = 4,
  kWantSyncs = 8,
  kWantMemory = 16,
  kWantObjects = 32,
  kWantAny = 64,
  kWantManaged = 128,
};

// What is wanted; 0 without a sink. A forked child must not ask.
extern std::atomic<uint32_t> wanted;
extern std::atomic<Sink*> the_sink;

inline bool Wants(uint32_t what) { return (wanted.load(std::memory_order_relaxed) & what) != 0; }
inline Sink* TheSink() { return the_sink.load(std::memory_order_acquire); }

void SetSink(Sink* sink, uint32_t wants);

}  // namespace fake_gpu
