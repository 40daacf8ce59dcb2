// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Builds traces in memory for tests of passes: spans may be given in any order, depths and the
// order of rows follow from their intervals, as the recorder would have written them. Test code
// only, one thread.

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/model/table_extents.h"
#include "analysis/model/trace.h"
#include "proto/contract.h"

namespace gpuprof::analysis::test {

inline constexpr int64_t kUs = 1000;
inline constexpr int64_t kMs = 1000 * kUs;
inline constexpr uint32_t kRuntimeDomain = 2;  // CUPTI_CB_DOMAIN_RUNTIME_API

class ProcessBuilder;

class TrackBuilder {
 public:
  TrackBuilder(ProcessBuilder* process, int32_t tid, std::string name) : process_(process) {
    track_.tid = tid;
    track_.name = std::move(name);
    track_.id = static_cast<uint32_t>(tid);
  }

  // Of a stream.
  TrackBuilder(ProcessBuilder* process, uint32_t device, uint32_t context, uint32_t stream)
      : process_(process) {
    track_.is_stream = true;
    track_.device = device;
    track_.context = context;
    track_.stream = stream;
    track_.id = 0x10000 + context * 0x100 + stream;
  }

  TrackBuilder& Op(const std::string& name, int64_t start, int64_t end,
                   proto::OpScope scope = proto::OpScope::kFunction, uint8_t flags = 0);
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
    waits_.push_back({start, end, static_cast<uint32_t>(kind) | uint32_t{flags} << 8, object,
                      caller, stack, owner});
    return *this;
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
    track_.tensor.time_ns.push_back(time);
    track_.tensor.device.push_back(device);
    track_.tensor.address.push_back(address);
    track_.tensor.bytes.push_back(bytes);
    track_.tensor.total_allocated.push_back(allocated);
    track_.tensor.total_reserved.push_back(reserved);
    track_.tensor.capture.push_back(capture);
    return *this;
  }
  TrackBuilder& Launch(int64_t time, uint32_t correlation, uint32_t stack = 0) {
    track_.launch.time_ns.push_back(time);
    track_.launch.correlation.push_back(correlation);
    track_.launch.function.push_back(0);
    track_.launch.stack.push_back(stack);
    return *this;
  }
  // `path`: ProcessBuilder::Id of it; `bytes`: negative of an errno if the call failed.
  TrackBuilder& FileRead(uint64_t path, int64_t bytes, int64_t start, int64_t end,
                         int32_t descriptor = 3) {
    track_.file_read.end_ns.push_back(end);
    track_.file_read.duration_ns.push_back(end - start);
    track_.file_read.path.push_back(static_cast<uint32_t>(path));
    track_.file_read.bytes.push_back(bytes);
    track_.file_read.descriptor.push_back(descriptor);
    return *this;
  }
  TrackBuilder& Sample(int64_t time, int64_t cpu, int64_t runqueue = 0) {
    track_.samples.push_back({time, static_cast<uint64_t>(cpu), static_cast<uint64_t>(runqueue)});
    return *this;
  }
  TrackBuilder& Event(int64_t time, proto::ThreadEvent event, uint64_t a = 0, uint64_t b = 0) {
    track_.thread_event.time_ns.push_back(time);
    track_.thread_event.event.push_back(static_cast<uint32_t>(event));
    track_.thread_event.a.push_back(a);
    track_.thread_event.b.push_back(b);
    return *this;
  }
  // How many each row of GPU activity stands for from here on.
  TrackBuilder& Weight(uint32_t weight) {
    weight_ = weight;
    return *this;
  }
  // Of a stream's track.
  TrackBuilder& Kernel(uint32_t signature, int64_t start, int64_t end, uint32_t correlation = 0,
                       uint32_t graph = 0, uint64_t node = 0);
  // Kinds as CUPTI numbers them.
  TrackBuilder& Copy(uint32_t kind, uint32_t source, uint32_t destination, uint64_t bytes,
                     int64_t start, int64_t end, uint32_t correlation = 0, uint8_t flags = 0,
                     uint32_t graph = 0, uint64_t node = 0);
  TrackBuilder& Set(uint64_t bytes, int64_t start, int64_t end, uint32_t correlation = 0,
                    uint32_t graph = 0, uint64_t node = 0);
  // Of a graph that was recorded as a whole.
  TrackBuilder& WholeGraph(uint32_t graph, int64_t start, int64_t end, uint32_t correlation) {
    track_.graph_launch.end_ns.push_back(end);
    track_.graph_launch.duration_ns.push_back(end - start);
    track_.graph_launch.graph.push_back(graph);
    track_.graph_launch.correlation.push_back(correlation);
    track_.graph_launch.weight.push_back(weight_);
    return *this;
  }
  // `operation` as proto::OverheadOperation has it.
  TrackBuilder& Overhead(uint32_t operation, int64_t start, int64_t end, uint64_t bytes = 0) {
    track_.overhead.end_ns.push_back(end);
    track_.overhead.duration_ns.push_back(end - start);
    track_.overhead.operation.push_back(operation);
    track_.overhead.correlation.push_back(0);
    track_.overhead.bytes.push_back(bytes);
    return *this;
  }
  TrackBuilder& Sync(uint32_t kind, int64_t start, int64_t end, uint32_t correlation = 0,
                     uint32_t event = 0, uint64_t event_record = 0);
  // One of CUPTI's counters of unified memory, with its numbers.
  TrackBuilder& UnifiedMemory(uint32_t counter, uint64_t value, uint64_t address, int64_t start,
                              int64_t end, uint32_t source = 0, uint32_t destination = 0,
                              uint32_t flags = 0) {
    track_.unified_memory.end_ns.push_back(end);
    track_.unified_memory.duration_ns.push_back(end - start);
    track_.unified_memory.operation.push_back(proto::UnifiedMemoryOperation(counter, flags));
    track_.unified_memory.value.push_back(value);
    track_.unified_memory.address.push_back(address);
    track_.unified_memory.source.push_back(source);
    track_.unified_memory.destination.push_back(destination);
    return *this;
  }
  // A CUDA event is recorded in this stream.
  TrackBuilder& Recorded(int64_t time, uint32_t event, uint32_t correlation = 0,
                         uint64_t record = 0) {
    track_.cuda_event.time_ns.push_back(time);
    track_.cuda_event.correlation.push_back(correlation);
    track_.cuda_event.event.push_back(event);
    track_.cuda_event.record.push_back(record);
    return *this;
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
                     uint64_t utilized, uint64_t threshold = 0);
  // A runtime call.
  TrackBuilder& Call(const std::string& name, int64_t start, int64_t end, uint32_t correlation = 0,
                     uint32_t result = 0);
  // NVTX, with its depth in the domain. Ranges come in the order in which they ended.
  TrackBuilder& Range(const std::string& domain, const std::string& name, int64_t start,
                      int64_t end, uint32_t depth = 0,
                      proto::RangeKind kind = proto::RangeKind::kPushPop, int32_t begin_tid = 0,
                      uint8_t flags = 0);
  // A value of the range that comes next, which has all but the value's name and bits.
  TrackBuilder& Value(const std::string& domain, int64_t end, uint8_t place,
                      const std::string& name, RangeValue type, uint64_t bits, uint32_t depth = 0,
                      proto::RangeKind kind = proto::RangeKind::kPushPop);
  TrackBuilder& Tool() {
    track_.tool = true;
    return *this;
  }
  TrackBuilder& Dropped(uint64_t count) {
    track_.dropped = count;
    return *this;
  }

  Track Build() const;

 private:
  struct Span {
    int64_t start, end;
    uint32_t name;
    uint32_t scope_and_flags;
  };
  struct WaitRow {
    int64_t start, end;
    uint32_t operation;
    uint64_t object, caller;
    uint32_t stack;
    int32_t owner;
  };
  TrackBuilder& Heap(int64_t time, uint32_t operation, uint64_t address, uint64_t size,
                     uint32_t stack, uint16_t capture) {
    track_.heap.time_ns.push_back(time);
    track_.heap.operation.push_back(operation);
    track_.heap.address.push_back(address);
    track_.heap.size.push_back(size);
    track_.heap.stack.push_back(stack);
    track_.heap.capture.push_back(capture);
    return *this;
  }

  TrackBuilder& Memory(uint8_t operation, int64_t time, uint64_t address, uint64_t bytes,
                       uint32_t correlation, uint8_t kind, uint64_t pool, uint16_t capture);

  ProcessBuilder* process_;
  Track track_;
  uint32_t weight_ = 1;
  std::vector<Span> spans_;
  std::vector<WaitRow> waits_;
};

class ProcessBuilder {
 public:
  explicit ProcessBuilder(int32_t pid, int32_t ppid = 1) {
    process_.pid = pid;
    process_.ppid = ppid;
    process_.host = "host";
    process_.file = "p" + std::to_string(pid) + "-1.gpt";
    process_.executable = "/usr/bin/python3";
    process_.argv = {"python3", "train.py"};
    process_.cores = 4;
    process_.has_end = true;
    process_.exit_way = static_cast<uint32_t>(proto::ExitWay::kReturn);
  }
  // Valid as long as the builder; asking again for a tid gives the same track.
  TrackBuilder& Thread(int32_t tid, const std::string& name = "python3") {
    for (size_t i = 0; i < tids_.size(); ++i) {
      if (tids_[i] == tid) return *tracks_[i];
    }
    tids_.push_back(tid);
    tracks_.push_back(std::make_unique<TrackBuilder>(this, tid, name));
    return *tracks_.back();
  }
  TrackBuilder& Stream(uint32_t device, uint32_t context, uint32_t stream);
  // A way to launch the kernel `name`, one-dimensional. Its id.
  uint32_t Signature(const std::string& name, uint32_t grid, uint32_t block);
  // Frames innermost first. The id of the stack.
  uint32_t Stack(const std::vector<uint64_t>& pcs) {
    uint32_t parent = 0;
    for (size_t i = pcs.size(); i-- > 0;) {
      const uint32_t id = next_stack_++;
      process_.stacks.Add(id, parent, pcs[i]);
      parent = id;
    }
    return parent;
  }
  ProcessBuilder& Capture(int64_t start, int64_t end) {
    CaptureWindow window;
    window.number = static_cast<uint32_t>(process_.captures.size()) + 1;
    window.start_ns = start;
    window.end_ns = end;
    window.has_stop = true;
    process_.captures.push_back(window);
    return *this;
  }
  Process& process() { return process_; }
  // Numbers a runtime function.
  uint32_t Function(const std::string& name) {
    const auto [at, added] = function_ids_.try_emplace(
        name, proto::ApiFunction(kRuntimeDomain, static_cast<uint32_t>(function_ids_.size()) + 1));
    if (added) process_.functions[at->second] = Id(name);
    return at->second;
  }
  uint32_t Id(const std::string& text) {
    const auto [at, added] = ids_.try_emplace(text, next_string_);
    if (added) process_.strings[next_string_++] = text;
    return at->second;
  }
  Process Build() const;

 private:
  Process process_;
  std::vector<int32_t> tids_;
  std::vector<std::unique_ptr<TrackBuilder>> tracks_;
  std::map<std::string, uint32_t> ids_;
  std::map<std::string, uint32_t> function_ids_;
  uint32_t next_string_ = 2;
  uint32_t next_stack_ = 2;
};

inline TrackBuilder& TrackBuilder::Op(const std::string& name, int64_t start, int64_t end,
                                      proto::OpScope scope, uint8_t flags) {
  spans_.push_back(
      {start, end, process_->Id(name), static_cast<uint32_t>(scope) | uint32_t{flags} << 8});
  return *this;
}

inline TrackBuilder& TrackBuilder::Kernel(uint32_t signature, int64_t start, int64_t end,
                                          uint32_t correlation, uint32_t graph, uint64_t node) {
  track_.kernel.end_ns.push_back(end);
  track_.kernel.duration_ns.push_back(end - start);
  track_.kernel.signature.push_back(signature);
  track_.kernel.correlation.push_back(correlation);
  track_.kernel.graph.push_back(graph);
  track_.kernel.graph_node.push_back(node);
  track_.kernel.capture.push_back(1);
  track_.kernel.weight.push_back(weight_);
  return *this;
}

inline TrackBuilder& TrackBuilder::Copy(uint32_t kind, uint32_t source, uint32_t destination,
                                        uint64_t bytes, int64_t start, int64_t end,
                                        uint32_t correlation, uint8_t flags, uint32_t graph,
                                        uint64_t node) {
  track_.memcpy.end_ns.push_back(end);
  track_.memcpy.duration_ns.push_back(end - start);
  track_.memcpy.operation.push_back(proto::CopyOperation(static_cast<uint8_t>(kind),
                                                         static_cast<uint8_t>(source),
                                                         static_cast<uint8_t>(destination), flags));
  track_.memcpy.correlation.push_back(correlation);
  track_.memcpy.bytes.push_back(bytes);
  track_.memcpy.graph.push_back(graph);
  track_.memcpy.graph_node.push_back(node);
  track_.memcpy.peer.push_back(0);
  track_.memcpy.weight.push_back(weight_);
  return *this;
}

inline TrackBuilder& TrackBuilder::Set(uint64_t bytes, int64_t start, int64_t end,
                                       uint32_t correlation, uint32_t graph, uint64_t node) {
  constexpr uint8_t kDevice = 3;
  track_.memset.end_ns.push_back(end);
  track_.memset.duration_ns.push_back(end - start);
  track_.memset.operation.push_back(proto::CopyOperation(0, 0, kDevice, 0));
  track_.memset.correlation.push_back(correlation);
  track_.memset.bytes.push_back(bytes);
  track_.memset.graph.push_back(graph);
  track_.memset.graph_node.push_back(node);
  track_.memset.value.push_back(0);
  track_.memset.weight.push_back(weight_);
  return *this;
}

inline TrackBuilder& TrackBuilder::Range(const std::string& domain, const std::string& name,
                                         int64_t start, int64_t end, uint32_t depth,
                                         proto::RangeKind kind, int32_t begin_tid, uint8_t flags) {
  track_.range.end_ns.push_back(end);
  track_.range.duration_ns.push_back(end - start);
  track_.range.name.push_back(name.empty() ? 0 : process_->Id(name));
  track_.range.domain.push_back(domain.empty() ? 0 : process_->Id(domain));
  track_.range.operation.push_back(static_cast<uint32_t>(kind) | uint32_t{flags} << 8 |
                                   depth << 16);
  track_.range.style.push_back(0);
  track_.range.payload.push_back(0);
  track_.range.begin_thread.push_back(begin_tid);
  return *this;
}

inline TrackBuilder& TrackBuilder::Value(const std::string& domain, int64_t end, uint8_t place,
                                         const std::string& name, RangeValue type, uint64_t bits,
                                         uint32_t depth, proto::RangeKind kind) {
  track_.range_value.end_ns.push_back(end);
  track_.range_value.operation.push_back(RangeValueOperation(kind, type, place, depth));
  track_.range_value.domain.push_back(domain.empty() ? 0 : process_->Id(domain));
  track_.range_value.name.push_back(process_->Id(name));
  track_.range_value.value.push_back(bits);
  return *this;
}

inline TrackBuilder& TrackBuilder::Sync(uint32_t kind, int64_t start, int64_t end,
                                        uint32_t correlation, uint32_t event,
                                        uint64_t event_record) {
  track_.sync.end_ns.push_back(end);
  track_.sync.duration_ns.push_back(end - start);
  track_.sync.operation.push_back(kind);
  track_.sync.correlation.push_back(correlation);
  track_.sync.stream.push_back(0);
  track_.sync.event.push_back(event);
  track_.sync.result.push_back(0);
  track_.sync.weight.push_back(weight_);
  track_.sync.event_record.push_back(event_record);
  return *this;
}

inline TrackBuilder& TrackBuilder::Memory(uint8_t operation, int64_t time, uint64_t address,
                                          uint64_t bytes, uint32_t correlation, uint8_t kind,
                                          uint64_t pool, uint16_t capture) {
  const uint8_t pool_type = pool != 0 ? 1 : 0;
  track_.device_memory.time_ns.push_back(time);
  track_.device_memory.operation.push_back(
      proto::MemoryOperation(operation, kind, pool_type, pool != 0));
  track_.device_memory.address.push_back(address);
  track_.device_memory.bytes.push_back(bytes);
  track_.device_memory.correlation.push_back(correlation);
  track_.device_memory.pool.push_back(pool);
  track_.device_memory.pc.push_back(0);
  track_.device_memory.origin.push_back(0);
  track_.device_memory.capture.push_back(capture);
  return *this;
}

inline TrackBuilder& TrackBuilder::Pool(uint8_t operation, int64_t time, uint64_t address,
                                        uint64_t size, uint64_t utilized, uint64_t threshold) {
  track_.memory_pool.time_ns.push_back(time);
  track_.memory_pool.operation.push_back(proto::PoolOperation(operation, 1, false));
  track_.memory_pool.pool.push_back(address);
  track_.memory_pool.size.push_back(size);
  track_.memory_pool.utilized.push_back(utilized);
  track_.memory_pool.threshold.push_back(threshold);
  track_.memory_pool.kept.push_back(0);
  track_.memory_pool.correlation.push_back(0);
  return *this;
}

inline TrackBuilder& TrackBuilder::Call(const std::string& name, int64_t start, int64_t end,
                                        uint32_t correlation, uint32_t result) {
  track_.api.end_ns.push_back(end);
  track_.api.duration_ns.push_back(end - start);
  track_.api.function.push_back(process_->Function(name));
  track_.api.correlation.push_back(correlation);
  track_.api.result.push_back(result);
  track_.api.weight.push_back(weight_);
  return *this;
}

inline TrackBuilder& ProcessBuilder::Stream(uint32_t device, uint32_t context, uint32_t stream) {
  tracks_.push_back(std::make_unique<TrackBuilder>(this, device, context, stream));
  tids_.push_back(0);
  return *tracks_.back();
}

inline uint32_t ProcessBuilder::Signature(const std::string& name, uint32_t grid, uint32_t block) {
  const auto id = static_cast<uint32_t>(process_.signatures.size()) + 1;
  proto::Signature& signature = process_.signatures[id];
  signature.set_id(id);
  signature.set_name(Id(name));
  for (const uint32_t size : {grid, 1u, 1u}) signature.add_grid(size);
  for (const uint32_t size : {block, 1u, 1u}) signature.add_block(size);
  signature.set_registers(32);
  return id;
}

inline Track TrackBuilder::Build() const {
  Track track = track_;
  std::vector<Span> spans = spans_;
  // Parents first: depth is how many are open. Then by end, children first.
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  std::vector<int64_t> open;
  std::vector<uint32_t> depths;
  for (const Span& span : spans) {
    while (!open.empty() && open.back() <= span.start) open.pop_back();
    depths.push_back(static_cast<uint32_t>(open.size()));
    open.push_back(span.end);
  }
  std::vector<size_t> order(spans.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return spans[a].end != spans[b].end ? spans[a].end < spans[b].end : depths[a] > depths[b];
  });
  for (const size_t i : order) {
    track.op.end_ns.push_back(spans[i].end);
    track.op.duration_ns.push_back(spans[i].end - spans[i].start);
    track.op.name.push_back(spans[i].name);
    track.op.operation.push_back(spans[i].scope_and_flags | depths[i] << 16);
  }
  std::vector<WaitRow> waits = waits_;
  std::stable_sort(waits.begin(), waits.end(),
                   [](const WaitRow& a, const WaitRow& b) { return a.end < b.end; });
  for (const WaitRow& wait : waits) {
    track.wait.end_ns.push_back(wait.end);
    track.wait.duration_ns.push_back(wait.end - wait.start);
    track.wait.operation.push_back(wait.operation);
    track.wait.object.push_back(wait.object);
    track.wait.caller.push_back(wait.caller);
    track.wait.stack.push_back(wait.stack);
    track.wait.owner.push_back(wait.owner);
  }
  return track;
}

inline Process ProcessBuilder::Build() const {
  Process process = process_;
  bool first = true;
  auto cover = [&](int64_t time) {
    process.first_ns = first ? time : std::min(process.first_ns, time);
    process.last_ns = first ? time : std::max(process.last_ns, time);
    first = false;
  };
  for (const auto& builder : tracks_) {
    Track track = builder->Build();
    FillExtents(&track);
    for (const int64_t time : track.heap.time_ns) cover(time);
    for (const int64_t time : track.tensor.time_ns) cover(time);
    for (const int64_t time : track.thread_event.time_ns) cover(time);
    for (size_t i = 0; i < track.op.rows(); ++i) {
      cover(track.op.end_ns[i] - track.op.duration_ns[i]);
      cover(track.op.end_ns[i]);
    }
    for (size_t i = 0; i < track.wait.rows(); ++i) {
      cover(track.wait.end_ns[i] - track.wait.duration_ns[i]);
      cover(track.wait.end_ns[i]);
    }
    for (size_t i = 0; i < track.kernel.rows(); ++i) {
      cover(track.kernel.end_ns[i] - track.kernel.duration_ns[i]);
      cover(track.kernel.end_ns[i]);
    }
    for (size_t i = 0; i < track.api.rows(); ++i) {
      cover(track.api.end_ns[i] - track.api.duration_ns[i]);
      cover(track.api.end_ns[i]);
    }
    for (const auto* copies : {&track.memcpy.end_ns, &track.memset.end_ns, &track.sync.end_ns,
                               &track.device_memory.time_ns, &track.memory_pool.time_ns}) {
      for (const int64_t time : *copies) cover(time);
    }
    for (size_t i = 0; i < track.overhead.rows(); ++i) {
      cover(track.overhead.end_ns[i] - track.overhead.duration_ns[i]);
      cover(track.overhead.end_ns[i]);
    }
    for (size_t i = 0; i < track.graph_launch.rows(); ++i) {
      cover(track.graph_launch.end_ns[i] - track.graph_launch.duration_ns[i]);
      cover(track.graph_launch.end_ns[i]);
    }
    process.rows += track.graph_launch.rows() + track.overhead.rows();
    process.rows +=
        track.range.rows() + track.memcpy.rows() + track.memset.rows() + track.sync.rows();
    process.rows += track.device_memory.rows() + track.memory_pool.rows();
    process.rows += track.range_value.rows();
    process.rows += track.kernel.rows() + track.api.rows() + track.heap.rows() +
                    track.tensor.rows() + track.thread_event.rows() + track.op.rows() +
                    track.wait.rows();
    for (size_t i = 0; i < track.range.rows(); ++i) {
      cover(track.range.end_ns[i] - track.range.duration_ns[i]);
      cover(track.range.end_ns[i]);
    }
    process.tracks.push_back(track);
  }
  if (process.captures.empty()) {
    CaptureWindow window;
    window.number = 1;
    window.start_ns = process.first_ns;
    window.end_ns = process.last_ns;
    process.captures.push_back(window);
  }
  for (const CaptureWindow& window : process.captures) {
    process.recorded_ns += window.end_ns - window.start_ns;
  }
  process.file_bytes = process.rows * 3;
  return process;
}

// A trace of processes in the given order.
inline Trace MakeTrace(const std::vector<const ProcessBuilder*>& processes) {
  Trace trace;
  trace.path = "bundle";
  for (const ProcessBuilder* builder : processes) {
    trace.processes.push_back(builder->Build());
  }
  return trace;
}

}  // namespace gpuprof::analysis::test
