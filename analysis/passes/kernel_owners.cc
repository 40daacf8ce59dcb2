// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_owners.h.

#include "analysis/passes/kernel_owners.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/derived/origin.h"
#include "analysis/model/names.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/module_symbols.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kNoOp = 0;

struct Sums {
  SampleList durations;
  std::unordered_set<uint32_t> signatures;
  std::unordered_set<uint32_t> steps;
  std::unordered_map<uint32_t, int64_t> stacks;  // and the time that each launched
  uint64_t in_steps = 0;
  uint64_t in_graphs = 0;
  uint64_t launched = 0;
};

// Device, name of the kernel, name of the operation.
using Key = std::tuple<uint32_t, uint32_t, uint32_t>;

// Returns whether a frame is of CUDA itself: below it is the program.
bool IsOfCuda(const results::Frame& frame) {
  constexpr std::array<std::string_view, 7> kLibraries = {
      "libcuda.", "libcudart.", "libcublas", "libcudnn", "libcufft", "libnccl", "libnvrtc"};
  constexpr std::array<std::string_view, 3> kFunctions = {"cudaLaunch", "cuLaunch",
                                                          "__device_stub"};
  const std::string_view module = frame.module();
  const std::string_view file = module.substr(module.rfind('/') + 1);
  const auto begins = [](std::string_view text, std::string_view start) {
    return text.substr(0, start.size()) == start;
  };
  return std::any_of(kLibraries.begin(), kLibraries.end(),
                     [&](std::string_view library) { return begins(file, library); }) ||
         std::any_of(kFunctions.begin(), kFunctions.end(),
                     [&](std::string_view function) { return begins(frame.name(), function); });
}

// Returns the function of the program that launched: of Python, if the stack has one.
std::string LaunchSite(PassContext& context, size_t index, uint32_t stack) {
  const std::vector<uint64_t> pcs = context.StackPcs(index, stack);
  const auto named = std::find_if(pcs.begin(), pcs.end(), IsNamedFrame);
  if (named != pcs.end()) return context.process(index).String(NameOfFrame(*named));
  for (const uint64_t pc : pcs) {
    results::Frame frame;
    context.Resolve(index, pc, PcKind::kReturnAddress, &frame);
    if (!frame.name().empty() && !IsOfCuda(frame)) return frame.name();
  }
  return "";
}

// Returns the name of the operation. The range of a step is not an operation.
uint32_t OpOf(const ProcessOps& ops, const WorkOrigin& origin) {
  if (!origin.op) return kNoOp;
  const uint32_t name = ops.process().tracks[origin.op->track].op.name[origin.op->row];
  return ops.name_kind(name) == NameKind::kAnnotation ? kNoOp : name;
}

void FillRow(PassContext& context, size_t index, const Key& key, size_t steps, Sums* sums,
             results::Kernel* row) {
  const Process& process = context.process(index);
  const auto& [device, name, op] = key;
  SetProcess(process, row);
  row->set_device(device);
  row->set_name(Demangle(process.String(name).c_str()));
  if (row->name() != process.String(name)) row->set_mangled(process.String(name));
  if (op != kNoOp) row->set_op(process.String(op));
  row->set_signature_count(sums->signatures.size());
  row->set_graph_count(sums->in_graphs);
  row->set_launched_count(sums->launched);
  if (steps != 0) {
    row->set_step_count(sums->steps.size());
    row->set_count_per_step(static_cast<double>(sums->in_steps) / static_cast<double>(steps));
  }
  const auto most =
      std::max_element(sums->stacks.begin(), sums->stacks.end(), [](const auto& x, const auto& y) {
        return x.second != y.second ? x.second < y.second : x.first > y.first;
      });
  if (most != sums->stacks.end()) {
    const std::string site = LaunchSite(context, index, most->first);
    if (!site.empty()) row->set_launched_by(site);
  }
  const Samples durations = sums->durations.Take();
  row->set_count(durations.size());
  row->set_total_ns(durations.total());
  row->set_mean_ns(durations.mean());
  row->set_median_ns(durations.median());
  row->set_min_ns(durations.min());
  row->set_max_ns(durations.max());
}

}  // namespace

void AddKernelOwners(PassContext& context, size_t index, const std::unordered_set<uint32_t>* only,
                     results::Kernels* out) {
  const Process& process = context.process(index);
  const std::vector<results::Step>& steps = context.steps(index).steps;
  Origin origins(&context.ops(index), context.calls(index), steps);
  std::map<Key, Sums> groups;
  for (const Track& track : process.tracks) {
    const KernelTable& kernels = track.kernel;
    ForEachRowOfWork(DeviceWorkKind::kKernel, kernels, [&](const DeviceWork& work) {
      if (only != nullptr && only->count(work.correlation) == 0) return;
      const WorkOrigin origin = origins.Of(work);
      const uint32_t signature = kernels.signature[work.row];
      const auto known = process.signatures.find(signature);
      const uint32_t name = known == process.signatures.end() ? 0 : known->second.name();
      const uint32_t op = OpOf(context.ops(index), origin);
      Sums& sums = groups[{track.device, name, op}];
      sums.durations.Add(work.span.length(), work.weight);
      sums.signatures.insert(signature);
      if (origin.step) {
        sums.steps.insert(*origin.step);
        sums.in_steps += work.weight;
      }
      if (origin.stack > 1) sums.stacks[origin.stack] += work.span.length() * work.weight;
      if (kernels.graph[work.row] != 0) sums.in_graphs += work.weight;
      if (origin.call) sums.launched += work.weight;
    });
  }
  for (auto& [key, sums] : groups)
    FillRow(context, index, key, steps.size(), &sums, out->add_kernels());
}

}  // namespace gpuprof::analysis
