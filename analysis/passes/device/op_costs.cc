// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_costs.h.

#include "analysis/passes/device/op_costs.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/derived/device_work.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/derived/launched_work.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/peak_rates.h"
#include "analysis/derived/row_details.h"
#include "analysis/passes/device/used_devices.h"
#include "analysis/passes/kernels/kernel_description.h"
#include "analysis/passes/kernels/work_owners.h"
#include "analysis/symbols/kernel_family.h"
#include "analysis/symbols/kernel_names.h"
#include "analysis/symbols/mangled_names.h"

namespace gpuprof::analysis {
namespace {

constexpr double kNsOfSecond = 1e9;

// The programs of XLA, which work names by their numbers.
class ProgramNames {
 public:
  explicit ProgramNames(const Process& process) : process_(&process) {}

  std::string Of(const RowDetail& detail) {
    if (!detail.program_id) return detail.hlo_module;
    const std::string number = "(" + std::to_string(*detail.program_id) + ")";
    if (!detail.hlo_module.empty()) return detail.hlo_module + number;
    const auto [at, is_new] = known_.try_emplace(*detail.program_id);
    if (is_new) at->second = Find(*detail.program_id, number);
    return at->second;
  }

 private:
  // Lines of devices have a range for each run of a program, "jit_f(4)".
  std::string Find(uint64_t id, const std::string& number) const {
    for (const auto& module : process_->hlo_modules)
      if (module->program_id == id) return module->name;
    for (const Track& track : process_->tracks) {
      uint32_t last = 0;
      for (const uint32_t name : track.range.name) {
        if (std::exchange(last, name) == name) continue;
        if (std::string text = process_->String(name); text.ends_with(number)) return text;
      }
    }
    return "program " + std::to_string(id);
  }

  const Process* process_;
  std::map<uint64_t, std::string> known_;
};

// By what operations differ.
using OpKey = std::tuple<size_t, std::string, std::string, std::string, bool>;
struct OpGroup {
  OpCost cost;
  std::map<std::string, int64_t> categories;
};

// What all processes add to.
struct AllCosts {
  explicit AllCosts(PassContext& context) : devices(context) {}

  UsedDevices devices;
  std::vector<DeviceModel> models;
  std::map<OpKey, size_t> numbers;
  std::vector<OpGroup> groups;
};

// Adds the work of one process.
class ProcessCosts {
 public:
  ProcessCosts(PassContext& context, size_t index, AllCosts* all)
      : context_(context),
        index_(index),
        process_(context.process(index)),
        all_(*all),
        details_(context.details(index)),
        origins_(context.origin(index)),
        launched_(context.launched(index)),
        steps_(context.steps(index)),
        owners_(&context.ops(index), &details_),
        inputs_(&context.ops(index), &details_),
        programs_(process_) {}

  void Add() {
    for (uint32_t number = 0; number < process_.tracks.size(); ++number) {
      const Track& track = process_.tracks[number];
      ForEachDeviceWork(track, [&](const DeviceWork& work) { AddWork(number, track, work); });
    }
  }

 private:
  // A device that the process used.
  struct OwnDevice {
    const proto::Device* described = nullptr;
    size_t model = 0, number = 0;  // the latter by UsedDevices
  };
  // What a row of work adds.
  struct Cost {
    std::optional<uint64_t> flops, bytes;
    results::WorkEvidence flops_from = results::WORK_EVIDENCE_SHAPES;
    results::WorkEvidence bytes_from = results::WORK_EVIDENCE_SHAPES;
    bool is_part = false;  // of an operation whose operations another kernel has
    results::Precision precision = results::PRECISION_UNKNOWN;
  };

  void AddWork(uint32_t number, const Track& track, const DeviceWork& work);
  const OwnDevice& DeviceOf(uint32_t device);
  size_t ModelOf(const proto::Device* described);
  OpGroup& GroupOf(const Track& track, const DeviceWork& work, const WorkOrigin& origin);
  Cost CostOf(uint32_t number, const Track& track, const DeviceWork& work,
              const WorkOrigin& origin);
  results::Precision PrecisionOfRow(const Track& track, size_t row,
                                    const std::optional<OpRef>& owner);
  std::string CategoryOfWork(const Track& track, const DeviceWork& work);
  bool IsInStep(const DeviceWork& work, const WorkOrigin& origin) const;

  PassContext& context_;
  size_t index_;
  const Process& process_;
  AllCosts& all_;
  RowDetails& details_;
  Origin& origins_;
  const LaunchedWork& launched_;
  const StepAnalysis& steps_;
  WorkOwners owners_;
  InputTypes inputs_;
  ProgramNames programs_;
  std::map<uint32_t, OwnDevice> devices_;
  // By device, kind and operation; by signature and detail.
  std::map<std::pair<uint64_t, uint64_t>, size_t> groups_;
  std::map<std::tuple<uint32_t, uint32_t, int, int>, results::Precision> precisions_;
};

size_t ProcessCosts::ModelOf(const proto::Device* described) {
  const std::string name = described == nullptr ? "" : described->name();
  auto found = std::find_if(all_.models.begin(), all_.models.end(),
                            [&](const DeviceModel& each) { return each.name == name; });
  if (found == all_.models.end()) {
    found = all_.models.emplace(all_.models.end());
    found->name = name;
    for (int each = 0; each < results::Precision_ARRAYSIZE; ++each)
      found->flop_per_s[each] = PeakFlopPerSecond(name, static_cast<results::Precision>(each));
  }
  if (described != nullptr && !found->gb_per_s) {
    found->gb_per_s = PeakGbPerSecond(*described);
    if (found->gb_per_s)
      found->gb_source =
          described->memory_bandwidth_kb_per_s() != 0 ? "the trace" : PeakSource(name);
  }
  return static_cast<size_t>(found - all_.models.begin());
}

const ProcessCosts::OwnDevice& ProcessCosts::DeviceOf(uint32_t device) {
  const auto [at, is_new] = devices_.try_emplace(device);
  if (!is_new) return at->second;
  OwnDevice& own = at->second;
  own.described = DescribedDevice(process_, device);
  own.model = ModelOf(own.described);
  own.number = all_.devices.Of(index_, device);
  if (steps_.found()) {
    DeviceModel& model = all_.models[own.model];
    model.step_count = std::max(model.step_count, steps_.summary.count);
    model.step_ns += steps_.summary.lengths.total_ns;
  }
  return own;
}

std::string ProcessCosts::CategoryOfWork(const Track& track, const DeviceWork& work) {
  if (work.kind == DeviceWorkKind::kCopy) return "memcpy";
  if (work.kind == DeviceWorkKind::kSet) return "memset";
  if (work.kind == DeviceWorkKind::kGraph) return "graph";
  const RowDetail& detail = details_.Of(DetailOf(track.kernel, work.row));
  if (!detail.hlo_category.empty()) return detail.hlo_category;
  return std::string(FamilyWord(context_.families(index_).Of(track.kernel.signature[work.row])));
}

OpGroup& ProcessCosts::GroupOf(const Track& track, const DeviceWork& work,
                               const WorkOrigin& origin) {
  const bool is_kernel = work.kind == DeviceWorkKind::kKernel;
  const uint32_t signature = is_kernel ? track.kernel.signature[work.row] : 0;
  const proto::Signature* known = is_kernel ? SignatureOf(process_, signature) : nullptr;
  const uint32_t kernel = known == nullptr ? 0 : known->name();
  const uint32_t told = is_kernel ? DetailOf(track.kernel, work.row) : 0;
  const RowDetail& detail = details_.Of(told);
  // XLA's own operation says more than the call of the host that launched a whole program.
  const bool is_of_xla = !detail.hlo_op.empty() || !detail.hlo_category.empty();
  const uint32_t owner = is_of_xla   ? owners_.OfSource(told, kernel)
                         : is_kernel ? owners_.OfKernel(track.kernel, work.row, origin, kernel)
                                     : owners_.Of(origin);
  const uint64_t kind = static_cast<uint64_t>(work.kind) << 1 | (origin.in_graph ? 1 : 0);
  // A kernel of an unknown operation tells more than that it is a node of a graph.
  const bool is_unowned = owner == WorkOwners::kNone || (is_kernel && owner == WorkOwners::kGraph);
  const uint32_t unowned = is_unowned ? kernel : 0;
  const auto [at, is_new] = groups_.try_emplace(
      {uint64_t{track.device} << 35 | kind << 32 | owner, uint64_t{told} << 32 | unowned});
  if (!is_new) return all_.groups[at->second];
  OpGroup group;
  group.cost.model = DeviceOf(track.device).model;
  group.cost.is_kernel = is_kernel;
  group.cost.program = programs_.Of(detail);
  group.cost.shared_name = detail.shared_name;
  if (!is_unowned) group.cost.name = owners_.Name(owner);
  group.cost.evidence = owners_.EvidenceOf(owner, origin.in_graph);
  if (group.cost.name.empty())
    group.cost.name = is_kernel ? ShortKernelName(Demangle(process_.String(kernel).c_str()))
                                : CategoryOfWork(track, work);
  const OpKey key = {group.cost.model, group.cost.program, group.cost.name, group.cost.shared_name,
                     is_kernel};
  const auto [number, is_first] = all_.numbers.try_emplace(key, all_.groups.size());
  if (is_first) all_.groups.push_back(std::move(group));
  at->second = number->second;
  return all_.groups[at->second];
}

results::Precision ProcessCosts::PrecisionOfRow(const Track& track, size_t row,
                                                const std::optional<OpRef>& owner) {
  const InputPrecision inputs = inputs_.Of(track.kernel, row, owner);
  const uint32_t signature = track.kernel.signature[row];
  const auto [at, is_new] = precisions_.try_emplace(
      {track.device, signature, static_cast<int>(inputs.all), static_cast<int>(inputs.half)});
  if (is_new)
    at->second =
        PrecisionOfSignature(process_, process_.FindDevice(track.device), signature, inputs);
  return at->second;
}

ProcessCosts::Cost ProcessCosts::CostOf(uint32_t number, const Track& track, const DeviceWork& work,
                                        const WorkOrigin& origin) {
  Cost cost;
  if (work.kind != DeviceWorkKind::kKernel) return cost;
  const RowDetail& detail = details_.Of(DetailOf(track.kernel, work.row));
  if (detail.bytes && *detail.bytes != 0) {
    cost.bytes = detail.bytes;
    cost.bytes_from = results::WORK_EVIDENCE_SOURCE;
  }
  // XLA says 0 of what it knows nothing of: of custom calls, and of what moves no bytes.
  const bool is_analysed = cost.bytes && detail.hlo_category != "custom-call";
  if (detail.flops && (*detail.flops != 0 || is_analysed)) {
    cost.flops = detail.flops;
    cost.flops_from = results::WORK_EVIDENCE_SOURCE;
  }
  const HloFigures hlo = launched_.HloOf(track.kernel, work.row);
  if (!cost.flops && hlo.flops) {
    cost.flops = hlo.flops;
    cost.flops_from = results::WORK_EVIDENCE_HLO;
    cost.is_part = hlo.is_part;
  }
  if (!cost.bytes && hlo.bytes) {
    cost.bytes = hlo.bytes;
    cost.bytes_from = results::WORK_EVIDENCE_HLO;
  }
  size_t main_row = work.row;
  const Track* main_track = &track;
  if (origin.owner && !origin.in_graph) {
    const auto main = launched_.FlopKernelOf(*origin.owner);
    if (!cost.flops && main) {
      cost.flops = launched_.FlopsOf(number, work.row).value_or(0);
      main_row = main->row;
      main_track = &process_.tracks[main->track];
    }
    if (!cost.bytes && launched_.KnowsBytes(*origin.owner))
      cost.bytes = launched_.BytesOf(number, work.row).value_or(0);
  }
  if (cost.flops) cost.precision = PrecisionOfRow(*main_track, main_row, origin.owner);
  return cost;
}

bool ProcessCosts::IsInStep(const DeviceWork& work, const WorkOrigin& origin) const {
  const std::vector<Step>& steps = steps_.steps;
  const auto step = origin.call ? origin.step : Origin::StepAt(steps, work.span.start);
  return step && !steps[*step].is_warmup;
}

void ProcessCosts::AddWork(uint32_t number, const Track& track, const DeviceWork& work) {
  const WorkOrigin origin = origins_.Of(work, steps_.steps);
  const OwnDevice& device = DeviceOf(track.device);
  const Cost cost = CostOf(number, track, work, origin);
  OpGroup& group = GroupOf(track, work, origin);
  WorkSums& sums = group.cost.sums;
  const int64_t ns = work.span.length() * work.weight;
  sums.count += work.weight;
  sums.total_ns += ns;
  sums.devices.insert(device.number);
  group.categories[CategoryOfWork(track, work)] += ns;
  DeviceModel& model = all_.models[device.model];
  const auto add = [&](const std::optional<uint64_t>& value, results::WorkEvidence from,
                       KnownWork* to) {
    if (!value) return;
    to->value += *value * work.weight;
    to->ns += ns;
    to->sources |= 1u << from;
  };
  add(cost.flops, cost.flops_from, &sums.flops);
  add(cost.bytes, cost.bytes_from, &sums.bytes);
  if (!cost.flops) return;
  const double flops = static_cast<double>(*cost.flops) * work.weight;
  const std::optional<double>& peak = model.flop_per_s[cost.precision];
  // No operations take no time, at any peak.
  const bool has_none =
      flops == 0 && !cost.is_part && cost.flops_from != results::WORK_EVIDENCE_SHAPES;
  const double at_peak_ns = peak ? flops / *peak * kNsOfSecond : 0;
  if (!has_none) {
    sums.precisions |= 1u << static_cast<uint32_t>(cost.precision);
    model.precision_ns[static_cast<size_t>(cost.precision)] += ns;
  }
  if (peak || has_none) {
    sums.peaked_ns += ns;
    sums.peaked_flops += flops;
    sums.at_peak_ns += at_peak_ns;
    if (IsInStep(work, origin)) sums.step_at_peak_ns += at_peak_ns;
  }
  if (!cost.bytes) return;
  const double bytes = static_cast<double>(*cost.bytes) * work.weight;
  sums.both_flops += flops;
  sums.both_bytes += bytes;
  if (!model.gb_per_s || !(peak || has_none)) return;
  sums.placed_ns += ns;
  sums.placed_flops += flops;
  sums.placed_bytes += bytes;
  sums.placed_at_peak_ns += at_peak_ns;
}

OpCosts MakeCosts(PassContext& context) {
  AllCosts all(context);
  for (const size_t index : context.selected()) ProcessCosts(context, index, &all).Add();
  OpCosts costs;
  costs.models = std::move(all.models);
  for (OpGroup& group : all.groups) {
    const auto most =
        std::max_element(group.categories.begin(), group.categories.end(),
                         [](const auto& x, const auto& y) { return x.second < y.second; });
    group.cost.category = most->first;
    costs.ops.push_back(std::move(group.cost));
  }
  std::stable_sort(costs.ops.begin(), costs.ops.end(), [](const OpCost& x, const OpCost& y) {
    if (x.sums.total_ns != y.sums.total_ns) return x.sums.total_ns > y.sums.total_ns;
    return std::tie(x.program, x.name) < std::tie(y.program, y.name);
  });
  return costs;
}

std::optional<double> RateOf(double value, double ns) {
  return ns > 0 ? std::optional(value / ns) : std::nullopt;
}

}  // namespace

results::WorkEvidence KnownWork::evidence() const {
  if (sources == 0) return results::WORK_EVIDENCE_NONE;
  for (int each = 0; each < results::WorkEvidence_ARRAYSIZE; ++each)
    if (sources == 1u << each) return static_cast<results::WorkEvidence>(each);
  return results::WORK_EVIDENCE_MIXED;
}

void KnownWork::Join(const KnownWork& other) {
  value += other.value;
  ns += other.ns;
  sources |= other.sources;
}

void WorkSums::Join(const WorkSums& other) {
  count += other.count;
  total_ns += other.total_ns;
  flops.Join(other.flops);
  bytes.Join(other.bytes);
  peaked_ns += other.peaked_ns;
  peaked_flops += other.peaked_flops;
  at_peak_ns += other.at_peak_ns;
  both_flops += other.both_flops;
  both_bytes += other.both_bytes;
  placed_ns += other.placed_ns;
  placed_flops += other.placed_flops;
  placed_bytes += other.placed_bytes;
  placed_at_peak_ns += other.placed_at_peak_ns;
  step_at_peak_ns += other.step_at_peak_ns;
  precisions |= other.precisions;
  devices.insert(other.devices.begin(), other.devices.end());
}

results::Precision WorkSums::precision() const {
  if (precisions == 0) return results::PRECISION_UNKNOWN;
  for (int each = 0; each < results::Precision_ARRAYSIZE; ++each)
    if (precisions == 1u << each) return static_cast<results::Precision>(each);
  return results::PRECISION_MIXED;
}

RoofPoint PointOf(const WorkSums& sums, std::optional<double> peak_gb_per_s) {
  RoofPoint point;
  const auto per_second = [](std::optional<double> per_ns) {
    return per_ns ? std::optional(*per_ns * kNsOfSecond) : std::nullopt;
  };
  const auto ns = [](int64_t time) { return static_cast<double>(time); };
  if (sums.flops.is_known())
    point.flop_per_s = per_second(RateOf(static_cast<double>(sums.flops.value), ns(sums.flops.ns)));
  // A byte in a nanosecond is a gigabyte in a second.
  if (sums.bytes.is_known())
    point.gb_per_s = RateOf(static_cast<double>(sums.bytes.value), ns(sums.bytes.ns));
  point.flop_per_byte = RateOf(sums.both_flops, sums.both_bytes);
  point.peak_flop_per_s = per_second(RateOf(sums.peaked_flops, sums.at_peak_ns));
  if (sums.peaked_ns > 0) point.peak_flop_ratio = sums.at_peak_ns / ns(sums.peaked_ns);
  if (point.gb_per_s && peak_gb_per_s) point.peak_gb_ratio = *point.gb_per_s / *peak_gb_per_s;
  if (sums.placed_bytes <= 0 || !peak_gb_per_s) return point;
  const double memory_ns = sums.placed_bytes / *peak_gb_per_s;
  const double least_ns = std::max(memory_ns, sums.placed_at_peak_ns);
  point.is_memory_bound = memory_ns > sums.placed_at_peak_ns;
  point.roof_flop_per_s = per_second(RateOf(sums.placed_flops, least_ns));
  point.roof_ratio = RateOf(least_ns, ns(sums.placed_ns));
  return point;
}

const OpCosts& OpCostsOf(PassContext& context) {
  return context.kept_of_all().Get<OpCosts>([&] { return MakeCosts(context); });
}

}  // namespace gpuprof::analysis
