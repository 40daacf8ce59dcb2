// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Rules about calls of CUDA in steps: waits, allocations, loading of code. See rules.h.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/advice/rule_parts.h"
#include "analysis/render/figures.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

using results::Finding;

int64_t PerStepNs(const DeviceFacts& device, int64_t ns) {
  return ns / static_cast<int64_t>(std::max<uint64_t>(device.series.count(), 1));
}

void AddCalls(const AdviceFacts& facts, const Pieces& calls, const char* what, Finding* finding) {
  finding->add_evidence(CountPerStep(*facts.device, calls.count) + ": " + what + ", " +
                        FormatDuration(PerStepNs(*facts.device, calls.total_ns)) +
                        " in all. The longest: " + InstanceText(calls.longest) + ".");
}

// Returns "3 of cudaStreamSynchronize (12 ms), 1 of cudaMemcpy (3 ms)": in a step, longest first.
std::string WaitsText(const DeviceFacts& device) {
  constexpr size_t kNamed = 3;
  std::vector<std::pair<std::string, std::pair<uint64_t, int64_t>>> calls(
      device.waits_by_call.begin(), device.waits_by_call.end());
  std::stable_sort(calls.begin(), calls.end(),
                   [](const auto& a, const auto& b) { return a.second.second > b.second.second; });
  std::string words;
  for (size_t i = 0; i < std::min(kNamed, calls.size()); ++i)
    words +=
        (i == 0 ? "" : ", ") + calls[i].first + " " + CountPerStep(device, calls[i].second.first);
  return words;
}

}  // namespace

std::optional<Finding> BlockingWaits(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t gain =
      std::min(device.SavedPerStep(results::WHAT_IF_SYNC), device.waits.saved_per_step_ns);
  if (Share(device, gain) < facts.limits("SY-001.min_share")) return std::nullopt;
  Finding finding =
      MakeOfDevice(device, "SY-001", "The host waits for the GPU, and the GPU then for the host");
  SetGain(facts, Replayed(gain, "the host does not wait for the GPU"), &finding);
  finding.add_evidence("A step would take " + FormatDuration(device.StepNs() - gain) +
                       " instead of " + FormatDuration(device.StepNs()) +
                       " if the host did not wait for the GPU.");
  if (device.waits.count != 0) {
    Instance longest = device.waits.longest;
    const std::string call = std::exchange(longest.name, "");
    finding.add_evidence("Behind these waits the GPU had nothing to do: " + WaitsText(device) +
                         ". For longest behind " + call + ": " + InstanceText(longest) + ".");
  }
  AddFix(
      facts,
      {"Wait for events where a result is needed (cudaStreamWaitEvent), instead of for streams "
       "and devices. `gpuprof stats sync` lists the waits.",
       "Read results less often: .item(), print(tensor), .cpu(), nonzero() and "
       "torch.cuda.synchronize() wait for all work that was launched. `gpuprof stats sync` "
       "lists the waits.",
       "Read results less often: .numpy() and print(tensor) wait for all work that was launched. "
       "Run callbacks and metrics every few steps.",
       "Read results less often: block_until_ready(), float(x) and print(x) wait for all work "
       "that was launched."},
      &finding);
  return finding;
}

std::optional<Finding> Allocations(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& calls = facts.device->allocations;
  std::optional<Finding> finding =
      MakeOfPieces(facts, calls, "SY-002.min_share", "SY-002",
                   "Steps allocate or free memory of CUDA, which holds up the host and the GPU",
                   "these calls take no time");
  if (!finding) return std::nullopt;
  AddCalls(facts, calls, "calls that allocate or free", &*finding);
  AddFix(
      facts,
      {"Allocate once and reuse the memory, or use cudaMallocAsync with a pool that keeps memory "
       "(cudaMemPoolAttrReleaseThreshold).",
       "Do not call torch.cuda.empty_cache() in the loop. If memory is short, the caching "
       "allocator frees and allocates anew: PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True.",
       "Let TensorFlow keep its memory: no memory growth, or TF_GPU_ALLOCATOR=cuda_malloc_async.",
       "Let JAX keep its memory: XLA_PYTHON_CLIENT_PREALLOCATE=true, and not the platform "
       "allocator."},
      &*finding);
  return finding;
}

std::optional<Finding> DefaultStream(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const Pieces& pieces = device.legacy_stream;
  if (pieces.count == 0 || device.held_streams == 0) return std::nullopt;
  if (Share(device, PerStepNs(device, pieces.total_ns)) < facts.limits("SY-003.min_share"))
    return std::nullopt;
  Finding finding =
      Make("SY-003", "Work on the legacy default stream keeps other streams from running",
           results::LEVEL_MEDIUM, "the streams' kinds were recorded, but not what could overlap");
  finding.set_severity(results::SEVERITY_LOW);
  finding.add_evidence(CountPerStep(device, pieces.count) +
                       ": pieces of work on the legacy default stream that began when work of "
                       "another stream ended, " +
                       FormatDuration(PerStepNs(device, pieces.total_ns)) + " long. " +
                       std::to_string(device.held_streams) +
                       (device.held_streams == 1 ? " other stream waits" : " other streams wait") +
                       " for this stream, and this stream for them. The longest: " +
                       InstanceText(pieces.longest) + ".");
  AddFix(facts,
         {"Build with --default-stream per-thread, or create streams with cudaStreamNonBlocking.",
          "Run side work in `with torch.cuda.stream(s)`, also the main work: the default stream of "
          "PyTorch is the legacy one.",
          nullptr, nullptr},
         &finding);
  finding.set_caveat("Streams gain only if the work of one leaves room on the GPU for the other.");
  return finding;
}

std::optional<Finding> FullQueue(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const Pieces& calls = device.full_queue;
  if (Share(device, PerStepNs(device, calls.total_ns)) < facts.limits("LA-004.min_share"))
    return std::nullopt;
  Finding finding = Make("LA-004", "Launches wait because the queue of the GPU is full",
                         results::LEVEL_HIGH, "the calls and the queue were recorded");
  finding.set_severity(results::SEVERITY_INFO);
  AddCalls(facts, calls, "launches that waited for room", &finding);
  finding.add_fix("Leave the host as it is: it is ahead of the GPU, and nothing is lost.");
  return finding;
}

std::optional<Finding> SlowCalls(const AdviceFacts& facts) {
  if (!facts.device) return std::nullopt;
  const Pieces& calls = facts.device->slow_calls;
  std::optional<Finding> finding =
      MakeOfPieces(facts, calls, "LA-005.min_share", "LA-005",
                   "Some calls of CUDA take unusually long", "these calls take no time");
  if (!finding) return std::nullopt;
  const std::string function = calls.longest.name;
  finding->add_evidence(CountPerStep(*facts.device, calls.count) + ": calls of " + function +
                        " longer than " + FormatDuration(facts.limits.Whole("LA-005.min_p99")) +
                        ", " + FormatDuration(PerStepNs(*facts.device, calls.total_ns)) +
                        " in all. The longest: " + InstanceText(calls.longest) + ".");
  finding->add_fix(
      "First uses load code: run each shape once before you measure. Threads that call CUDA at the "
      "same time wait for each other: launch from one thread. `gpuprof stats api` lists the "
      "calls.");
  return finding;
}

std::optional<Finding> CodeLoads(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts)) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  if (device.compile_is_of_framework || device.code_loads.count == 0) return std::nullopt;
  const int64_t gain = device.SavedPerStep(results::WHAT_IF_COMPILE);
  if (Share(device, gain) <
      std::max(facts.limits("LA-007.min_share"), facts.limits("all.min_gain")))
    return std::nullopt;
  Finding finding = MakeOfDevice(device, "LA-007", "Steps load or compile code for the GPU");
  SetGain(facts, Replayed(gain, "code is loaded and compiled in no time"), &finding);
  AddCalls(facts, device.code_loads, "loads of code, and compilations by the driver", &finding);
  AddFix(
      facts,
      {"Build for the architecture of this GPU (-arch), so that the driver compiles nothing. Load "
       "all code before the loop (CUDA_MODULE_LOADING=EAGER), or run each kernel once.",
       "Run a few steps of each shape before you measure. For the start: "
       "CUDA_MODULE_LOADING=EAGER, and builds for this GPU (TORCH_CUDA_ARCH_LIST).",
       nullptr, "Keep compiled code: jax.config.update(\"jax_compilation_cache_dir\", ...)."},
      &finding);
  return finding;
}

std::optional<Finding> Recompiles(const AdviceFacts& facts) {
  if (!HasWholeSteps(facts) || !facts.device->compile_is_of_framework) return std::nullopt;
  const DeviceFacts& device = *facts.device;
  const int64_t gain = device.SavedPerStep(results::WHAT_IF_COMPILE);
  if (Share(device, gain) <
      std::max(facts.limits("ST-005.min_share"), facts.limits("all.min_gain")))
    return std::nullopt;
  Finding finding = MakeOfDevice(device, "ST-005", "Steps trace or compile the program again");
  SetGain(facts, Replayed(gain, "the program is traced and compiled in no time"), &finding);
  AddCalls(facts, device.recompiles, "compilations of the framework", &finding);
  AddFix(facts,
         {"Compile before the loop, and keep what was compiled.",
          "Keep shapes and Python values stable: pad batches, or mark sizes dynamic "
          "(torch._dynamo.mark_dynamic). TORCH_LOGS=recompiles tells the reason.",
          "Give tf.function an input_signature, and tensors instead of Python numbers.",
          "Keep shapes stable, and pass Python values as static_argnums only if they are few. "
          "jax.config.update(\"jax_explain_cache_misses\", True) tells the reason."},
         &finding);
  return finding;
}

}  // namespace gpuprof::analysis
