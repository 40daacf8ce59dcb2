// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `kernels`: sums over the kernels of all streams. Busy time is the union of their spans
// on each device: kernels that overlap are not counted twice. Occupancy and waves are means over
// the launches, each with the time it took.

#include <algorithm>
#include <limits>
#include <list>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "analysis/derived/busy_time.h"
#include "analysis/derived/call_ids.h"
#include "analysis/derived/launched_work.h"
#include "analysis/derived/op_names.h"
#include "analysis/derived/origin.h"
#include "analysis/derived/row_details.h"
#include "analysis/model/names.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/device/graph_launches.h"
#include "analysis/passes/device/open_launches.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/used_devices.h"
#include "analysis/passes/host/range_calls.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/passes/kernels/compiled_rows.h"
#include "analysis/passes/kernels/kernel_description.h"
#include "analysis/passes/kernels/kernel_owners.h"
#include "analysis/passes/kernels/kernel_sums.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/kernel_family.h"
#include "analysis/symbols/short_names.h"
#include "analysis/symbols/tensor_cores.h"
#include "proto/kept_name.h"
#include "proto/results/kernels.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int kAllCores = 0;

enum class Grouping { kName, kSignature, kStream, kOp, kFamily };

// What a row stands for; what does not matter is 0. Ids of names and signatures are the process's
// own.
struct Key {
  size_t process;
  uint32_t device;
  uint32_t first;   // name, signature, context or family
  uint32_t second;  // stream
  auto operator<=>(const Key&) const = default;
};

struct Sums {
  SignatureTimes signatures;
  uint64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = std::numeric_limits<int64_t>::max();
  int64_t max_ns = std::numeric_limits<int64_t>::min();
  std::optional<int64_t> median_ns;  // none: the kernels were not read one by one
  uint64_t in_graphs = 0;
  uint64_t launched = 0;
  ReportedWork reported;
  ReportedWork shaped;  // by the shapes of operations
  size_t number = 0;    // of the group, for FindMedians
};

using Groups = std::map<Key, Sums>;

// The kernels of one device, from which its busy time is made.
struct DeviceKernels {
  struct Stream {
    const KernelTable* table;
    const std::unordered_set<uint32_t>* only;
    bool is_in_order;
  };
  std::vector<Stream> streams;
};

// What is gathered over the processes.
struct Gathered {
  explicit Gathered(PassContext& context)
      : devices(context), by_device(devices.all().size()), families(context) {}
  UsedDevices devices;
  std::vector<DeviceKernels> by_device;
  Groups groups;
  FamilyTally families;
  std::vector<SummedKernels> processes;
};

Key KeyOf(Grouping grouping, const PassContext& context, size_t process, const Track& track,
          uint32_t signature, FamilyTally* families) {
  switch (grouping) {
    case Grouping::kSignature:
      return {process, track.device, signature, 0};
    case Grouping::kStream:
      return {process, track.device, track.context, track.stream};
    case Grouping::kFamily:
      return {process, track.device, static_cast<uint32_t>(families->Of(process, signature)), 0};
    case Grouping::kName:
    case Grouping::kOp:
      break;
  }
  const proto::Signature* known = SignatureOf(context.process(process), signature);
  return {process, track.device, known == nullptr ? 0 : known->name(), 0};
}

void AddSignature(const SignatureSums& from, Sums* sums) {
  sums->signatures[from.signature] += from.total_ns;
  sums->count += from.count;
  sums->total_ns += from.total_ns;
  sums->min_ns = std::min(sums->min_ns, from.min_ns);
  sums->max_ns = std::max(sums->max_ns, from.max_ns);
  sums->in_graphs += from.in_graphs;
  sums->launched += from.launched;
}

// Takes the sums of a process whose kernels were not read one by one.
void AddWorkSums(const PassContext& context, size_t index, Grouping grouping, Gathered* to) {
  for (const Track& track : context.process(index).tracks) {
    for (const TableSums& table : track.work.tables) {
      if (table.kind != proto::ChunkKind::kKernel) continue;
      for (const KeySums& each : table.keys) {
        to->families.Add(index, each.key, each.count, each.total_ns);
        Sums& sums = to->groups[KeyOf(grouping, context, index, track, each.key, &to->families)];
        sums.signatures[each.key] += each.total_ns;
        sums.count += each.count;
        sums.total_ns += each.total_ns;
        sums.min_ns = std::min(sums.min_ns, each.min_ns);
        sums.max_ns = std::max(sums.max_ns, each.max_ns);
      }
    }
  }
}

// Returns whether anything but reports tells what kernels compute: shapes, or programs of XLA.
bool HasShapes(const PassContext& context, const Process& process) {
  if (!process.hlo_modules.empty()) return true;
  using Kind = proto::ChunkKind;
  const TableSet& tables = context.trace().tables;
  return tables.Has(Kind::kOp) && tables.Has(Kind::kApi) &&
         std::any_of(process.tracks.begin(), process.tracks.end(),
                     [](const Track& track) { return !track.op.detail.empty(); });
}

// Adds what kernels compute and move by shapes of the operations that launched them, or by
// programs.
void AddShapes(PassContext& context, size_t index, Grouping grouping,
               const std::unordered_set<uint32_t>* only, Gathered* to) {
  const Process& process = context.process(index);
  if (grouping == Grouping::kOp || grouping == Grouping::kStream || !HasShapes(context, process))
    return;
  const LaunchedWork& launched = context.launched(index);
  for (uint32_t number = 0; number < process.tracks.size(); ++number) {
    const Track& track = process.tracks[number];
    const KernelTable& kernels = track.kernel;
    for (size_t row = 0; row < kernels.rows(); ++row) {
      if (only != nullptr && only->count(kernels.correlation[row]) == 0) continue;
      const Key key = KeyOf(grouping, context, index, track, kernels.signature[row], &to->families);
      const auto group = to->groups.find(key);
      if (group != to->groups.end())
        AddShapedWork(launched, number, kernels, row, &group->second.shaped);
    }
  }
}

// `only`: correlations of the launches that count; null: all do. It must live as long as the
// result.
void AddProcess(PassContext& context, size_t index, Grouping grouping,
                const std::unordered_set<uint32_t>* only, Gathered* to) {
  if (context.trace().has_sums) return AddWorkSums(context, index, grouping, to);
  const Process& process = context.process(index);
  const bool has_kernels = std::any_of(process.tracks.begin(), process.tracks.end(),
                                       [](const Track& track) { return track.kernel.rows() != 0; });
  if (!has_kernels) return;
  SummedKernels summed;
  // A kernel of the part may have been launched before it.
  const CallIds calls(context.whole_process(index), kAllCores);
  summed.tracks = SumKernels(process, calls, only, kAllCores);
  summed.only = only;
  RowDetails& details = context.details(index);
  for (TrackSums& track : summed.tracks) {
    const auto reported = ReportedWorkOf(*track.track, only, &details);
    DeviceKernels& device = to->by_device[to->devices.Of(index, track.track->device)];
    device.streams.push_back({&track.track->kernel, only, track.is_in_order});
    for (SignatureSums& each : track.signatures) {
      to->families.Add(index, each.signature, each.count, each.total_ns);
      const Key key = KeyOf(grouping, context, index, *track.track, each.signature, &to->families);
      const auto [group, is_new] = to->groups.try_emplace(key);
      if (is_new) group->second.number = to->groups.size() - 1;
      each.group = group->second.number;
      AddSignature(each, &group->second);
      if (const auto work = reported.find(each.signature); work != reported.end())
        group->second.reported.Join(work->second);
    }
  }
  to->processes.push_back(std::move(summed));
  AddShapes(context, index, grouping, only, to);
}

// Serves streams that cannot be walked in the order of time, or with kernels that do not count.
int64_t BusyTimeOfAny(const DeviceKernels& device) {
  std::vector<Interval> spans;
  for (const DeviceKernels::Stream& stream : device.streams) {
    const KernelTable& kernels = *stream.table;
    for (size_t i = 0; i < kernels.rows(); ++i) {
      if (stream.only != nullptr && stream.only->count(kernels.correlation[i]) == 0) continue;
      spans.push_back({kernels.end_ns[i] - kernels.duration_ns[i], kernels.end_ns[i]});
    }
  }
  return TotalLength(UnionOf(std::move(spans)));
}

int64_t BusyTimeOf(const DeviceKernels& device) {
  std::vector<const KernelTable*> tables;
  for (const DeviceKernels::Stream& stream : device.streams) {
    if (!stream.is_in_order || stream.only != nullptr) return BusyTimeOfAny(device);
    tables.push_back(stream.table);
  }
  return BusyTime(tables, kAllCores);
}

// By what is known without the operations that launched the kernels.
void FillExecution(const Sums& sums, results::Kernel* row) {
  if (sums.reported.hlo_count == sums.count) {
    row->set_execution(results::EXECUTION_COMPILED);
    row->set_execution_evidence(results::EXECUTION_EVIDENCE_HLO);
  } else if (IsCompiledKernel(row->name())) {
    row->set_execution(results::EXECUTION_COMPILED);
    row->set_execution_evidence(results::EXECUTION_EVIDENCE_NAME);
  } else if (sums.in_graphs == sums.count) {
    row->set_execution(results::EXECUTION_GRAPH);
    row->set_execution_evidence(results::EXECUTION_EVIDENCE_CUDA_GRAPH);
  }
}

// Returns how many kernels the signatures are of.
uint64_t CountNames(const Process& process, const SignatureTimes& signatures) {
  std::unordered_set<uint32_t> names;
  for (const auto& [id, ns] : signatures) {
    const proto::Signature* known = SignatureOf(process, id);
    names.insert(known == nullptr ? 0 : known->name());
  }
  return names.size();
}

void FillRow(Grouping grouping, const Key& key, const Process& process, const Sums& sums,
             int64_t all_ns, FamilyTally* families, results::Kernel* row) {
  SetProcess(process, row);
  row->set_device(key.device);
  const proto::Signature* signature = SignatureOf(process, sums.signatures.begin()->first);
  const proto::Device* device = process.FindDevice(key.device);
  if (grouping == Grouping::kStream) {
    row->set_context(key.first);
    row->set_stream(key.second);
    row->set_name(StreamName(process, key.device, key.first, key.second));
  } else if (grouping == Grouping::kFamily) {
    const auto family = static_cast<results::KernelFamily>(key.first);
    row->set_family(family);
    row->set_name(std::string(FamilyWord(family)));
    row->set_name_count(CountNames(process, sums.signatures));
  } else {
    FillName(process, signature == nullptr ? 0 : signature->name(), row);
    row->set_family(families->Of(key.process, sums.signatures.begin()->first));
    if (sums.signatures.size() == 1 && signature != nullptr) FillSignature(*signature, row);
    FillTensorCores(process, device, sums.signatures, row);
    FillExecution(sums, row);
  }
  if (device != nullptr) FillOccupancy(process, *device, sums.signatures, row);
  FillReportedWork(sums.reported, row);
  FillShapedWork(sums.shaped, row);
  row->set_count(sums.count);
  row->set_total_ns(sums.total_ns);
  row->set_total_ratio(Ratio(sums.total_ns, all_ns));
  row->set_mean_ns(sums.total_ns / static_cast<int64_t>(std::max<uint64_t>(sums.count, 1)));
  row->set_min_ns(sums.min_ns);
  row->set_max_ns(sums.max_ns);
  row->set_signature_count(sums.signatures.size());
  if (!sums.median_ns) return;
  row->set_median_ns(*sums.median_ns);
  row->set_graph_count(sums.in_graphs);
  row->set_launched_count(sums.launched);
}

// Gives rows by operation what depends on their kernel alone, and their share.
void FillOwned(const PassContext& context, Gathered* gathered, int64_t all_ns,
               results::Kernels* out) {
  using Id = std::tuple<std::string, int32_t, uint32_t, std::string>;  // host, pid, device, kernel
  std::map<Id, results::Kernel> by_name;
  for (const auto& [key, sums] : gathered->groups) {
    results::Kernel row;
    FillRow(Grouping::kName, key, context.process(key.process), sums, all_ns, &gathered->families,
            &row);
    by_name[{row.host(), row.pid(), row.device(), row.name()}] = row;
  }
  for (results::Kernel& row : *out->mutable_kernels()) {
    row.set_total_ratio(Ratio(row.total_ns(), all_ns));
    const auto found = by_name.find({row.host(), row.pid(), row.device(), row.name()});
    if (found == by_name.end()) continue;
    const results::Kernel& kernel = found->second;
    row.set_family(kernel.family());
    row.set_tensor_cores(kernel.tensor_cores());
    row.set_tensor_cores_evidence_kind(kernel.tensor_cores_evidence_kind());
    row.set_tensor_cores_evidence(kernel.tensor_cores_evidence());
    row.set_tensor_cores_input(kernel.tensor_cores_input());
    // Such a name tells less than the inputs, which are those of this operation.
    const bool is_weaker =
        kernel.precision_evidence() == results::EVIDENCE_NAME && NamesBothHalfTypes(row.name());
    if (kernel.precision() == results::PRECISION_UNKNOWN || is_weaker) continue;
    row.set_precision(kernel.precision());
    row.set_precision_evidence(kernel.precision_evidence());
  }
}

// The largest first.
void FillRows(const PassContext& context, Grouping grouping, Gathered* gathered,
              results::Kernels* out) {
  const std::vector<int64_t> medians =
      FindMedians(gathered->processes, gathered->groups.size(), kAllCores);
  int64_t total = 0;
  for (auto& [key, sums] : gathered->groups) {
    if (!context.trace().has_sums) sums.median_ns = medians[sums.number];
    total += sums.total_ns;
    out->set_count(out->count() + sums.count);
  }
  for (const auto& [key, sums] : gathered->groups) {
    if (grouping == Grouping::kOp) break;
    FillRow(grouping, key, context.process(key.process), sums, total, &gathered->families,
            out->add_kernels());
  }
  if (grouping == Grouping::kOp) FillOwned(context, gathered, total, out);
  std::stable_sort(out->mutable_kernels()->pointer_begin(), out->mutable_kernels()->pointer_end(),
                   [](const results::Kernel* x, const results::Kernel* y) {
                     // Equal sums have the same order in each recording of the same work.
                     if (x->total_ns() != y->total_ns()) return x->total_ns() > y->total_ns();
                     return x->name() < y->name();
                   });
  gathered->families.Fill(out->mutable_families());
  if (grouping == Grouping::kStream || grouping == Grouping::kFamily) {
    for (results::Kernel& row : *out->mutable_kernels()) row.set_short_name(row.name());
  } else {
    SetShortKernelNames(out->mutable_kernels());
  }
  for (const results::Kernel& row : out->kernels()) {
    if (row.tensor_cores() == results::TENSOR_CORE_USE_YES)
      out->set_tensor_cores_ns(out->tensor_cores_ns() + row.total_ns());
    if (row.tensor_cores() == results::TENSOR_CORE_USE_UNKNOWN)
      out->set_tensor_cores_unknown_ns(out->tensor_cores_unknown_ns() + row.total_ns());
  }
  for (results::Kernel& row : *out->mutable_kernels()) {
    const auto process =
        std::find_if(context.selected().begin(), context.selected().end(), [&](size_t index) {
          return context.process(index).pid == row.pid() &&
                 context.process(index).host == row.host();
        });
    if (process == context.selected().end()) continue;
    const std::string_view source = FillPeaks(context.process(*process), &row);
    if (!source.empty()) out->set_peak_source(std::string(source));
  }
  out->set_total_ns(total);
  if (context.trace().has_sums) return;
  out->set_busy_ns(0);
  for (const DeviceKernels& device : gathered->by_device)
    out->set_busy_ns(out->busy_ns() + BusyTimeOf(device));
}

// Returns the rows of all kernels. Launch sites are not resolved.
const results::Kernels& KeptKernels(PassContext& context, const std::string& by,
                                    Grouping grouping) {
  return KeptRows<results::Kernels>(context.kept_of_all(), by, [&](results::Kernels* out) {
    Gathered gathered(context);
    for (const size_t index : context.selected()) {
      AddProcess(context, index, grouping, nullptr, &gathered);
      if (grouping == Grouping::kOp) AddKernelOwners(context, index, nullptr, out);
      out->set_whole_graph_count(out->whole_graph_count() +
                                 WholeGraphLaunches(context.process(index), nullptr));
    }
    FillRows(context, grouping, &gathered, out);
  });
}

}  // namespace

const results::Kernels& KernelsByName(PassContext& context) {
  return KeptKernels(context, "name", Grouping::kName);
}

Error RunKernels(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto kernels = std::make_unique<results::Kernels>();
  const std::string by = context.options().by.empty() ? "name" : context.options().by;
  const Grouping grouping = by == "signature" ? Grouping::kSignature
                            : by == "stream"  ? Grouping::kStream
                            : by == "op"      ? Grouping::kOp
                            : by == "family"  ? Grouping::kFamily
                                              : Grouping::kName;
  const bool is_kept = context.options().under_range.empty();
  if (is_kept) *kernels = KeptKernels(context, by, grouping);
  Gathered gathered(context);
  char room[proto::kMostNameBytes];
  uint32_t bytes = 0;
  const char* kept = proto::KeptName(context.options().under_range.c_str(), &bytes, room);
  const std::string under(kept, bytes);  // as it was recorded
  bool has_range = false;
  std::vector<std::pair<size_t, uint64_t>> wholes;  // process, launches of graphs
  std::list<std::unordered_set<uint32_t>> insides;  // calls in the range, by process
  for (const size_t index : context.selected()) {
    std::unordered_set<uint32_t>& inside = insides.emplace_back();
    if (!under.empty()) has_range |= CallsInRanges(context.process(index), under, &inside);
    const auto* only = under.empty() ? nullptr : &inside;
    if (!is_kept) AddProcess(context, index, grouping, only, &gathered);
    if (!is_kept && grouping == Grouping::kOp) AddKernelOwners(context, index, only, kernels.get());
    wholes.emplace_back(index, WholeGraphLaunches(context.process(index), only));
  }
  if (!under.empty() && !has_range) {
    return {ErrorKind::kUsage,
            "No range '" + under +
                "' began and ended on one thread; `gpuprof stats ranges` lists the ranges."};
  }
  if (!under.empty()) kernels->set_under_range(under);
  if (!is_kept) FillRows(context, grouping, &gathered, kernels.get());
  if (grouping == Grouping::kOp) NameLaunchSites(context, kernels.get());
  kernels->set_whole_graph_count(0);
  kernels->set_by(by);
  FillCompiled(context, kernels.get());
  context.FillMeta("kernels", kernels->mutable_meta());
  for (const auto& [index, launches] : wholes) {
    kernels->set_whole_graph_count(kernels->whole_graph_count() + launches);
    AddWholeGraphNote(context.process(index), launches, "kernels", kernels->mutable_meta());
    AddOpenLaunchNotes(context, index, kernels->mutable_meta());
  }
  context.FillCountConfidence(kernels->meta(), kernels->mutable_meta()->mutable_confidence());
  AddSampledNote(context, "busy time", kernels->mutable_meta());
  AddUntoldNote(gathered.devices, "busy time is summed as if they had not shared them",
                kernels->mutable_meta());
  *result = std::move(kernels);
  return {};
}

}  // namespace gpuprof::analysis
