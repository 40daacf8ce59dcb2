// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the rules have in common, and the rules that stand in files of their own. See rules.h.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "analysis/advice/facts/pieces.h"
#include "analysis/advice/rules/gain.h"
#include "analysis/advice/rules/rules.h"
#include "analysis/advice/thresholds.h"

namespace gpuprof::analysis {

// Makes a finding of the rule whose id the code of the name begins with.
Finding Make(const char* name, results::Level level, Sentence reason);
// Returns the id of the rule that a code belongs to: "LA-001" of "LA-001.name".
constexpr std::string_view RuleOf(std::string_view code) { return code.substr(0, code.find('.')); }
// Returns the severity of what could be gained of a step.
results::Severity SeverityOf(const AdviceFacts& facts, double ratio);
// Returns what a step gains by so much less time of the host: what the device loses by the host, if
// there is one. The whole time without a device.
int64_t HostGain(const AdviceFacts& facts, int64_t host_ns);
bool HasSteps(const AdviceFacts& facts);
// "1.2 ms of the mean step of 10 ms (12 %)"
Argument PartOfStep(const AdviceFacts& facts, int64_t ns);

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
Argument OfStep(const DeviceFacts& device, int64_t ns);
// Returns whether the figures of the device tell about a usual step. Those of a cold start do not,
// nor those of a recording that lacks most calls.
bool IsSteady(const AdviceFacts& facts);
// Returns whether the device has steps, and all its work and calls were recorded.
bool HasWholeSteps(const AdviceFacts& facts);
Finding MakeOfDevice(const DeviceFacts& device, const char* name);
// Makes a finding about pieces if a step saves enough without them. The first threshold is the
// least part of a step. `change` is what was replayed, as in GainRange.
std::optional<Finding> MakeOfPieces(const AdviceFacts& facts, const Pieces& pieces,
                                    ThresholdName least, const char* name, const char* change);
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
Argument CountPerStep(const DeviceFacts& device, uint64_t count);
// Returns "memset of 1.2 ms at 3.4 s in step 5, on device 0, stream 7".
Argument InstanceText(const Instance& instance);
// Returns a name without the addresses of Python's objects, which differ from run to run.
std::string WithoutAddresses(std::string_view name);

Framework FrameworkOf(const AdviceFacts& facts);

// Adds what to try, in the words for the framework of the process.
void AddFix(const AdviceFacts& facts, const char* code, Finding* finding);

// Returns whether the framework takes most memory of the GPU when it begins, and needs it or not.
bool TakesAllMemory(const AdviceFacts& facts);

// input_rules.cc
std::optional<Finding> InputBound(const AdviceFacts& facts);
std::optional<Finding> BatchesOnMainThread(const AdviceFacts& facts);
std::optional<Finding> SlowIterator(const AdviceFacts& facts);
std::optional<Finding> ColdFiles(const AdviceFacts& facts);

// copy_rules.cc
std::optional<Finding> PageableCopies(const AdviceFacts& facts);
std::optional<Finding> SynchronousCopies(const AdviceFacts& facts);
std::optional<Finding> ExposedCopies(const AdviceFacts& facts);
std::optional<Finding> SmallCopies(const AdviceFacts& facts);
std::optional<Finding> ReturnedCopies(const AdviceFacts& facts);
std::optional<Finding> Memsets(const AdviceFacts& facts);

// call_rules.cc
std::optional<Finding> BlockingWaits(const AdviceFacts& facts);
std::optional<Finding> Allocations(const AdviceFacts& facts);
std::optional<Finding> DefaultStream(const AdviceFacts& facts);
std::optional<Finding> FullQueue(const AdviceFacts& facts);
std::optional<Finding> SlowCalls(const AdviceFacts& facts);
std::optional<Finding> CodeLoads(const AdviceFacts& facts);
std::optional<Finding> Recompiles(const AdviceFacts& facts);

// step_rules.cc
std::optional<Finding> WarmUp(const AdviceFacts& facts);
std::optional<Finding> Collections(const AdviceFacts& facts);
std::optional<Finding> Outputs(const AdviceFacts& facts);
std::optional<Finding> BetweenSteps(const AdviceFacts& facts);
std::optional<Finding> SlowStart(const AdviceFacts& facts);
std::optional<Finding> LatePrompts(const AdviceFacts& facts);
std::optional<Finding> Environment(const AdviceFacts& facts);
std::optional<Finding> NothingFound(const AdviceFacts& facts);
std::optional<Finding> UnifiedMemoryFaults(const AdviceFacts& facts);

// launch_rules.cc
std::optional<Finding> LateHost(const AdviceFacts& facts);
std::optional<Finding> TinyKernels(const AdviceFacts& facts);
std::optional<Finding> RepeatedKernels(const AdviceFacts& facts);
std::optional<Finding> GraphCandidate(const AdviceFacts& facts);

// device_rules.cc
std::optional<Finding> ExposedCollectives(const AdviceFacts& facts);
std::optional<Finding> WithoutTensorCores(const AdviceFacts& facts);
std::optional<Finding> Elementwise(const AdviceFacts& facts);
std::optional<Finding> FirstUses(const AdviceFacts& facts);

// kernel_rules.cc
std::optional<Finding> LongGaps(const AdviceFacts& facts);
std::optional<Finding> LowOccupancy(const AdviceFacts& facts);
std::optional<Finding> FewBlocks(const AdviceFacts& facts);
std::optional<Finding> Tails(const AdviceFacts& facts);
std::optional<Finding> LittleOf16Bits(const AdviceFacts& facts);
std::optional<Finding> UnfusedAttention(const AdviceFacts& facts);
std::optional<Finding> MisalignedProducts(const AdviceFacts& facts);
std::optional<Finding> DriftingKernels(const AdviceFacts& facts);
std::optional<Finding> LayoutKernels(const AdviceFacts& facts);
std::optional<Finding> SlowProducts(const AdviceFacts& facts);
std::optional<Finding> SlowedByCollectives(const AdviceFacts& facts);

// sample_rules.cc
std::optional<Finding> BusyFunction(const AdviceFacts& facts);
std::optional<Finding> WaitsForGil(const AdviceFacts& facts);
std::optional<Finding> LongWaits(const AdviceFacts& facts);
std::optional<Finding> CollectionsInRun(const AdviceFacts& facts);

// memory_rules.cc
std::optional<Finding> NearlyFull(const AdviceFacts& facts);
std::optional<Finding> UnusedMemory(const AdviceFacts& facts);
std::optional<Finding> Fragmentation(const AdviceFacts& facts);
std::optional<Finding> MemoryGrows(const AdviceFacts& facts);
std::optional<Finding> AllocationChurn(const AdviceFacts& facts);
std::optional<Finding> SlowClocks(const AdviceFacts& facts);
std::optional<Finding> SharedGpu(const AdviceFacts& facts);

// collective_rules.cc
std::optional<Finding> SmallMessages(const AdviceFacts& facts);
std::optional<Finding> SlowBackend(const AdviceFacts& facts);
std::optional<Finding> LateRankOfDevice(const AdviceFacts& facts);
std::optional<Finding> LateRankOfHost(const AdviceFacts& facts);
std::optional<Finding> UnequalRanks(const AdviceFacts& facts);

// gpu_rules.cc
std::optional<Finding> IdleGpu(const AdviceFacts& facts);

// lock_rules.cc
std::optional<Finding> StepsBlocked(const AdviceFacts& facts);
std::optional<Finding> LockContention(const AdviceFacts& facts);
std::optional<Finding> LockContentionInRun(const AdviceFacts& facts);
std::optional<Finding> Deadlocked(const AdviceFacts& facts);

// run_rules.cc
std::optional<Finding> DataInRun(const AdviceFacts& facts);
std::optional<Finding> TimeOfRun(const AdviceFacts& facts);

}  // namespace gpuprof::analysis
