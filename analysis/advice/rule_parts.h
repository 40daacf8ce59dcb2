// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the rules have in common, and the rules that stand in files of their own. See rules.h.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/advice/gain.h"
#include "analysis/advice/pieces.h"
#include "analysis/advice/rules.h"
#include "analysis/advice/thresholds.h"

namespace gpuprof::analysis {

results::Finding Make(std::string_view id, std::string_view name, results::Level level,
                      std::string_view reason);
// Returns the severity of what could be gained of a step.
results::Severity SeverityOf(const AdviceFacts& facts, double ratio);
// Returns what a step gains by so much less time of the host: what the device loses by the host, if
// there is one. The whole time without a device.
int64_t HostGain(const AdviceFacts& facts, int64_t host_ns);
bool HasSteps(const AdviceFacts& facts);
// "1.2 ms of the mean step of 10 ms (12 %)"
std::string PartOfStep(const AdviceFacts& facts, int64_t ns);

// Finds the category of the steps by its name. Null: the steps are not known.
const results::StepCategory* FindCategory(const AdviceFacts& facts, std::string_view name);
// Returns whether steps are blocked for longer than for `ns`. Then rules that advise to compute
// less keep silent.
bool WaitsLongerThan(const AdviceFacts& facts, int64_t ns);

// Rules about devices.
int64_t Part(int64_t ns, double part);
// Returns the part of the device's step.
double Share(const DeviceFacts& device, int64_t ns);
// Returns "1.2 ms (12 %) of a step of 10 ms".
std::string OfStep(const DeviceFacts& device, int64_t ns);
// Returns whether the figures of the device tell about a usual step. Those of a cold start do not,
// nor those of a recording that lacks most calls.
bool IsSteady(const AdviceFacts& facts);
// Returns whether the device has steps, and all its work and calls were recorded.
bool HasWholeSteps(const AdviceFacts& facts);
results::Finding MakeOfDevice(const DeviceFacts& device, std::string_view id,
                              std::string_view name);
// Makes a finding about pieces if a step saves enough without them. The first threshold is the
// least part of a step. `change` is what was replayed, as in GainRange.
std::optional<results::Finding> MakeOfPieces(const AdviceFacts& facts, const Pieces& pieces,
                                             ThresholdName least, std::string_view id,
                                             std::string_view name, std::string_view change);
// Gaps of a device that are long in themselves, and for a step.
struct LongGapSums {
  uint64_t count = 0;
  int64_t least_ns = 0;  // shorter gaps do not count
  int64_t total_ns = 0, late_ns = 0;
  int64_t late_ns_per_step = 0;
  int64_t host_ns_per_step = 0;  // the same without data, code and waits
};
LongGapSums LongGapsOf(const AdviceFacts& facts);

// Returns "12 a step": a count of all counted steps, for one of them.
std::string CountPerStep(const DeviceFacts& device, uint64_t count);
// Returns "memset of 1.2 ms at 3.4 s in step 5, on device 0, stream 7".
std::string InstanceText(const Instance& instance);
// Returns a name without the addresses of Python's objects, which differ from run to run.
std::string WithoutAddresses(std::string_view name);

// The framework of the program, as its environment or its operations name it.
enum class Framework { kNone, kTorch, kTensorFlow, kJax };
Framework FrameworkOf(const AdviceFacts& facts);

// What to try, in the words of each framework. Null: as for CUDA.
struct FixWords {
  const char* cuda;
  const char* torch = nullptr;
  const char* tensorflow = nullptr;
  const char* jax = nullptr;
};
// Adds the words for the framework of the process.
void AddFix(const AdviceFacts& facts, const FixWords& words, results::Finding* finding);

// Returns whether the framework takes most memory of the GPU when it begins, and needs it or not.
bool TakesAllMemory(const AdviceFacts& facts);

// input_rules.cc
std::optional<results::Finding> InputBound(const AdviceFacts& facts);
std::optional<results::Finding> BatchesOnMainThread(const AdviceFacts& facts);
std::optional<results::Finding> SlowIterator(const AdviceFacts& facts);
std::optional<results::Finding> ColdFiles(const AdviceFacts& facts);

// copy_rules.cc
std::optional<results::Finding> PageableCopies(const AdviceFacts& facts);
std::optional<results::Finding> SynchronousCopies(const AdviceFacts& facts);
std::optional<results::Finding> ExposedCopies(const AdviceFacts& facts);
std::optional<results::Finding> SmallCopies(const AdviceFacts& facts);
std::optional<results::Finding> ReturnedCopies(const AdviceFacts& facts);
std::optional<results::Finding> Memsets(const AdviceFacts& facts);

// call_rules.cc
std::optional<results::Finding> BlockingWaits(const AdviceFacts& facts);
std::optional<results::Finding> Allocations(const AdviceFacts& facts);
std::optional<results::Finding> DefaultStream(const AdviceFacts& facts);
std::optional<results::Finding> FullQueue(const AdviceFacts& facts);
std::optional<results::Finding> SlowCalls(const AdviceFacts& facts);
std::optional<results::Finding> CodeLoads(const AdviceFacts& facts);
std::optional<results::Finding> Recompiles(const AdviceFacts& facts);

// step_rules.cc
std::optional<results::Finding> WarmUp(const AdviceFacts& facts);
std::optional<results::Finding> Collections(const AdviceFacts& facts);
std::optional<results::Finding> Outputs(const AdviceFacts& facts);
std::optional<results::Finding> BetweenSteps(const AdviceFacts& facts);
std::optional<results::Finding> SlowStart(const AdviceFacts& facts);
std::optional<results::Finding> Environment(const AdviceFacts& facts);
std::optional<results::Finding> NothingFound(const AdviceFacts& facts);
std::optional<results::Finding> UnifiedMemoryFaults(const AdviceFacts& facts);

// launch_rules.cc
std::optional<results::Finding> LateHost(const AdviceFacts& facts);
std::optional<results::Finding> TinyKernels(const AdviceFacts& facts);
std::optional<results::Finding> RepeatedKernels(const AdviceFacts& facts);
std::optional<results::Finding> GraphCandidate(const AdviceFacts& facts);

// device_rules.cc
std::optional<results::Finding> ExposedCollectives(const AdviceFacts& facts);
std::optional<results::Finding> WithoutTensorCores(const AdviceFacts& facts);
std::optional<results::Finding> Elementwise(const AdviceFacts& facts);
std::optional<results::Finding> FirstUses(const AdviceFacts& facts);

// kernel_rules.cc
std::optional<results::Finding> LongGaps(const AdviceFacts& facts);
std::optional<results::Finding> LowOccupancy(const AdviceFacts& facts);
std::optional<results::Finding> FewBlocks(const AdviceFacts& facts);
std::optional<results::Finding> Tails(const AdviceFacts& facts);
std::optional<results::Finding> LittleOf16Bits(const AdviceFacts& facts);
std::optional<results::Finding> UnfusedAttention(const AdviceFacts& facts);
std::optional<results::Finding> MisalignedProducts(const AdviceFacts& facts);
std::optional<results::Finding> DriftingKernels(const AdviceFacts& facts);
std::optional<results::Finding> LayoutKernels(const AdviceFacts& facts);
std::optional<results::Finding> SlowProducts(const AdviceFacts& facts);
std::optional<results::Finding> SlowedByCollectives(const AdviceFacts& facts);

// memory_rules.cc
std::optional<results::Finding> NearlyFull(const AdviceFacts& facts);
std::optional<results::Finding> UnusedMemory(const AdviceFacts& facts);
std::optional<results::Finding> Fragmentation(const AdviceFacts& facts);
std::optional<results::Finding> MemoryGrows(const AdviceFacts& facts);
std::optional<results::Finding> AllocationChurn(const AdviceFacts& facts);
std::optional<results::Finding> SlowClocks(const AdviceFacts& facts);
std::optional<results::Finding> SharedGpu(const AdviceFacts& facts);

// collective_rules.cc
std::optional<results::Finding> SmallMessages(const AdviceFacts& facts);
std::optional<results::Finding> SlowBackend(const AdviceFacts& facts);
std::optional<results::Finding> LateRank(const AdviceFacts& facts);
std::optional<results::Finding> UnequalRanks(const AdviceFacts& facts);

// gpu_rules.cc
std::optional<results::Finding> IdleGpu(const AdviceFacts& facts);

// lock_rules.cc
std::optional<results::Finding> StepsBlocked(const AdviceFacts& facts);
std::optional<results::Finding> LockContention(const AdviceFacts& facts);
std::optional<results::Finding> LockContentionInRun(const AdviceFacts& facts);
std::optional<results::Finding> Deadlocked(const AdviceFacts& facts);

// run_rules.cc
std::optional<results::Finding> DataInRun(const AdviceFacts& facts);
std::optional<results::Finding> TimeOfRun(const AdviceFacts& facts);

}  // namespace gpuprof::analysis
