// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Words for tests of passes on top of the model's own builders: one call adds one row, with the
// values that the test cares about. Rows may be given in any order. Test code only, one thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "analysis/model/builder.h"
#include "analysis/model/model_builder.h"
#include "analysis/model/trace.h"
#include "proto/contract.h"

namespace gpuprof::analysis::test {

using proto::ChunkKind;

inline constexpr int64_t kUs = 1000;
inline constexpr int64_t kMs = 1000 * kUs;
inline constexpr uint32_t kRuntimeDomain = 2;  // CUPTI_CB_DOMAIN_RUNTIME_API

// Adds rows to one timeline.
class TrackBuilder {
 public:
  TrackBuilder(analysis::ProcessBuilder* process, uint32_t timeline)
      : process_(process), timeline_(timeline) {}

  TrackBuilder& Op(const std::string& name, int64_t start, int64_t end,
                   proto::OpScope scope = proto::OpScope::kFunction, uint8_t flags = 0) {
    OpRow row;
    row.span = {start, end};
    row.name = Id(name);
    row.scope = scope;
    row.flags = flags;
    process_->Add(timeline_, row);
    return *this;
  }
  TrackBuilder& User(const std::string& name, int64_t start, int64_t end) {
    return Op(name, start, end, proto::OpScope::kUser);
  }
  TrackBuilder& Backward(const std::string& name, int64_t start, int64_t end) {
    return Op(name, start, end, proto::OpScope::kBackward);
  }
  TrackBuilder& Loader(int64_t start, int64_t end) {
    return User("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", start, end);
  }
  TrackBuilder& Optimizer(int64_t start, int64_t end, const std::string& type = "SGD") {
    return User("Optimizer.step#" + type + ".step", start, end);
  }
  TrackBuilder& Wait(proto::WaitKind kind, uint64_t object, uint64_t caller, int64_t start,
                     int64_t end, uint8_t flags = 0, uint32_t stack = 0, int32_t owner = 0) {
    return Add<ChunkKind::kWait>(end, end - start,
                                 static_cast<uint32_t>(kind) | uint32_t{flags} << 8, object, caller,
                                 stack, owner);
  }
  TrackBuilder& Alloc(int64_t time, uint64_t address, uint64_t size, uint32_t stack = 0,
                      bool sampled = false, uint16_t capture = 1) {
    return Heap(time, proto::HeapOperation(false, 1, sampled ? proto::kFlagSampled : uint8_t{0}),
                address, size, stack, capture);
  }
  // A sampled one from before stacks could be taken.
  TrackBuilder& AllocEarly(int64_t time, uint64_t address, uint64_t size) {
    constexpr uint8_t kFlags = proto::kFlagSampled | proto::kFlagNoUnwinder;
    return Heap(time, proto::HeapOperation(false, 1, kFlags), address, size, 0, 1);
  }
  TrackBuilder& Free(int64_t time, uint64_t address, bool sampled = false, uint16_t capture = 1) {
    return Heap(time, proto::HeapOperation(true, 4, sampled ? proto::kFlagSampled : uint8_t{0}),
                address, 0, 0, capture);
  }
  // The totals as the framework's allocator counts them once it is done; 0: not told.
  TrackBuilder& Tensor(int64_t time, uint64_t address, int64_t bytes, uint32_t device = 0xff,
                       uint16_t capture = 1, uint64_t allocated = 0, uint64_t reserved = 0) {
    return AddOf<ChunkKind::kTensor>(capture, time, device, address, bytes, allocated, reserved);
  }
  TrackBuilder& Launch(int64_t time, uint32_t correlation, uint32_t stack = 0) {
    return Add<ChunkKind::kLaunch>(time, correlation, 0, stack);
  }
  // `path`: ProcessBuilder::Id of it; `bytes`: negative of an errno if the call failed.
  TrackBuilder& FileRead(uint64_t path, int64_t bytes, int64_t start, int64_t end,
                         int32_t descriptor = 3) {
    return Add<ChunkKind::kFileRead>(end, end - start, path, bytes, descriptor);
  }
  // A stack of a thread, on the sampler's track. `state`: proto::SampleState.
  TrackBuilder& StackSample(int32_t thread, uint32_t stack, int64_t start, int64_t end,
                            uint32_t state = proto::kSampleRuns, int32_t holder = 0) {
    return Add<ChunkKind::kSample>(end, end - start, thread, state, stack, holder);
  }
  // A whole number that the op that ends then says of itself.
  TrackBuilder& OpValue(uint64_t name, int64_t value, int64_t time, uint64_t text = 0) {
    return Add<ChunkKind::kOpValue>(time, name, value, text);
  }
  TrackBuilder& Sample(int64_t time, int64_t cpu, int64_t runqueue = 0) {
    track().samples.push_back({time, static_cast<uint64_t>(cpu), static_cast<uint64_t>(runqueue)});
    return *this;
  }
  TrackBuilder& Event(int64_t time, proto::ThreadEvent event, uint64_t a = 0, uint64_t b = 0) {
    return Add<ChunkKind::kThreadEvent>(time, static_cast<uint32_t>(event), a, b);
  }
  // How many each row of GPU activity stands for from here on.
  TrackBuilder& Weight(uint32_t weight) {
    weight_ = weight;
    return *this;
  }
  // Of a stream's track.
  TrackBuilder& Kernel(uint32_t signature, int64_t start, int64_t end, uint32_t correlation = 0,
                       uint32_t graph = 0, uint64_t node = 0) {
    return Add<ChunkKind::kKernel>(end, end - start, signature, correlation, graph, node);
  }
  // Kinds as CUPTI numbers them.
  TrackBuilder& Copy(uint32_t kind, uint32_t source, uint32_t destination, uint64_t bytes,
                     int64_t start, int64_t end, uint32_t correlation = 0, uint8_t flags = 0,
                     uint32_t graph = 0, uint64_t node = 0) {
    const uint32_t operation =
        proto::CopyOperation(static_cast<uint8_t>(kind), static_cast<uint8_t>(source),
                             static_cast<uint8_t>(destination), flags);
    return Add<ChunkKind::kMemcpy>(end, end - start, operation, correlation, bytes, graph, node, 0);
  }
  TrackBuilder& Set(uint64_t bytes, int64_t start, int64_t end, uint32_t correlation = 0,
                    uint32_t graph = 0, uint64_t node = 0) {
    constexpr uint8_t kDevice = 3;
    return Add<ChunkKind::kMemset>(end, end - start, proto::CopyOperation(0, 0, kDevice, 0),
                                   correlation, bytes, graph, node, 0);
  }
  // Of a graph that was recorded as a whole.
  TrackBuilder& WholeGraph(uint32_t graph, int64_t start, int64_t end, uint32_t correlation) {
    return Add<ChunkKind::kGraphLaunch>(end, end - start, graph, correlation);
  }
  // `operation` as proto::OverheadOperation has it.
  TrackBuilder& Overhead(uint32_t operation, int64_t start, int64_t end, uint64_t bytes = 0) {
    return Add<ChunkKind::kOverhead>(end, end - start, operation, 0, bytes);
  }
  TrackBuilder& Sync(uint32_t kind, int64_t start, int64_t end, uint32_t correlation = 0,
                     uint32_t event = 0, uint64_t event_record = 0) {
    return Add<ChunkKind::kSync>(end, end - start, kind, correlation, 0, event, 0, event_record);
  }
  // One of CUPTI's counters of unified memory, with its numbers.
  TrackBuilder& UnifiedMemory(uint32_t counter, uint64_t value, uint64_t address, int64_t start,
                              int64_t end, uint32_t source = 0, uint32_t destination = 0,
                              uint32_t flags = 0) {
    return Add<ChunkKind::kUnifiedMemory>(end, end - start,
                                          proto::UnifiedMemoryOperation(counter, flags), value,
                                          address, source, destination);
  }
  // This stream runs a function on the host.
  TrackBuilder& HostFunction(int32_t thread, int64_t start, int64_t end, uint32_t correlation = 0,
                             uint32_t graph = 0, uint64_t node = 0) {
    return Add<ChunkKind::kHostFunction>(end, end - start, thread, correlation, graph, node);
  }
  // A call of a Python function, with its depth. Calls come in the order in which they ended.
  TrackBuilder& PythonCall(const std::string& name, int64_t start, int64_t end, uint32_t depth,
                           uint8_t flags = 0) {
    return Add<ChunkKind::kPython>(end, end - start, Id(name), PythonTable::kNoRow, 0, end - start,
                                   uint32_t{flags} << 8 | depth << 16);
  }
  // A pause of Python's garbage collector.
  TrackBuilder& GcPause(uint32_t generation, int64_t start, int64_t end, uint64_t collected = 0) {
    return Add<ChunkKind::kGcPause>(end, end - start, generation, collected, uint64_t{0});
  }
  // A CUDA event is recorded in this stream.
  TrackBuilder& Recorded(int64_t time, uint32_t event, uint32_t correlation = 0,
                         uint64_t record = 0) {
    return Add<ChunkKind::kCudaEvent>(time, correlation, event, record);
  }
  // CUDA's memory; of a pool the call is asynchronous. Kinds as CUPTI numbers them.
  TrackBuilder& Allocate(int64_t time, uint64_t address, uint64_t bytes, uint32_t correlation = 0,
                         uint8_t kind = 3, uint64_t pool = 0, uint16_t capture = 1) {
    return Memory(proto::kMemoryAllocation, time, address, bytes, correlation, kind, pool, capture);
  }
  TrackBuilder& Release(int64_t time, uint64_t address, uint64_t bytes, uint32_t correlation = 0,
                        uint8_t kind = 3, uint64_t pool = 0, uint16_t capture = 1) {
    return Memory(proto::kMemoryRelease, time, address, bytes, correlation, kind, pool, capture);
  }
  // How a pool was then; `operation` as CUPTI numbers it, 0 at an allocation.
  TrackBuilder& Pool(uint8_t operation, int64_t time, uint64_t address, uint64_t size,
                     uint64_t utilized, uint64_t threshold = 0) {
    return Add<ChunkKind::kMemoryPool>(time, proto::PoolOperation(operation, 1, false), address,
                                       size, utilized, threshold, 0, 0);
  }
  // A runtime call.
  TrackBuilder& Call(const std::string& name, int64_t start, int64_t end, uint32_t correlation = 0,
                     uint32_t result = 0) {
    return Add<ChunkKind::kApi>(end, end - start, process_->Function(kRuntimeDomain, name),
                                correlation, result);
  }
  // NVTX, with its depth in the domain. Ranges come in the order in which they ended.
  TrackBuilder& Range(const std::string& domain, const std::string& name, int64_t start,
                      int64_t end, uint32_t depth = 0,
                      proto::RangeKind kind = proto::RangeKind::kPushPop, int32_t begin_tid = 0,
                      uint8_t flags = 0) {
    return Add<ChunkKind::kRange>(end, end - start, Id(name),
                                  static_cast<uint32_t>(kind) | uint32_t{flags} << 8 | depth << 16,
                                  Id(domain), 0, 0, begin_tid);
  }
  // A value of the range that comes next, which has all but the value's name and bits.
  TrackBuilder& Value(const std::string& domain, int64_t end, uint8_t place,
                      const std::string& name, RangeValue type, uint64_t bits, uint32_t depth = 0,
                      proto::RangeKind kind = proto::RangeKind::kPushPop) {
    RangeValueTable& values = track().range_value;
    values.end_ns.push_back(end);
    values.operation.push_back(RangeValueOperation(kind, type, place, depth));
    values.domain.push_back(Id(domain));
    values.name.push_back(Id(name));
    values.value.push_back(bits);
    return *this;
  }
  TrackBuilder& Tool() {
    track().tool = true;
    return *this;
  }
  TrackBuilder& Dropped(uint64_t count) {
    track().dropped = count;
    return *this;
  }

 private:
  Track& track() { return process_->process().tracks[timeline_]; }
  uint32_t Id(const std::string& text) { return process_->Intern(text); }
  template <ChunkKind kKind, typename... Values>
  TrackBuilder& Add(Values... values) {
    process_->Append<kKind>(timeline_, {1, weight_}, values...);
    return *this;
  }
  template <ChunkKind kKind, typename... Values>
  TrackBuilder& AddOf(uint16_t capture, Values... values) {
    process_->Append<kKind>(timeline_, {capture, weight_}, values...);
    return *this;
  }
  TrackBuilder& Heap(int64_t time, uint32_t operation, uint64_t address, uint64_t size,
                     uint32_t stack, uint16_t capture) {
    return AddOf<ChunkKind::kHeap>(capture, time, operation, address, size, stack);
  }
  TrackBuilder& Memory(uint8_t operation, int64_t time, uint64_t address, uint64_t bytes,
                       uint32_t correlation, uint8_t kind, uint64_t pool, uint16_t capture) {
    const uint8_t pool_type = pool != 0 ? 1 : 0;
    return AddOf<ChunkKind::kDeviceMemory>(
        capture, time, proto::MemoryOperation(operation, kind, pool_type, pool != 0), address,
        bytes, correlation, pool, 0, 0);
  }

  analysis::ProcessBuilder* process_;
  uint32_t timeline_;
  uint32_t weight_ = 1;
};

class ProcessBuilder {
 public:
  explicit ProcessBuilder(int32_t pid, int32_t ppid = 1) : builder_(pid, "host") {
    process().ppid = ppid;
    process().file = "p" + std::to_string(pid) + "-1.gpt";
    process().executable = "/usr/bin/python3";
    process().argv = {"python3", "train.py"};
    process().cores = 4;
    process().exit_way = static_cast<uint32_t>(proto::ExitWay::kReturn);
  }
  // Valid as long as the builder; asking again for a tid gives the same track.
  TrackBuilder& Thread(int32_t tid, const std::string& name = "python3") {
    const uint32_t timeline = builder_.Thread(tid);
    const auto [at, is_new] = of_timeline_.try_emplace(timeline, tracks_.size());
    if (!is_new) return tracks_[at->second];
    Track& track = process().tracks[timeline];
    track.name = name;
    track.id = static_cast<uint32_t>(tid);
    return tracks_.emplace_back(&builder_, timeline);
  }
  TrackBuilder& Stream(uint32_t device, uint32_t context, uint32_t stream) {
    const uint32_t timeline = builder_.AddTimeline();
    Track& track = process().tracks[timeline];
    track.is_stream = true;
    track.device = device;
    track.context = context;
    track.stream = stream;
    track.id = 0x10000 + context * 0x100 + std::min(stream, 0xffu);
    return tracks_.emplace_back(&builder_, timeline);
  }
  // A way to launch the kernel `name`, one-dimensional. Its id.
  uint32_t Signature(const std::string& name, uint32_t grid, uint32_t block) {
    const auto id = static_cast<uint32_t>(process().signatures.size()) + 1;
    proto::Signature& signature = process().signatures[id];
    signature.set_id(id);
    signature.set_name(Id(name));
    for (const uint32_t size : {grid, 1u, 1u}) signature.add_grid(size);
    for (const uint32_t size : {block, 1u, 1u}) signature.add_block(size);
    signature.set_registers(32);
    return id;
  }
  // Frames innermost first. The id of the stack.
  uint32_t Stack(const std::vector<uint64_t>& pcs) {
    uint32_t parent = 0;
    for (size_t i = pcs.size(); i-- > 0;) {
      const uint32_t id = next_stack_++;
      process().stacks.Add(id, parent, pcs[i]);
      parent = id;
    }
    return parent;
  }
  ProcessBuilder& Capture(int64_t start, int64_t end) {
    CaptureWindow window;
    window.number = static_cast<uint32_t>(process().captures.size()) + 1;
    window.start_ns = start;
    window.end_ns = end;
    window.has_stop = true;
    process().captures.push_back(window);
    return *this;
  }
  Process& process() { return builder_.process(); }
  // Numbers a runtime function.
  uint32_t Function(const std::string& name) { return builder_.Function(kRuntimeDomain, name); }
  uint32_t Id(const std::string& text) { return builder_.Intern(text); }
  // The builder can go on afterwards.
  Process Build() const {
    analysis::ProcessBuilder copy = builder_;
    Process process = copy.Finish(0);
    process.file_bytes = process.rows * 3;
    return process;
  }

 private:
  analysis::ProcessBuilder builder_;
  std::deque<TrackBuilder> tracks_;
  std::map<uint32_t, size_t> of_timeline_;  // index in tracks_
  uint32_t next_stack_ = 2;
};

// A trace of processes in the given order.
inline Trace MakeTrace(const std::vector<const ProcessBuilder*>& processes) {
  ModelBuilder model("bundle");
  for (const ProcessBuilder* builder : processes) model.AddProcess(builder->Build());
  return model.Finish();
}

}  // namespace gpuprof::analysis::test
