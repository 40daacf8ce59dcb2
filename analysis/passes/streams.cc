// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `streams`: what each stream and device did when, as unions, and why a device was idle. A
// gap ends where some stream's work begins; that work's launch tells the cause: it had not begun
// when the gap began (host), was under way (launch), or was over (dependency). And which stream
// waited for which.

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/passes/given_names.h"
#include "analysis/passes/launches.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/passes/sampled_activity.h"
#include "analysis/passes/stream_waits.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

struct Work {
  int64_t start, end;
  uint32_t correlation;
};

struct Stream {
  const Track* track;
  std::vector<Interval> kernels, copies, graphs;
};

struct Device {
  std::vector<Stream> streams;
  std::vector<Work> work;
};

template <typename Table>
void AddTable(const Table& table, std::vector<Work>* work, std::vector<Interval>* spans) {
  for (size_t i = 0; i < table.rows(); ++i) {
    const Interval span = {table.end_ns[i] - table.duration_ns[i], table.end_ns[i]};
    spans->push_back(span);
    work->push_back({span.start, span.end, table.correlation[i]});
  }
}

std::map<uint32_t, Device> DevicesOf(const Process& process) {
  std::map<uint32_t, Device> devices;
  for (const Track& track : process.tracks) {
    if (track.kernel.rows() + track.memcpy.rows() + track.memset.rows() +
            track.graph_launch.rows() ==
        0)
      continue;
    Device& device = devices[track.device];
    Stream stream = {&track, {}, {}, {}};
    AddTable(track.kernel, &device.work, &stream.kernels);
    AddTable(track.memcpy, &device.work, &stream.copies);
    AddTable(track.memset, &device.work, &stream.copies);
    AddTable(track.graph_launch, &device.work, &stream.graphs);
    device.streams.push_back(std::move(stream));
  }
  return devices;
}

// Parts of captures between the first work in them and the last; `busy` is sorted and disjoint.
// Work counts in the capture in which it began.
std::vector<Interval> Windows(const Process& process, const std::vector<Interval>& busy) {
  std::vector<Interval> windows;
  const auto first_from = [&](int64_t time) {
    return std::lower_bound(busy.begin(), busy.end(), time,
                            [](const Interval& span, int64_t t) { return span.start < t; });
  };
  for (const CaptureWindow& capture : process.captures) {
    const auto first = first_from(capture.start_ns);
    const auto behind = first_from(capture.end_ns);
    if (first < behind) windows.push_back({first->start, (behind - 1)->end});
  }
  return UnionOf(std::move(windows));
}

void AddGap(Interval gap, const Launch* launch, results::DeviceUse* use) {
  use->set_gap_count(use->gap_count() + 1);
  if (gap.length() > use->gap_max_ns()) {
    use->set_gap_max_ns(gap.length());
    use->set_gap_max_start_ns(gap.start);
  }
  if (launch == nullptr) {
    use->set_idle_unknown_ns(use->idle_unknown_ns() + gap.length());
  } else if (launch->end_ns <= gap.start) {
    use->set_idle_dependency_ns(use->idle_dependency_ns() + gap.length());
  } else {
    const int64_t begun = std::clamp(launch->start_ns, gap.start, gap.end);
    use->set_idle_host_ns(use->idle_host_ns() + begun - gap.start);
    use->set_idle_launch_ns(use->idle_launch_ns() + gap.end - begun);
  }
}

// `work` by start. Of several that begin at the end of a gap, the one launched first counts: it
// alone would have ended the gap.
void AddGaps(const std::vector<Interval>& windows, const std::vector<Interval>& busy,
             const std::vector<Work>& work, const Launches& launches, results::DeviceUse* use) {
  size_t window = 0;
  size_t next = 0;
  for (size_t i = 1; i < busy.size(); ++i) {
    const Interval gap = {busy[i - 1].end, busy[i].start};
    while (window < windows.size() && windows[window].end < gap.end) ++window;
    if (window == windows.size()) break;
    if (windows[window].start > gap.start) continue;  // between two captures
    while (next < work.size() && work[next].start < gap.end) ++next;
    const Launch* first = nullptr;
    for (size_t w = next; w < work.size() && work[w].start == gap.end; ++w) {
      const Launch* launch = launches.Find(work[w].correlation);
      if (launch != nullptr && (first == nullptr || launch->start_ns < first->start_ns))
        first = launch;
    }
    AddGap(gap, first, use);
  }
}

// The busy time of each stream, and of the device's others at the same time.
void FillStreams(const Process& process, const Device& device, int64_t window_ns,
                 results::Streams* out) {
  std::vector<std::vector<Interval>> busy;
  std::vector<Interval> all;
  for (const Stream& stream : device.streams) {
    std::vector<Interval> spans = stream.kernels;
    spans.insert(spans.end(), stream.copies.begin(), stream.copies.end());
    spans.insert(spans.end(), stream.graphs.begin(), stream.graphs.end());
    busy.push_back(UnionOf(std::move(spans)));
    all.insert(all.end(), busy.back().begin(), busy.back().end());
  }
  // Each stream's are disjoint: where two are open, they are of two streams.
  const std::vector<Interval> several = CoveredTwice(all);
  for (size_t i = 0; i < device.streams.size(); ++i) {
    const Stream& stream = device.streams[i];
    const Track& track = *stream.track;
    results::StreamUse* use = out->add_streams();
    SetProcess(process, use);
    use->set_device(track.device);
    use->set_context(track.context);
    use->set_stream(track.stream);
    use->set_name(track.name);
    use->set_kernel_count(CountOf(track.kernel));
    use->set_copy_count(CountOf(track.memcpy) + CountOf(track.memset));
    use->set_busy_ns(TotalLength(busy[i]));
    use->set_busy_ratio(Ratio(use->busy_ns(), window_ns));
    use->set_overlap_ns(TotalLength(Intersection(busy[i], several)));
    use->set_kernel_ns(TotalLength(UnionOf(stream.kernels)));
    use->set_copy_ns(TotalLength(UnionOf(stream.copies)));
    use->set_whole_graph_count(CountOf(track.graph_launch));
    use->set_whole_graph_ns(TotalLength(UnionOf(stream.graphs)));
  }
}

void FillDevice(const Process& process, const Launches& launches, uint32_t number,
                const std::string& name, Device* device, results::Streams* out) {
  std::vector<Interval> kernels, copies, graphs, kernels_by_stream;
  for (const Stream& stream : device->streams) {
    const std::vector<Interval> of_stream = UnionOf(stream.kernels);
    kernels_by_stream.insert(kernels_by_stream.end(), of_stream.begin(), of_stream.end());
    copies.insert(copies.end(), stream.copies.begin(), stream.copies.end());
    graphs.insert(graphs.end(), stream.graphs.begin(), stream.graphs.end());
  }
  kernels = UnionOf(kernels_by_stream);
  copies = UnionOf(std::move(copies));
  std::vector<Interval> busy = kernels;
  busy.insert(busy.end(), copies.begin(), copies.end());
  busy.insert(busy.end(), graphs.begin(), graphs.end());
  busy = UnionOf(std::move(busy));
  const std::vector<Interval> windows = Windows(process, busy);
  results::DeviceUse* use = out->add_devices();
  SetProcess(process, use);
  use->set_device(number);
  use->set_name(name);
  use->set_window_ns(TotalLength(windows));
  use->set_busy_ns(TotalLength(busy));
  use->set_busy_ratio(Ratio(use->busy_ns(), use->window_ns()));
  use->set_kernel_ns(TotalLength(kernels));
  use->set_copy_ns(TotalLength(copies));
  use->set_whole_graph_ns(TotalLength(UnionOf(std::move(graphs))));
  use->set_kernel_and_copy_ns(TotalLength(Intersection(kernels, copies)));
  use->set_several_kernels_ns(TotalLength(CoveredTwice(kernels_by_stream)));
  std::sort(device->work.begin(), device->work.end(),
            [](const Work& x, const Work& y) { return x.start < y.start; });
  AddGaps(windows, busy, device->work, launches, use);
  FillStreams(process, *device, use->window_ns(), out);
}

void FillProcess(const Process& process, const Launches& launches, results::Streams* out) {
  std::map<uint32_t, std::string> names = DeviceNames(process);
  for (auto& [number, device] : DevicesOf(process))
    FillDevice(process, launches, number, names[number], &device, out);
}

}  // namespace

void ComputeStreams(PassContext& context, results::Streams* out) {
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    FillProcess(process, Launches(process), out);
  }
}

Error RunStreams(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Streams>();
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    const Launches launches(process);
    FillProcess(process, launches, out.get());
    AddStreamWaits(process, launches, out.get());
  }
  SortFalling(out->mutable_streams(), [](const auto& row) { return row.busy_ns(); });
  SortFalling(out->mutable_waits(), [](const auto& row) { return row.held_up_ns(); });
  context.FillCountMeta("streams", out->mutable_meta());
  AddSampledNote(context, "busy and idle time (and none of what waits held up)",
                 out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
