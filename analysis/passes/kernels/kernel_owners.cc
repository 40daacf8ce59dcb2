// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kernel_owners.h.

#include "analysis/passes/kernels/kernel_owners.h"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/derived/execution.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/derived/launched_work.h"
#include "analysis/derived/op_work.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/row_details.h"
#include "analysis/model/names.h"
#include "analysis/passes/kernels/kernel_description.h"
#include "analysis/passes/kernels/launch_site.h"
#include "analysis/passes/kernels/work_owners.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

struct Sums {
  SampleList durations;
  SignatureTimes signatures;
  std::unordered_set<uint32_t> steps;
  std::unordered_map<uint32_t, int64_t> stacks;  // and the time that each launched
  uint64_t in_steps = 0;
  uint64_t in_graphs = 0;
  uint64_t launched = 0;
  ExecutionTally execution;
  // By the inputs of the operations: of all kernels, or mixed.
  InputPrecision inputs;
  bool has_inputs = false;
  ReportedWork reported;
  ReportedWork shaped;  // by the shapes of the inputs

  void AddInputs(const InputPrecision& types) {
    if (!has_inputs) inputs = types;
    if (inputs.all != types.all) inputs.all = results::PRECISION_MIXED;
    if (inputs.half != types.half) inputs.half = results::PRECISION_MIXED;
    has_inputs = true;
  }
};

// Device, name of the kernel, name of the operation, whether it is a node of a graph.
using Key = std::tuple<uint32_t, uint32_t, uint32_t, bool>;

// Returns and reads what rows have for the stack of a launch until its site has a name.
std::string StackWords(size_t index, uint32_t stack) {
  return std::to_string(index) + " " + std::to_string(stack);
}
std::pair<size_t, uint32_t> ReadStackWords(const std::string& words) {
  const size_t space = words.find(' ');
  return {std::stoul(words), static_cast<uint32_t>(std::stoul(words.substr(space)))};
}

void FillConfiguration(const Process& process, const SignatureTimes& signatures,
                       results::Kernel* row) {
  const proto::Signature* only =
      signatures.size() == 1 ? SignatureOf(process, signatures.begin()->first) : nullptr;
  if (only != nullptr) FillSignature(*only, row);
  const proto::Device* device = process.FindDevice(row->device());
  if (device != nullptr) FillOccupancy(process, *device, signatures, row);
}

void FillRow(PassContext& context, size_t index, const Key& key, const WorkOwners& owners,
             size_t steps, Sums* sums, results::Kernel* row) {
  const Process& process = context.process(index);
  const auto& [device, name, op, in_graph] = key;
  SetProcess(process, row);
  row->set_device(device);
  row->set_name(Demangle(process.String(name).c_str()));
  if (row->name() != process.String(name)) row->set_mangled(process.String(name));
  row->set_op_evidence(owners.EvidenceOf(op, in_graph));
  if (op != WorkOwners::kNone) row->set_op(owners.Name(op));
  if (op != WorkOwners::kNone && op != WorkOwners::kGraph)
    row->set_is_tensor_core_eligible(IsTensorCoreEligible(row->op()));
  FillTensorCores(process, process.FindDevice(row->device()), sums->signatures, row, sums->inputs);
  row->set_signature_count(sums->signatures.size());
  row->set_graph_count(sums->in_graphs);
  row->set_launched_count(sums->launched);
  row->set_execution(sums->execution.found().execution);
  row->set_execution_evidence(sums->execution.found().evidence);
  FillConfiguration(process, sums->signatures, row);
  FillReportedWork(sums->reported, row);
  FillShapedWork(sums->shaped, row);
  if (steps != 0) {
    row->set_step_count(sums->steps.size());
    row->set_count_per_step(static_cast<double>(sums->in_steps) / static_cast<double>(steps));
  }
  const auto most =
      std::max_element(sums->stacks.begin(), sums->stacks.end(), [](const auto& x, const auto& y) {
        return x.second != y.second ? x.second < y.second : x.first > y.first;
      });
  if (most != sums->stacks.end()) row->set_launched_by(StackWords(index, most->first));
  const Samples durations = sums->durations.Take();
  FillDurations(durations, row);
}

}  // namespace

void AddKernelOwners(PassContext& context, size_t index, const std::unordered_set<uint32_t>* only,
                     results::Kernels* out) {
  const Process& process = context.process(index);
  const std::vector<Step>& steps = context.steps(index).steps;
  ProcessOps& ops = context.ops(index);
  Origin& origins = context.origin(index);
  RowDetails& details = context.details(index);
  InputTypes inputs(&ops, &details);
  ExecutionFinder executions(&ops, MayBeEager(context.trace()));
  const LaunchedWork& launched = context.launched(index);
  WorkOwners owners(&ops, &details);
  std::map<Key, Sums> groups;
  for (uint32_t track_index = 0; track_index < process.tracks.size(); ++track_index) {
    const Track& track = process.tracks[track_index];
    const KernelTable& kernels = track.kernel;
    ForEachRowOfWork(DeviceWorkKind::kKernel, kernels, [&](const DeviceWork& work) {
      if (only != nullptr && only->count(work.correlation) == 0) return;
      const WorkOrigin origin = origins.Of(work, steps);
      const uint32_t signature = kernels.signature[work.row];
      const proto::Signature* known = SignatureOf(process, signature);
      const uint32_t name = known == nullptr ? 0 : known->name();
      const int64_t ns = work.span.length() * work.weight;
      const uint32_t op = owners.OfKernel(kernels, work.row, origin, name);
      Sums& sums = groups[{track.device, name, op, origin.in_graph}];
      sums.durations.Add(work.span.length(), work.weight);
      sums.signatures[signature] += ns;
      if (origin.step) {
        sums.steps.insert(*origin.step);
        sums.in_steps += work.weight;
      }
      if (origin.stack > 1) sums.stacks[origin.stack] += ns;
      if (kernels.graph[work.row] != 0) sums.in_graphs += work.weight;
      if (origin.call) sums.launched += work.weight;
      sums.execution.Add(executions.OfKernel(kernels, work.row, origin.owner, origin.in_graph));
      sums.AddInputs(inputs.Of(kernels, work.row, origin.owner));
      AddReportedWork(kernels, work.row, &details, &sums.reported);
      AddShapedWork(launched, track_index, kernels, work.row, &sums.shaped);
    });
  }
  for (auto& [key, sums] : groups)
    FillRow(context, index, key, owners, steps.size(), &sums, out->add_kernels());
}

void NameLaunchSites(PassContext& context, results::Kernels* out) {
  for (results::Kernel& row : *out->mutable_kernels()) {
    if (row.launched_by().empty()) continue;
    const auto [index, stack] = ReadStackWords(row.launched_by());
    const std::string site = LaunchSite(context, index, stack);
    site.empty() ? row.clear_launched_by() : row.set_launched_by(site);
  }
}

}  // namespace gpuprof::analysis
