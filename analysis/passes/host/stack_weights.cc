// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See stack_weights.h.

#include "analysis/passes/host/stack_weights.h"
#include "analysis/derived/launch_stacks.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "analysis/passes/host/by_stack.h"
#include "analysis/passes/host/function_times.h"
#include "analysis/passes/memory/follow_heap.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/wait_kind.h"
#include "analysis/symbols/mangled_names.h"
#include "proto/contract.h"
#include "proto/results/heap.pb.h"

namespace gpuprof::analysis {
namespace {

// Both ids below 2 stand for no stack: none taken, and no room in the recorder's table.
uint32_t StackOf(uint32_t id) { return id > 1 ? id : 0; }

bool IsOfCuda(const Process& process, uint64_t pc) {
  for (const proto::Module& module : process.modules) {
    if (pc < module.start() || pc >= module.end()) continue;
    const std::string name = module.path().substr(module.path().rfind('/') + 1);
    for (const std::string_view library : {"libcupti.so", "libcuda.so", "libcudart.so"}) {
      if (name.compare(0, library.size(), library) == 0) return true;
    }
    return false;
  }
  return false;
}

enum class HeapMeasure { kAllocated, kCount, kPeak, kLive };

// Adds up the blocks that a measure counts.
template <HeapMeasure kMeasure>
class HeapWeights : public BlockWatcher {
 public:
  explicit HeapWeights(const Process& process) : sampling_(process.heap_period) {}

  void Allocated(const MemoryBlock& block) override {
    if (kMeasure == HeapMeasure::kAllocated || kMeasure == HeapMeasure::kCount) Add(block);
  }
  void Freed(const MemoryBlock&, int64_t) override {}
  void Finish(const LiveMemory& memory) {
    if (kMeasure == HeapMeasure::kPeak) AddAll(memory.live_at_peak());
    if (kMeasure == HeapMeasure::kLive) AddAll(memory.live_at_end());
  }

  uint64_t samples() const { return samples_; }
  const Estimate& all() const { return all_; }
  const std::unordered_map<uint32_t, Estimate>& stacks() const { return stacks_.values(); }

 private:
  void AddAll(const std::vector<MemoryBlock>& blocks) {
    for (const MemoryBlock& block : blocks) Add(block);
  }
  void Add(const MemoryBlock& block) {
    ++samples_;
    for (Estimate* sum : {&all_, &stacks_[StackOf(block.group)]}) {
      if (kMeasure == HeapMeasure::kCount) {
        sampling_.AddCount(block.size, block.sampled, sum);
      } else {
        sampling_.AddBytes(block.size, block.sampled, sum);
      }
    }
  }

  Sampling sampling_;
  uint64_t samples_ = 0;
  Estimate all_;
  ByStack<Estimate> stacks_;
};

template <HeapMeasure kMeasure>
StackWeights CollectHeap(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  HeapWeights<kMeasure> weights(process);
  weights.Finish(FollowHeap(process, &weights));
  StackWeights out;
  out.samples = weights.samples();
  out.estimate = weights.all();
  out.total = out.estimate.value();
  out.estimated =
      out.samples > 0 && process.heap_mode == static_cast<uint32_t>(proto::HeapMode::kSampled);

  // In the order of the ids: what each part is rounded to depends on those before it.
  const std::map<uint32_t, Estimate> ordered(weights.stacks().begin(), weights.stacks().end());
  std::vector<double> parts;
  parts.reserve(ordered.size());
  for (const auto& [stack, sum] : ordered) parts.push_back(sum.sum);
  const std::vector<uint64_t> whole = WholeParts(parts, out.total);
  size_t at = 0;
  for (const auto& [stack, sum] : ordered) out.by_stack[{stack, ""}] = whole[at++];
  return out;
}

StackWeights CollectMappings(PassContext& context, size_t index) {
  results::Heap heap;
  ComputeMappings(context, index, &heap);
  StackWeights out;
  for (const results::MappingStack& row : heap.mapping_stacks()) {
    const std::string_view kind = row.kind() == results::MAPPING_KIND_FILE       ? "[file]"
                                  : row.kind() == results::MAPPING_KIND_RESERVED ? "[reserved]"
                                                                                 : "[memory]";
    const uint32_t stack = StackOf(row.stack_id());
    out.by_stack[{stack, stack == 0 ? "" : kind}] += row.end_bytes();
    out.total += row.end_bytes();
  }
  return out;
}

std::string_view KindFrame(proto::WaitKind kind) {
  switch (kind) {
    case proto::WaitKind::kMutex:
      return "[mutex]";
    case proto::WaitKind::kRwlockRead:
      return "[rwlock_read]";
    case proto::WaitKind::kRwlockWrite:
      return "[rwlock_write]";
    case proto::WaitKind::kCondition:
      return "[condition]";
    case proto::WaitKind::kSemaphore:
      return "[semaphore]";
    case proto::WaitKind::kBarrier:
      return "[barrier]";
    case proto::WaitKind::kJoin:
      return "[join]";
    case proto::WaitKind::kSleep:
      return "[sleep]";
    case proto::WaitKind::kInput:
      return "[input]";
    case proto::WaitKind::kEvents:
      return "[events]";
    case proto::WaitKind::kChild:
      return "[child]";
    case proto::WaitKind::kFutex:
      return "[futex]";
    case proto::WaitKind::kGil:
      return "[gil]";
  }
  return "[wait]";  // of a newer writer
}

enum class WaitMeasure { kContended, kContendedCount, kAll };

template <WaitMeasure kMeasure>
StackWeights CollectWaits(PassContext& context, size_t index) {
  StackWeights out;
  for (const Track& track : context.process(index).tracks) {
    const WaitTable& table = track.wait;
    for (size_t row = 0; row < table.rows(); ++row) {
      const proto::WaitKind kind = proto::WaitKindOf(table.operation[row]);
      if (kMeasure != WaitMeasure::kAll && !IsContention(kind)) continue;
      const uint32_t stack = StackOf(table.stack[row]);
      const bool tell_kind = kMeasure == WaitMeasure::kAll && stack != 0;
      const uint64_t weight = kMeasure == WaitMeasure::kContendedCount
                                  ? 1
                                  : static_cast<uint64_t>(table.duration_ns[row]);
      out.by_stack[{stack, tell_kind ? KindFrame(kind) : "", track.tid}] += weight;
      out.total += weight;
    }
  }
  return out;
}

// By the call that launched each kernel; its name is the innermost frame.
StackWeights CollectKernels(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  const LaunchStacks stacks(process);
  StackWeights out;
  out.without_cuda = true;
  std::unordered_map<uint64_t, uint64_t> sums;  // by stack << 32 | signature
  for (const Track& track : process.tracks) {
    const KernelTable& kernels = track.kernel;
    const Column<int64_t>::Reader durations(kernels.duration_ns);
    const Column<uint32_t>::Reader signatures(kernels.signature), weights(kernels.weight),
        correlations(kernels.correlation);
    for (size_t row = 0; row < kernels.rows(); ++row) {
      const uint64_t stack = StackOf(stacks.Find(correlations[row]));
      sums[stack << 32 | signatures[row]] += static_cast<uint64_t>(durations[row]) * weights[row];
    }
  }
  std::unordered_map<uint32_t, std::string_view> names;  // by signature
  for (const auto& [key, sum] : sums) {
    const auto id = static_cast<uint32_t>(key);
    const auto [name, is_new] = names.try_emplace(id);
    if (is_new) {
      const auto signature = process.signatures.find(id);
      const uint32_t text = signature == process.signatures.end() ? 0 : signature->second.name();
      name->second = out.texts.emplace_back(Demangle(process.String(text).c_str()));
    }
    out.by_stack[{static_cast<uint32_t>(key >> 32), name->second}] += sum;
    out.total += sum;
  }
  return out;
}

// By the function that ran: time in the functions that it called is theirs.
StackWeights CollectPython(PassContext& context, size_t index) {
  StackWeights out;
  for (const Track& track : context.process(index).tracks) {
    const PythonTable& table = track.python;
    for (size_t row = 0; row < table.rows(); ++row) {
      const auto weight = static_cast<uint64_t>(table.self_ns[row]);
      out.by_stack[{StackOf(table.stack[row]), "", track.tid}] += weight;
      out.total += weight;
    }
  }
  return out;
}

// By what threads did when they were sampled.
StackWeights CollectRunning(PassContext& context, size_t index) {
  StackWeights out;
  out.by_function = true;
  for (const SampledStack& each : SamplesOf(context, index).stacks()) {
    const auto weight = static_cast<uint64_t>(each.times[HostState::kRuns]);
    out.by_stack[{each.stack, "", each.tid}] += weight;
    out.total += weight;
  }
  return out;
}

// By native code that ran, whether Python called it or not.
StackWeights CollectNative(PassContext& context, size_t index) {
  StackWeights out;
  for (const SampledStack& each : SamplesOf(context, index).native_stacks()) {
    const auto weight = static_cast<uint64_t>(each.times.all());
    out.by_stack[{each.stack, "", each.tid}] += weight;
    out.total += weight;
  }
  return out;
}

// By who waited; the function that had the lock is the innermost frame.
StackWeights CollectGilWaits(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  StackWeights out;
  out.by_function = true;
  std::unordered_map<uint32_t, std::string_view> names;  // by stack of the holder
  for (const GilWait& wait : SamplesOf(context, index).GilWaits()) {
    const auto [name, is_new] = names.try_emplace(wait.holder_stack, "[gil]");
    StackNode node;
    if (is_new && process.stacks.Find(wait.holder_stack, &node) && IsNamedFrame(node.pc)) {
      const CodeFrame frame = ReadFrameName(process.String(NameOfFrame(node.pc)));
      name->second = out.texts.emplace_back("[gil] " + FunctionText(frame));
    }
    const auto weight = static_cast<uint64_t>(wait.total_ns);
    out.by_stack[{wait.waiter_stack, name->second, wait.waiter}] += weight;
    out.total += weight;
  }
  return out;
}

StackWeights CollectSamples(PassContext& context, size_t index) {
  constexpr std::string_view kStates[kHostStates] = {"[runs]", "[gil]", "[waits]", "[ready]"};
  StackWeights out;
  out.by_function = true;
  for (const SampledStack& each : SamplesOf(context, index).stacks()) {
    for (size_t state = 0; state < kHostStates; ++state) {
      const auto weight = static_cast<uint64_t>(each.times.ns[state]);
      if (weight != 0) out.by_stack[{each.stack, kStates[state], each.tid}] += weight;
      out.total += weight;
    }
  }
  return out;
}

constexpr StackWeight kWeights[] = {
    {"cpu", "ns", "time on a processor, by samples", CollectRunning},
    {"gil", "ns", "time waited for Python's GIL, and the function that had it, by samples",
     CollectGilWaits},
    {"heap_alloc", "bytes", "bytes allocated", CollectHeap<HeapMeasure::kAllocated>},
    {"heap_allocs", "count", "number of allocations", CollectHeap<HeapMeasure::kCount>},
    {"heap_live", "bytes", "bytes allocated and not freed when the recording ended",
     CollectHeap<HeapMeasure::kLive>},
    {"heap_peak", "bytes", "bytes live at the peak of each process",
     CollectHeap<HeapMeasure::kPeak>},
    {"kernel", "ns", "run time of kernels, by the call that launched them (--trace launches)",
     CollectKernels},
    {"mmap", "bytes", "bytes mapped and not unmapped when the recording ended", CollectMappings},
    {"native", "ns", "processor time of native code, by samples", CollectNative},
    {"python", "ns", "time in Python functions, as torch.profiler traced them", CollectPython},
    {"samples", "ns", "time of threads, running or waiting, by samples", CollectSamples},
    {"wait", "ns", "time waited for locks that other threads held",
     CollectWaits<WaitMeasure::kContended>},
    {"wait_all", "ns", "time waited for locks, conditions, semaphores, barriers and joins",
     CollectWaits<WaitMeasure::kAll>},
    {"waits", "count", "number of waits for locks that other threads held",
     CollectWaits<WaitMeasure::kContendedCount>},
};

}  // namespace

void DropCudaFrames(const Process& process, std::vector<uint64_t>* pcs) {
  const auto own = std::find_if(pcs->begin(), pcs->end(),
                                [&](uint64_t pc) { return !IsOfCuda(process, pc - 1); });
  pcs->erase(pcs->begin(), own);
}

std::span<const StackWeight> StackWeightTable() { return kWeights; }

std::vector<uint64_t> WholeParts(const std::vector<double>& parts, uint64_t total) {
  std::vector<uint64_t> whole(parts.size(), 0);
  double sum = 0;
  uint64_t given = 0;
  size_t last = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i] <= 0) continue;
    last = i;
    sum += parts[i];
    const uint64_t until = std::min(total, static_cast<uint64_t>(std::llround(sum)));
    whole[i] = until - given;
    given = until;
  }
  // Sums of another order differ in their last bits.
  if (!whole.empty()) whole[last] += total - given;
  return whole;
}

}  // namespace gpuprof::analysis
