// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `streams`: what each stream and device did when, as unions, and why a device was idle
// (device_gaps.h), for each process by itself. And which stream waited for which, and which ran
// functions on the host (host_functions.h).

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/call_index.h"
#include "analysis/derived/device_work.h"
#include "analysis/passes/device/device_gaps.h"
#include "analysis/passes/device/device_steps.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/device/host_functions.h"
#include "analysis/passes/device/sampled_activity.h"
#include "analysis/passes/device/stream_waits.h"
#include "analysis/passes/device/unseen_work.h"
#include "analysis/passes/device/used_devices.h"
#include "analysis/passes/kept_rows.h"
#include "analysis/passes/passes.h"
#include "analysis/passes/rows.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"
#include "proto/results/streams.pb.h"

namespace gpuprof::analysis {
namespace {

struct Stream {
  const Track* track;
  std::vector<Interval> kernels, copies, graphs;
};

using Device = std::vector<Stream>;

std::vector<Interval>& SpansOf(DeviceWorkKind kind, Stream* stream) {
  if (kind == DeviceWorkKind::kKernel) return stream->kernels;
  return kind == DeviceWorkKind::kGraph ? stream->graphs : stream->copies;
}

std::map<uint32_t, Device> DevicesOf(const Process& process) {
  std::map<uint32_t, Device> devices;
  for (const Track& track : process.tracks) {
    if (!HasWork(track)) continue;
    Stream stream = {&track, {}, {}, {}};
    ForEachDeviceWork(
        track, [&](const DeviceWork& work) { SpansOf(work.kind, &stream).push_back(work.span); });
    devices[track.device].push_back(std::move(stream));
  }
  return devices;
}

void FillGaps(const std::vector<Interval>& gaps, results::DeviceUse* use) {
  use->set_gap_count(gaps.size());
  for (const Interval& gap : gaps) {
    if (gap.length() <= use->gap_max_ns()) continue;
    use->set_gap_max_ns(gap.length());
    use->set_gap_max_start_ns(gap.start);
  }
}

// Fills why the device was idle. All categories of what the host did are one here. Without a
// timeline (there was too much work) no cause is known.
void FillIdle(PassContext& context, size_t index, const ProcessDevices& timelines,
              results::DeviceUse* use) {
  const auto timeline = timelines.all().find(use->device());
  if (timeline == timelines.all().end()) {
    use->set_idle_unknown_ns(use->window_ns() - use->busy_ns());
    return;
  }
  const std::vector<Interval> host_functions =
      HostFunctionTimes(context.process(index), use->device());
  const DeviceGaps gaps(context, index, use->device(), timeline->second);
  const IdleCauses causes = gaps.Causes(host_functions);
  use->set_idle_launch_ns(causes.times[results::TIME_CATEGORY_LAUNCH]);
  use->set_idle_dependency_ns(causes.times[results::TIME_CATEGORY_DEPENDENCY]);
  use->set_idle_unknown_ns(causes.times[results::TIME_CATEGORY_UNEXPLAINED]);
  use->set_idle_host_ns(causes.total_ns() - use->idle_launch_ns() - use->idle_dependency_ns() -
                        use->idle_unknown_ns());
  use->set_idle_unseen_ns(causes.unseen_ns);
  use->set_idle_host_function_ns(causes.host_function_ns);
}

// The busy time of each stream, and of the device's others at the same time.
void FillStreams(const Process& process, const Device& device, int64_t window_ns,
                 results::Streams* out) {
  std::vector<std::vector<Interval>> busy;
  std::vector<Interval> all;
  for (const Stream& stream : device) {
    std::vector<Interval> spans = stream.kernels;
    spans.insert(spans.end(), stream.copies.begin(), stream.copies.end());
    spans.insert(spans.end(), stream.graphs.begin(), stream.graphs.end());
    busy.push_back(UnionOf(std::move(spans)));
    all.insert(all.end(), busy.back().begin(), busy.back().end());
  }
  // Each stream's are disjoint: where two are open, they are of two streams.
  const std::vector<Interval> several = CoveredTwice(all);
  for (size_t i = 0; i < device.size(); ++i) {
    const Stream& stream = device[i];
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

// Of work that began before a capture, or before what a flight recorder kept, not all is there.
void KeepWithin(const std::vector<Interval>& windows, Device* device) {
  for (Stream& stream : *device) {
    for (std::vector<Interval>* spans : {&stream.kernels, &stream.copies, &stream.graphs})
      *spans = Intersection(UnionOf(std::move(*spans)), windows);
  }
}

// Returns the gaps of the device.
std::vector<Interval> FillDevice(const Process& process, uint32_t number, const std::string& name,
                                 Device device, results::Streams* out) {
  std::vector<std::vector<Interval>> all;
  for (const Stream& stream : device) {
    for (const std::vector<Interval>* spans : {&stream.kernels, &stream.copies, &stream.graphs})
      all.push_back(UnionOf(*spans));
  }
  const std::vector<Interval> windows =
      WorkWindows(CapturesOf(process), UnionOfAll(std::move(all)));
  KeepWithin(windows, &device);
  std::vector<Interval> kernels, copies, graphs, kernels_by_stream;
  for (const Stream& stream : device) {
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
  std::vector<Interval> gaps = GapsIn(windows, busy);
  FillGaps(gaps, use);
  FillStreams(process, device, use->window_ns(), out);
  return gaps;
}

void FillProcess(PassContext& context, size_t index, results::Streams* out) {
  const Process& process = context.process(index);
  std::map<uint32_t, std::string> names = DeviceNames(process);
  std::map<uint32_t, std::vector<Interval>> idle;
  for (auto& [number, device] : DevicesOf(process))
    idle[number] = FillDevice(process, number, names[number], std::move(device), out);
  const auto timelines = context.devices(index);
  const int first = out->devices_size() - static_cast<int>(idle.size());
  for (int i = first; i < out->devices_size(); ++i)
    FillIdle(context, index, *timelines, out->mutable_devices(i));
  AddHostFunctions(process, idle, out);
}

}  // namespace

Error RunStreams(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Streams>();
  for (const size_t index : context.selected()) {
    out->MergeFrom(KeptRows<results::Streams>(
        context.kept_of_steps(index), "streams", [&](results::Streams* rows) {
          FillProcess(context, index, rows);
          AddStreamWaits(context.process(index), context.calls(index), rows);
        }));
  }
  SortFalling(out->mutable_streams(), [](const auto& row) { return row.busy_ns(); });
  SortFalling(out->mutable_waits(), [](const auto& row) { return row.held_up_ns(); });
  SortByTotal(out->mutable_host_functions());
  context.FillCountMeta("streams", out->mutable_meta());
  for (const results::DeviceUse& use : out->devices()) {
    if (use.idle_unseen_ns() == 0) continue;
    out->mutable_meta()->add_notes(
        UnseenNote("pid " + std::to_string(use.pid()) + ", device " + std::to_string(use.device()),
                   use.idle_unseen_ns()));
  }
  AddTooMuchWorkNote(context, out->mutable_meta());
  AddSampledNote(context, "busy and idle time (but no time held up by waits)", out->mutable_meta());
  const UsedDevices devices(context);
  AddSharedNotes(context, devices, out->mutable_meta());
  AddUntoldNote(devices, "it is not known which rows belong to the same GPU", out->mutable_meta());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
