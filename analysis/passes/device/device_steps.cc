// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_steps.h. A step has three windows on a device. The period is the step that all shares
// and gains are of (step_periods.h). The mark's window is what the program marked on the host. The
// device's own window begins where the first work of the step begins, on the stream with most
// kernels, and ends where this window of the next step begins.

#include "analysis/passes/device/device_steps.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/derived/call_steps.h"
#include "analysis/passes/device/given_names.h"
#include "analysis/passes/device/step_periods.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

// What a step launched on a device.
struct StepWork {
  int64_t first_ns = std::numeric_limits<int64_t>::max();  // on the stream with most kernels
  int64_t last_ns = std::numeric_limits<int64_t>::min();   // on any stream
  uint64_t kernel_count = 0;
  bool has_work() const { return first_ns != std::numeric_limits<int64_t>::max(); }
};

std::vector<StepWork> WorkOf(PassContext& context, size_t index, uint32_t device,
                             std::span<const Step> steps) {
  const Process& process = context.process(index);
  std::vector<Interval> spans;
  for (const Step& step : steps) spans.push_back(step.span);
  const CallSteps calls(process, context.calls(index), spans);
  const size_t main = MainStream(process, device);
  std::vector<StepWork> work(steps.size());
  for (size_t t = 0; t < process.tracks.size(); ++t) {
    const Track& track = process.tracks[t];
    if (!track.is_stream || track.device != device) continue;
    ForEachDeviceWork(track, [&](const DeviceWork& row) {
      const std::optional<uint32_t> step = calls.Find(row.correlation);
      if (!step || *step == kNoStep) return;
      StepWork& sums = work[*step];
      if (t == main) sums.first_ns = std::min(sums.first_ns, row.span.start);
      sums.last_ns = std::max(sums.last_ns, row.span.end);
      if (row.kind == DeviceWorkKind::kKernel) sums.kernel_count += row.weight;
    });
  }
  return work;
}

std::vector<Interval> PeriodsOf(PassContext& context, size_t index, uint32_t device,
                                const DeviceTimeline& timeline, const std::vector<StepWork>& work) {
  std::vector<int64_t> work_ends;
  for (const StepWork& each : work) work_ends.push_back(each.last_ns);
  return StepPeriods(context.process(index), device, context.calls(index), timeline,
                     context.steps(index).steps, work_ends);
}

// Returns the device's own window of a step. None: the step launched nothing on the main stream, or
// its windows overlap.
std::optional<Interval> DeviceWindow(const std::vector<StepWork>& work, size_t step) {
  if (!work[step].has_work()) return std::nullopt;
  const bool is_followed = step + 1 < work.size() && work[step + 1].has_work();
  const Interval window = {work[step].first_ns,
                           is_followed ? work[step + 1].first_ns : work[step].last_ns};
  return window.end > window.start ? std::optional(window) : std::nullopt;
}

// What a device did in one window of a step. A job has millions of them, so they are no messages.
struct WindowTimes {
  results::StepWindow kind = results::STEP_WINDOW_NONE;
  Interval span;
  uint64_t number = 0, kernel_count = 0;
  int64_t busy_ns = 0;
  bool is_warmup = false;
  DeviceTimes times = {};
};

void FillWindow(const DeviceTimeline& timeline, Interval window, WindowTimes* out) {
  out->span = window;
  out->busy_ns = CoveredLength(timeline.busy(), window);
  out->times = timeline.Split(window);
}

// Sums up the steps of one kind of window that are not warm-up.
class Summary {
 public:
  void Add(const WindowTimes& step) {
    all_.push_back(&step);
    if (!step.is_warmup) counted_.push_back(&step);
  }

  void Fill(results::DeviceSeries* out) const {
    const std::vector<const WindowTimes*>& steps = counted_.empty() ? all_ : counted_;
    if (steps.empty()) return;
    std::vector<int64_t> durations;
    DeviceTimes times{};
    int64_t busy = 0;
    for (const WindowTimes* step : steps) {
      durations.push_back(step->span.length());
      busy += step->busy_ns;
      for (size_t i = 0; i < times.size(); ++i) times[i] += step->times[i];
    }
    const Samples samples(std::move(durations));
    out->set_count(steps.size());
    out->set_total_ns(samples.total());
    out->set_mean_ns(samples.mean());
    out->set_median_ns(samples.median());
    out->set_busy_ns(busy);
    out->set_busy_ratio(Ratio(busy, samples.total()));
    AddTimes(times, samples.total(), out->mutable_categories());
    out->set_start_ns(steps.front()->span.start);
    out->set_end_ns(steps.back()->span.end);
    out->set_typical_number(Typical(steps)->number);
  }

 private:
  // Returns the step of median duration among those with the most frequent number of kernels.
  static const WindowTimes* Typical(std::vector<const WindowTimes*> steps) {
    std::map<uint64_t, uint64_t> shapes;
    for (const WindowTimes* step : steps) ++shapes[step->kernel_count];
    const auto most =
        std::max_element(shapes.begin(), shapes.end(),
                         [](const auto& x, const auto& y) { return x.second < y.second; });
    std::erase_if(steps, [&](const auto* step) { return step->kernel_count != most->first; });
    std::stable_sort(steps.begin(), steps.end(), [](const auto* x, const auto* y) {
      return x->span.length() < y->span.length();
    });
    return steps[(steps.size() - 1) / 2];
  }

  std::vector<const WindowTimes*> all_, counted_;
};

void SetIds(const Process& process, uint32_t device, results::StepWindow window, auto* out) {
  SetProcess(process, out);
  out->set_device(device);
  out->set_window(window);
}

void AddSeries(const Process& process, uint32_t device, const std::string& name,
               results::StepWindow window, const std::vector<WindowTimes>& steps,
               results::Steps* out) {
  Summary summary;
  for (const WindowTimes& step : steps) {
    if (step.kind == window) summary.Add(step);
  }
  results::DeviceSeries series;
  summary.Fill(&series);
  if (series.count() == 0) return;
  SetIds(process, device, window, &series);
  series.set_name(name);
  *out->add_device_series() = std::move(series);
}

void AddStepRow(const Process& process, uint32_t device, const WindowTimes& step,
                results::Steps* out) {
  results::DeviceStep* const row = out->add_device_steps();
  SetIds(process, device, step.kind, row);
  row->set_number(step.number);
  row->set_warmup(step.is_warmup);
  row->set_kernel_count(step.kernel_count);
  row->set_start_ns(step.span.start);
  row->set_duration_ns(step.span.length());
  row->set_busy_ns(step.busy_ns);
  row->set_busy_ratio(Ratio(step.busy_ns, step.span.length()));
  AddTimes(step.times, step.span.length(), row->mutable_categories());
}

std::vector<WindowTimes> WindowsOf(PassContext& context, size_t index, uint32_t device,
                                   const DeviceTimeline& timeline) {
  const Process& process = context.process(index);
  const std::vector<Step>& steps = context.steps(index).steps;
  const std::vector<StepWork> work = WorkOf(context, index, device, steps);
  const std::vector<Interval> periods = PeriodsOf(context, index, device, timeline, work);
  std::vector<WindowTimes> rows;
  rows.reserve(3 * steps.size());
  for (size_t i = 0; i < steps.size(); ++i) {
    const auto add = [&](results::StepWindow kind, Interval window) {
      WindowTimes& row = rows.emplace_back();
      row.kind = kind;
      row.number = steps[i].number;
      row.is_warmup = steps[i].is_warmup;
      row.kernel_count = work[i].kernel_count;
      FillWindow(timeline, window, &row);
    };
    add(results::STEP_WINDOW_MARK, steps[i].span);
    if (const auto window = DeviceWindow(work, i)) add(results::STEP_WINDOW_DEVICE, *window);
    if (periods[i].length() > 0) add(results::STEP_WINDOW_PERIOD, periods[i]);
  }
  if (!steps.empty()) return rows;
  // Nothing tells where steps begin: all is one.
  WindowTimes& all = rows.emplace_back();
  all.kind = results::STEP_WINDOW_ALL;
  for (const Track& track : process.tracks) {
    if (!track.is_stream || track.device != device) continue;
    ForEachRowOfWork(DeviceWorkKind::kKernel, track.kernel,
                     [&](const DeviceWork& row) { all.kernel_count += row.weight; });
  }
  FillWindow(timeline, timeline.Span(), &all);
  return rows;
}

}  // namespace

std::vector<Interval> PeriodsOnDevice(PassContext& context, size_t index, uint32_t device,
                                      const DeviceTimeline& timeline) {
  return PeriodsOf(context, index, device, timeline,
                   WorkOf(context, index, device, context.steps(index).steps));
}

size_t MainStream(const Process& process, uint32_t device) {
  size_t best = process.tracks.size();
  for (size_t t = 0; t < process.tracks.size(); ++t) {
    const Track& track = process.tracks[t];
    if (!track.is_stream || track.device != device) continue;
    if (best == process.tracks.size() || track.kernel.rows() > process.tracks[best].kernel.rows())
      best = t;
  }
  return best;
}

bool HasTooMuchWork(const Process& process) {
  uint64_t rows = 0;
  for (const Track& track : process.tracks)
    rows +=
        track.kernel.rows() + track.memcpy.rows() + track.memset.rows() + track.graph_launch.rows();
  return rows > kMostWorkRows;
}

void AddTooMuchWorkNote(PassContext& context, results::Meta* meta) {
  if (context.trace().has_sums) {
    meta->add_notes(
        "GPU: the recording has more than 20 million pieces of work, so they were summed block by "
        "block. Idle causes, GPU time in steps, calls of CUDA and the verdict are left out (select "
        "a "
        "part: --window, --steps)");
    return;
  }
  const bool has =
      std::any_of(context.selected().begin(), context.selected().end(),
                  [&](size_t index) { return HasTooMuchWork(context.process(index)); });
  if (has)
    meta->add_notes(
        "GPU: the time of devices was left out, as a process has more than 20 million pieces of "
        "work (select a part: --window, --steps)");
}

ProcessDevices::ProcessDevices(PassContext& context, size_t index) {
  const Process& process = context.process(index);
  if (HasTooMuchWork(process)) return;
  for (const Track& track : process.tracks) {
    if (!track.is_stream || timelines_.count(track.device) != 0) continue;
    DeviceTimeline timeline(process, track.device, context.calls(index), &context.classes(index),
                            &context.host(index), !context.trace().importer.empty());
    if (timeline.HasWork()) timelines_.emplace(track.device, std::move(timeline));
  }
}

void AddTimes(const DeviceTimes& times, int64_t window_ns,
              google::protobuf::RepeatedPtrField<results::CategoryTime>* out) {
  for (size_t i = 0; i < times.size(); ++i) {
    if (times[i] == 0) continue;
    results::CategoryTime* row = out->Add();
    row->set_category(static_cast<results::TimeCategory>(i));
    row->set_total_ns(times[i]);
    row->set_total_ratio(Ratio(times[i], window_ns));
  }
}

namespace {

// Series alone take little room: a job has many ranks, and a question needs the steps of few.
results::Steps ComputeDeviceSteps(PassContext& context, size_t index, const ProcessDevices& devices,
                                  bool has_rows) {
  results::Steps made;
  const Process& process = context.process(index);
  std::map<uint32_t, std::string> names = DeviceNames(process);
  for (const auto& [device, timeline] : devices.all()) {
    const std::vector<WindowTimes> steps = WindowsOf(context, index, device, timeline);
    for (const results::StepWindow window :
         {results::STEP_WINDOW_PERIOD, results::STEP_WINDOW_DEVICE, results::STEP_WINDOW_MARK,
          results::STEP_WINDOW_ALL})
      AddSeries(process, device, names[device], window, steps, &made);
    if (!has_rows) continue;
    for (const WindowTimes& step : steps) AddStepRow(process, device, step, &made);
  }
  return made;
}

struct DeviceSeriesList {
  google::protobuf::RepeatedPtrField<results::DeviceSeries> series;
};

DeviceSeriesList SeriesOf(PassContext& context, size_t index, const ProcessDevices& devices) {
  DeviceSeriesList list;
  list.series.Swap(ComputeDeviceSteps(context, index, devices, false).mutable_device_series());
  return list;
}

}  // namespace

const results::Steps& DeviceStepsOf(PassContext& context, size_t index) {
  return context.kept_of_steps(index).Get<results::Steps>(
      [&] { return ComputeDeviceSteps(context, index, *context.devices(index), true); });
}

const google::protobuf::RepeatedPtrField<results::DeviceSeries>& DeviceSeriesOf(
    PassContext& context, size_t index) {
  if (!HasManyProcesses(context)) return DeviceStepsOf(context, index).device_series();
  return context.kept_of_steps(index)
      .Get<DeviceSeriesList>([&] { return SeriesOf(context, index, *context.devices(index)); })
      .series;
}

bool HasManyProcesses(const PassContext& context) {
  // The rows of few processes take little room either, and most questions need them next.
  constexpr size_t kFewProcesses = 16;
  return context.selected().size() > kFewProcesses;
}

void KeepDeviceSeries(PassContext& context, size_t index, const ProcessDevices& devices) {
  context.kept_of_steps(index).Get<DeviceSeriesList>(
      [&] { return SeriesOf(context, index, devices); });
}

}  // namespace gpuprof::analysis
