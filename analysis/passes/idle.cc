// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `idle`: the gaps of each device (analysis/derived/device_timeline.h), and what the
// launching threads did in them. Gaps before the first work and behind the last are not told.

#include "analysis/passes/idle.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/derived/leaf_spans.h"
#include "analysis/derived/origin.h"
#include "analysis/model/names.h"
#include "analysis/passes/device_steps.h"
#include "analysis/passes/given_names.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/passes/sampled_activity.h"
#include "analysis/steps/statistics.h"
#include "analysis/symbols/module_symbols.h"
#include "analysis/symbols/short_names.h"
#include "proto/results/idle.pb.h"

namespace gpuprof::analysis {
namespace {

constexpr int kKeptGaps = 1000;  // the others are only in the sums

struct Share {
  int64_t ns = 0;
  uint64_t gaps = 0;
};
using Shares = std::map<std::string, Share>;

// The innermost operation and function of each thread, found on first use.
class InnermostRows {
 public:
  explicit InnermostRows(const Process& process) : process_(&process) {}

  const std::vector<LeafSpan>& Ops(uint32_t track) { return Of(track, true, &ops_); }
  const std::vector<LeafSpan>& Functions(uint32_t track) { return Of(track, false, &functions_); }

 private:
  using ByTrack = std::unordered_map<uint32_t, std::vector<LeafSpan>>;

  const std::vector<LeafSpan>& Of(uint32_t track, bool is_of_ops, ByTrack* known) {
    const auto [at, is_new] = known->try_emplace(track);
    const Track& thread = process_->tracks[track];
    if (is_new && is_of_ops) at->second = LeafSpans(thread.op.end_ns, thread.op.duration_ns);
    if (is_new && !is_of_ops)
      at->second = LeafSpans(thread.python.end_ns, thread.python.duration_ns);
    return at->second;
  }

  const Process* process_;
  ByTrack ops_, functions_;
};

// What a thread was in for most of a time. Adds each name's time to `all`.
class NamesIn {
 public:
  explicit NamesIn(Shares* all) : all_(all) {}

  void Add(const std::string& name, int64_t ns) { here_[name] += ns; }
  // Returns the name with most time. None: there was no name.
  std::optional<std::string> Finish() {
    std::optional<std::string> most;
    int64_t most_ns = 0;
    for (const auto& [name, ns] : here_) {
      Share& share = (*all_)[name];
      share.ns += ns;
      ++share.gaps;
      if (ns <= most_ns) continue;
      most = name;
      most_ns = ns;
    }
    return most;
  }

 private:
  Shares* all_;
  std::map<std::string, int64_t> here_;
};

std::string WorkName(const Process& process, const WorkRef& work) {
  const Track& track = process.tracks[work.track];
  switch (work.kind) {
    case DeviceWorkKind::kKernel: {
      const auto found = process.signatures.find(track.kernel.signature[work.row]);
      if (found == process.signatures.end()) return "kernel";
      return Demangle(process.String(found->second.name()).c_str());
    }
    case DeviceWorkKind::kCopy:
      return "copy";
    case DeviceWorkKind::kSet:
      return "memset";
    case DeviceWorkKind::kGraph:
      break;
  }
  return "graph";
}

// The gaps of the devices of one process.
class ProcessIdle {
 public:
  ProcessIdle(PassContext& context, size_t index, results::Idle* out)
      : context_(&context),
        process_(&context.process(index)),
        index_(index),
        steps_(context.steps(index).steps),
        origin_(&context.ops(index), context.calls(index), steps_),
        rows_(*process_),
        out_(out) {}

  void Add(const std::string& name, uint32_t device, const DeviceTimeline& timeline, Shares* ops,
           Shares* functions) {
    results::IdleDevice* sums = out_->add_devices();
    SetProcess(*process_, sums);
    sums->set_device(device);
    sums->set_name(name);
    sums->set_window_ns(timeline.Span().length());
    sums->set_busy_ns(TotalLength(timeline.busy()));
    sums->set_busy_ratio(Ratio(sums->busy_ns(), sums->window_ns()));
    sums->set_idle_ns(sums->window_ns() - sums->busy_ns());
    DeviceTimes causes{};
    const std::vector<DeviceGap>& gaps = timeline.gaps();
    for (size_t i = 1; i + 1 < gaps.size(); ++i) {
      const DeviceTimes times = timeline.SplitGap(gaps[i], gaps[i].span);
      for (size_t k = 0; k < times.size(); ++k) causes[k] += times[k];
      sums->set_gap_count(sums->gap_count() + 1);
      AddGap(device, gaps[i], times, ops, functions);
    }
    AddTimes(causes, sums->idle_ns(), sums->mutable_causes());
    AddHtaClasses(device, sums);
  }

 private:
  void AddGap(uint32_t device, const DeviceGap& gap, const DeviceTimes& times, Shares* ops,
              Shares* functions) {
    results::IdleGap row;
    SetProcess(*process_, &row);
    row.set_device(device);
    row.set_start_ns(gap.span.start);
    row.set_duration_ns(gap.span.length());
    row.set_late_ns(gap.HostUntil() - gap.span.start);
    const auto most = std::max_element(times.begin(), times.end());
    row.set_cause(static_cast<results::TimeCategory>(most - times.begin()));
    AddTimes(times, gap.span.length(), row.mutable_causes());
    if (gap.next) row.set_name(WorkName(*process_, *gap.next));
    if (gap.launch) FillHost(gap, &row, ops, functions);
    *out_->add_gaps() = std::move(row);
  }

  void FillHost(const DeviceGap& gap, results::IdleGap* row, Shares* ops, Shares* functions) {
    const Track& thread = process_->tracks[gap.launch->track];
    row->set_tid(thread.tid);
    if (!thread.api.has_ids_alone())
      row->set_function(ApiFunctionName(*process_, thread.api.function[gap.launch->row]));
    if (const auto op = origin_.Innermost(gap.launch->track, gap.launch->start_ns))
      row->set_op(process_->String(process_->tracks[op->track].op.name[op->row]));
    if (const auto step = origin_.StepAt(gap.launch->start_ns))
      row->set_step(steps_[*step].number());
    const Interval late = {gap.span.start, gap.HostUntil()};
    if (late.length() <= 0) return;
    NamesIn in_ops(ops), in_functions(functions);
    ForEachLeafIn(rows_.Ops(gap.launch->track), late, [&](uint32_t i, int64_t ns) {
      // The range of a step is not an operation.
      if (context_->ops(index_).name_kind(thread.op.name[i]) != NameKind::kAnnotation)
        in_ops.Add(process_->String(thread.op.name[i]), ns);
    });
    ForEachLeafIn(rows_.Functions(gap.launch->track), late, [&](uint32_t i, int64_t ns) {
      in_functions.Add(process_->String(thread.python.name[i]), ns);
    });
    if (const auto name = in_ops.Finish()) row->set_during_op(*name);
    if (const auto name = in_functions.Finish()) row->set_during_function(*name);
  }

  // The rules of HolisticTraceAnalysis 0.5: the gaps between the work that follows each other on
  // one stream.
  void AddHtaClasses(uint32_t device, results::IdleDevice* sums) {
    // Its documentation says 30 ns, but it compares microseconds.
    constexpr int64_t kKernelDelayNs = 30'000;
    const CallIndex& calls = context_->calls(index_);
    for (const Track& track : process_->tracks) {
      if (!track.is_stream || track.device != device) continue;
      std::vector<DeviceWork> work;
      ForEachDeviceWork(track, [&](const DeviceWork& each) { work.push_back(each); });
      std::stable_sort(work.begin(), work.end(), [](const DeviceWork& x, const DeviceWork& y) {
        return x.span.start < y.span.start;
      });
      for (size_t i = 1; i < work.size(); ++i) {
        const int64_t ended = work[i - 1].span.end;
        const int64_t ns = work[i].span.start - ended;
        if (ns <= 0) continue;
        const std::optional<Call> call = calls.Find(work[i].correlation);
        if (call && call->start_ns > ended) {
          sums->set_hta_host_wait_ns(sums->hta_host_wait_ns() + ns);
        } else if (ns < kKernelDelayNs) {
          sums->set_hta_kernel_wait_ns(sums->hta_kernel_wait_ns() + ns);
        } else {
          sums->set_hta_other_ns(sums->hta_other_ns() + ns);
        }
      }
    }
  }

  PassContext* context_;
  const Process* process_;
  size_t index_;
  const std::vector<results::Step>& steps_;
  Origin origin_;
  InnermostRows rows_;
  results::Idle* out_;
};

void AddShares(const Shares& shares, google::protobuf::RepeatedPtrField<results::HostShare>* out) {
  for (const auto& [name, share] : shares) {
    results::HostShare* row = out->Add();
    row->set_name(name);
    row->set_total_ns(share.ns);
    row->set_gap_count(share.gaps);
  }
  SortFalling(out, [](const auto& row) { return row.total_ns(); });
}

}  // namespace

void ComputeIdle(PassContext& context, size_t index, results::Idle* out) {
  std::map<uint32_t, std::string> names = DeviceNames(context.process(index));
  const ProcessDevices devices(context, index);
  if (devices.all().empty()) return;
  Shares ops, functions;
  ProcessIdle idle(context, index, out);
  for (const auto& [device, timeline] : devices.all())
    idle.Add(names[device], device, timeline, &ops, &functions);
  AddShares(ops, out->mutable_operations());
  AddShares(functions, out->mutable_functions());
}

Error RunIdle(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Idle>();
  for (const size_t index : context.selected()) ComputeIdle(context, index, out.get());
  SortFalling(out->mutable_gaps(), [](const auto& row) { return row.duration_ns(); });
  int64_t late_ns = 0;
  for (const results::IdleGap& gap : out->gaps()) late_ns += gap.late_ns();
  if (out->gaps_size() > kKeptGaps)
    out->mutable_gaps()->DeleteSubrange(kKeptGaps, out->gaps_size() - kKeptGaps);
  SetShortKernelNames(out->mutable_gaps());
  for (auto* shares : {out->mutable_operations(), out->mutable_functions()}) {
    SortFalling(shares, [](const auto& row) { return row.total_ns(); });
    for (results::HostShare& share : *shares)
      share.set_total_ratio(Ratio(share.total_ns(), late_ns));
  }
  context.FillCountMeta("idle", out->mutable_meta());
  AddSampledNote(context, "idle time", out->mutable_meta());
  AddTooMuchWorkNote(context, out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
