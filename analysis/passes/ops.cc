// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `ops`: framework operations by name and scope, total and self time, on the host and on
// the devices. See passes.h. The sums are made in op_groups.cc and op_modules.cc.

#include <algorithm>
#include <optional>
#include <tuple>
#include <utility>

#include "analysis/base/parallel.h"
#include "analysis/model/names.h"
#include "analysis/model/windowed_inputs.h"
#include "analysis/passes/device/device_window.h"
#include "analysis/passes/device/used_devices.h"
#include "analysis/passes/kernels/op_groups.h"
#include "analysis/passes/kernels/op_modules.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/recorder/unpaired_spans.h"
#include "analysis/steps/statistics.h"
#include "proto/operations.h"
#include "proto/results/ops.pb.h"

namespace gpuprof::analysis {
namespace {

// Rows of so few groups take less time than threads do.
constexpr size_t kFewGroups = 100;

std::string ScopeName(uint8_t scope) {
  if (scope == kDeviceScope) return "device";
  const std::string_view known = OpScopeName(scope);
  return known.empty() ? "scope_" + std::to_string(scope) : std::string(known);
}

std::string ScopeName(proto::OpScope scope) { return ScopeName(static_cast<uint8_t>(scope)); }

void FillPlaces(const OpGroups::Group& group, const OpGroups& all, results::Op* row) {
  row->mutable_places()->Reserve(static_cast<int>(group.places.size()));
  for (const auto& [id, place] : group.places) {
    results::OpPlace* out = row->add_places();
    out->set_pid(id.pid);
    out->set_host(all.HostOf(id));
    out->set_count(place.count);
    out->set_total_ns(place.total_ns);
    out->set_self_ns(place.self_ns);
  }
}

void FillRow(OpGroups::Group& group, OpGrouping grouping, const OpGroups& all, int64_t self_ns,
             results::Op* row) {
  row->set_name(group.name);
  row->set_scope(ScopeName(group.scope));
  row->set_count(group.all.count);
  row->set_total_ns(group.all.total_ns);
  row->set_self_ns(group.all.self_ns);
  row->set_median_ns(Samples(std::move(group.durations)).median());
  row->set_mean_ns(group.sum_ns / static_cast<int64_t>(group.all.count));
  row->set_min_ns(group.min_ns);
  row->set_max_ns(group.max_ns);
  row->set_self_ratio(Ratio(group.all.self_ns, self_ns));
  if (all.step_count() > 0) {
    row->set_step_self_ns(group.step_self_ns);
    row->set_step_ratio(Ratio(group.step_self_ns, all.step_ns()));
    row->set_count_per_step(Ratio(group.step_count, all.step_count()));
  }
  if (all.has_device_work()) {
    row->set_device_ns(group.device_ns);
    row->set_device_self_ns(group.device_self_ns);
    row->set_device_count(group.device_count);
    row->set_device_self_ratio(Ratio(group.device_self_ns, all.device_ns()));
  }
  FillFamily(group.families, row);
  row->set_execution(group.execution.found().execution);
  row->set_execution_evidence(group.execution.found().evidence);
  row->set_incomplete_count(group.incomplete);
  row->set_thread_count(static_cast<uint32_t>(group.threads.size()));
  row->set_process_count(static_cast<uint32_t>(group.places.size()));
  FillPlaces(group, all, row);
  if (!group.shapes.empty()) row->set_shapes(group.shapes);
  if (!group.types.empty()) row->set_types(group.types);
  if (grouping == OpGrouping::kProcess || grouping == OpGrouping::kThread) {
    row->set_pid(group.process.pid);
    row->set_host(all.HostOf(group.process));
  }
  if (grouping == OpGrouping::kThread) row->set_tid(group.tid);
}

// How long each device had work, and how long it had none between its first work and its last.
void FillDevices(PassContext& context, results::Ops* out) {
  const UsedDevices devices(context);
  int64_t windows_ns = 0;
  for (const UsedDevice& device : devices.all()) {
    const auto [window_ns, busy_ns] = WindowOf(context, device);
    windows_ns += window_ns;
    results::OpDevice* row = out->add_devices();
    row->set_device(device.users.front().number);
    SetProcess(context.process(device.users.front().process), row);
    row->set_window_ns(window_ns);
    row->set_busy_ns(busy_ns);
    row->set_idle_ns(window_ns - busy_ns);
    row->set_idle_ratio(Ratio(window_ns - busy_ns, window_ns));
  }
  if (devices.all().empty()) return;
  out->set_device_window_ns(windows_ns);
  for (results::Op& row : *out->mutable_ops())
    row.set_device_self_window_ratio(Ratio(row.device_self_ns(), windows_ns));
}

OpGrouping GroupingOf(const std::string& by) {
  if (by == "process") return OpGrouping::kProcess;
  if (by == "thread") return OpGrouping::kThread;
  if (by == "shape") return OpGrouping::kShape;
  if (by == "type") return OpGrouping::kType;
  if (by == "category") return OpGrouping::kCategory;
  return OpGrouping::kName;
}

// The rows first that take most time: of a thread or of a device.
void SortByLargestSelfTime(results::Ops* out) {
  const auto largest = [](const results::Op* op) {
    return std::max(op->self_ns(), op->device_self_ns());
  };
  std::stable_sort(
      out->mutable_ops()->pointer_begin(), out->mutable_ops()->pointer_end(),
      [&](const results::Op* x, const results::Op* y) { return largest(x) > largest(y); });
}

// Sums up parts of the processes, each on one thread, and adds the sums in order.
void AddProcesses(PassContext& context, OpGrouping grouping, OpGroups* all) {
  context.Leading();  // finds all steps
  const std::vector<size_t>& selected = context.selected();
  const size_t most = 4 * static_cast<size_t>(ThreadCount(0));
  std::vector<std::optional<OpGroups>> parts(std::min(most, selected.size()));
  ParallelFor(parts.size(), 0, [&](size_t i, int) {
    OpGroups& part = parts[i].emplace(context, grouping);
    const size_t end = (i + 1) * selected.size() / parts.size();
    for (size_t k = i * selected.size() / parts.size(); k < end; ++k) part.AddProcess(selected[k]);
  });
  for (std::optional<OpGroups>& part : parts) all->Add(*std::exchange(part, std::nullopt));
}

results::Ops MakeOps(PassContext& context, OpGrouping grouping) {
  results::Ops made;
  results::Ops* const out = &made;
  OpGroups all(context, grouping);
  AddProcesses(context, grouping, &all);
  std::vector<OpGroups::Group> groups = all.Take();
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return std::tie(b.all.self_ns, a.name, a.scope, a.process, a.tid, a.shapes, a.types) <
           std::tie(a.all.self_ns, b.name, b.scope, b.process, b.tid, b.shapes, b.types);
  });
  int64_t self_ns = 0;
  for (const OpGroups::Group& group : groups) {
    out->set_count(out->count() + (group.scope == kDeviceScope ? 0 : group.all.count));
    self_ns += group.all.self_ns;
  }
  out->set_self_ns(self_ns);
  if (all.step_count() > 0) {
    out->set_step_ns(all.step_ns());
    out->set_step_count(all.step_count());
  }
  if (all.has_device_work()) {
    out->set_device_ns(all.device_ns());
    out->set_device_outside_ns(all.device_outside_ns());
  }
  for (size_t i = 0; i < groups.size(); ++i) out->add_ops();
  ParallelFor(groups.size(), groups.size() < kFewGroups ? 1 : 0, [&](size_t i, int) {
    OpGroups::Group group = std::move(groups[i]);  // its places go before the next row's come
    FillRow(group, grouping, all, self_ns, out->mutable_ops(static_cast<int>(i)));
  });
  return made;
}

}  // namespace

const results::Ops& OpsByName(PassContext& context) {
  return context.kept_of_all().Get<results::Ops>(
      [&] { return MakeOps(context, OpGrouping::kName); });
}

void ComputeOps(PassContext& context, OpGrouping grouping, bool medians, results::Ops* out) {
  if (grouping == OpGrouping::kName) {
    *out = OpsByName(context);
  } else {
    *out = MakeOps(context, grouping);
  }
  if (medians) return;
  for (results::Op& row : *out->mutable_ops()) row.clear_median_ns();
}

// Says how many calls have shapes: gpuprof itself reads them in windows.
void AddShapeNote(const PassContext& context, results::Ops* out) {
  const bool is_windowed =
      std::any_of(context.selected().begin(), context.selected().end(),
                  [&](size_t index) { return WindowedInputsName(context.process(index)) != 0; });
  if (!is_windowed) return;
  uint64_t calls = 0, read = 0;
  for (const results::Op& row : out->ops()) {
    const bool is_of_pytorch = row.scope() == ScopeName(proto::OpScope::kFunction) ||
                               row.scope() == ScopeName(proto::OpScope::kBackward);
    if (!is_of_pytorch) continue;
    calls += row.count();
    if (!row.shapes().empty()) read += row.count();
  }
  if (read == 0 || read == calls) return;
  out->mutable_meta()->add_notes("shapes of " + std::to_string(read) + " of " +
                                 std::to_string(calls) +
                                 " calls were read, in short windows; the other calls came outside "
                                 "of them, or have no inputs");
}

Error RunOps(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  const std::string by = context.By("name");
  auto out = std::make_unique<results::Ops>();
  if (by == "module" || by == "instance") {
    ComputeOpModules(context, by == "instance", out.get());
  } else {
    ComputeOps(context, GroupingOf(by), true, out.get());
  }
  out->set_by(by);
  const bool has_much_work = HasMuchWork(context);
  if (!has_much_work) FillDevices(context, out.get());
  SortByLargestSelfTime(out.get());
  context.FillCountMeta("ops", out->mutable_meta());
  if (by == "shape") AddShapeNote(context, out.get());
  AddUnpairedNotes(context, SpanSubject::kOperations, out->mutable_meta());
  if (has_much_work) {
    out->mutable_meta()->add_notes(
        "GPU: idle time was left out, as there are more than 2 million pieces of work: 'gpuprof "
        "stats streams' has it, and needs more memory");
  }
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
