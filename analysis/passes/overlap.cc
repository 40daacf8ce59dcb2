// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `overlap`: unions of a device's computing, collectives and copies, and what two of them
// cover together.

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/device_work.h"
#include "analysis/derived/kernel_class.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/results/overlap.pb.h"

namespace gpuprof::analysis {
namespace {

struct DeviceSpans {
  std::vector<Interval> compute, collective, copy, graph;
  std::vector<Interval> kernels_by_stream;  // disjoint within a stream
};

// Finds the collectives that XLA lets run behind other work: from the begin of an instruction
// "all-gather-start" to the end of its "all-gather-done".
class StartedCollectives {
 public:
  explicit StartedCollectives(const Process& process) : process_(process) {}

  // Returns what a collective's row stands for. Rows come in the order of a stream.
  Interval SpanOf(uint32_t signature, const Interval& span) {
    const auto found = process_.signatures.find(signature);
    if (found == process_.signatures.end()) return span;
    const std::string name = process_.String(found->second.name());
    constexpr std::string_view kStart = "-start", kDone = "-done";
    const size_t start = name.find(kStart), done = name.find(kDone);
    if (start != std::string::npos) {
      std::deque<Started>& open = started_[name.substr(0, start)];
      if (open.size() == kMostOpen) open.pop_front();
      open.push_back({name.substr(start + kStart.size()), span.start});
      return span;
    }
    const auto open =
        done == std::string::npos ? started_.end() : started_.find(name.substr(0, done));
    if (open == started_.end() || open->second.empty()) return span;
    // Mostly both have the same number. Otherwise the first that began is the first that ends.
    const std::string number = name.substr(done + kDone.size());
    auto same = std::find_if(open->second.begin(), open->second.end(),
                             [&](const Started& each) { return each.number == number; });
    if (same == open->second.end()) same = open->second.begin();
    const Interval whole = {same->begin_ns, span.end};
    open->second.erase(same);
    return whole;
  }
  void EndOfTrack() { started_.clear(); }

 private:
  // A stream has few in flight. Those of a damaged trace may never end.
  static constexpr size_t kMostOpen = 256;
  struct Started {
    std::string number;
    int64_t begin_ns;
  };
  const Process& process_;
  std::map<std::string, std::deque<Started>> started_;  // by what began
};

std::map<uint32_t, DeviceSpans> SpansOf(const Process& process, KernelClasses* classes) {
  StartedCollectives started(process);
  std::map<uint32_t, DeviceSpans> devices;
  for (const Track& track : process.tracks) {
    if (!track.is_stream) continue;
    std::vector<Interval> kernels;
    ForEachDeviceWork(track, [&](const DeviceWork& work) {
      DeviceSpans& spans = devices[track.device];
      switch (work.kind) {
        case DeviceWorkKind::kKernel: {
          const results::TimeCategory category = classes->Of(track, work);
          const bool is_collective = category == results::TIME_CATEGORY_COLLECTIVE;
          // XLA's own copies are instructions among others.
          const bool is_copy = category == results::TIME_CATEGORY_COPY_DTOD;
          (is_collective ? spans.collective
           : is_copy     ? spans.copy
                         : spans.compute)
              .push_back(is_collective ? started.SpanOf(track.kernel.signature[work.row], work.span)
                                       : work.span);
          kernels.push_back(work.span);
          break;
        }
        case DeviceWorkKind::kCopy:
        case DeviceWorkKind::kSet:
          spans.copy.push_back(work.span);
          break;
        case DeviceWorkKind::kGraph:
          spans.graph.push_back(work.span);
          break;
      }
    });
    started.EndOfTrack();
    if (kernels.empty()) continue;
    const std::vector<Interval> of_stream = UnionOf(std::move(kernels));
    std::vector<Interval>& all = devices[track.device].kernels_by_stream;
    all.insert(all.end(), of_stream.begin(), of_stream.end());
  }
  return devices;
}

// Returns false if all work of the device took no time.
bool FillDevice(DeviceSpans spans, results::DeviceOverlap* out) {
  const std::vector<Interval> compute = UnionOf(std::move(spans.compute));
  const std::vector<Interval> collective = UnionOf(std::move(spans.collective));
  const std::vector<Interval> copy = UnionOf(std::move(spans.copy));
  const std::vector<Interval> graph = UnionOf(std::move(spans.graph));
  const std::vector<Interval> kernels = UnionOfAll({compute, collective, graph});
  const std::vector<Interval> busy = UnionOfAll({kernels, copy});
  if (busy.empty()) return false;
  out->set_window_ns(busy.back().end - busy.front().start);
  out->set_busy_ns(TotalLength(busy));
  out->set_idle_ns(out->window_ns() - out->busy_ns());
  out->set_compute_ns(TotalLength(compute));
  out->set_collective_ns(TotalLength(collective));
  out->set_copy_ns(TotalLength(copy));
  out->set_graph_ns(TotalLength(graph));
  out->set_compute_and_collective_ns(TotalLength(Intersection(compute, collective)));
  out->set_compute_and_copy_ns(TotalLength(Intersection(compute, copy)));
  out->set_collective_and_copy_ns(TotalLength(Intersection(collective, copy)));
  const int64_t hidden_collective =
      TotalLength(Intersection(collective, UnionOfAll({compute, graph})));
  out->set_exposed_collective_ns(out->collective_ns() - hidden_collective);
  const int64_t hidden_copy = TotalLength(Intersection(copy, kernels));
  out->set_exposed_copy_ns(out->copy_ns() - hidden_copy);
  if (!collective.empty())
    out->set_hidden_collective_ratio(Ratio(hidden_collective, out->collective_ns()));
  if (!copy.empty()) out->set_hidden_copy_ratio(Ratio(hidden_copy, out->copy_ns()));
  out->set_several_streams_ns(TotalLength(CoveredTwice(spans.kernels_by_stream)));
  return true;
}

void AddProcess(PassContext& context, size_t index, results::Overlap* out) {
  const Process& process = context.process(index);
  std::map<uint32_t, std::string> names = DeviceNames(process);
  for (auto& [device, spans] : SpansOf(process, &context.classes(index))) {
    results::DeviceOverlap row;
    SetProcess(process, &row);
    row.set_device(device);
    row.set_name(names[device]);
    if (FillDevice(std::move(spans), &row)) *out->add_devices() = std::move(row);
  }
}

}  // namespace

Error RunOverlap(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Overlap>();
  for (const size_t index : context.selected()) {
    out->MergeFrom(KeptRows<results::Overlap>(
        context.kept(index), "overlap",
        [&](results::Overlap* rows) { AddProcess(context, index, rows); }));
  }
  context.FillCountMeta("overlap", out->mutable_meta());
  AddSampledNote(context, "the time of devices", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
