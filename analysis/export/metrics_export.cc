// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// ExportOpenMetrics: sums and gauges of a recording as text of OpenMetrics, for Prometheus' text
// files and for scripts. Labels say the process, its rank and host, and the device. Kernels and
// functions are never labels: there are too many.

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analysis/derived/device_work.h"
#include "analysis/export/exported_part.h"
#include "analysis/export/metric_text.h"
#include "analysis/export/tool_formats.h"
#include "analysis/model/names.h"
#include "analysis/model/process_name.h"
#include "analysis/passes/context.h"
#include "analysis/passes/host/stack_weights.h"
#include "analysis/steps/interval.h"
#include "proto/results/idle.pb.h"

namespace gpuprof::analysis {
namespace {

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

MetricLabels LabelsOf(const Process& process) {
  const std::optional<Rank> rank = RankOf(process);
  return {{"host", process.host},
          {"pid", std::to_string(process.pid)},
          {"rank", rank ? std::to_string(rank->number) : ""}};
}

MetricLabels With(MetricLabels labels, std::string_view name, std::string value) {
  labels.emplace_back(name, std::move(value));
  return labels;
}

std::string DeviceLabel(uint32_t device) {
  return device == kNoCudaId ? "none" : std::to_string(device);
}

class Metrics {
 public:
  Metrics(PassContext& context, Session* session) : context_(context), session_(session) {}

  std::string Take(bool with_samplers, ToolReport* report) {
    for (const size_t index : context_.selected()) {
      Recording(index);
      Device(index);
      Calls(index);
      Host(index);
      Memory(index);
      Steps(index);
    }
    Idle();
    if (with_samplers) {
      for (const Process& sampler : context_.trace().samplers) Sampled(sampler);
    }
    report->events = out_.samples();
    return out_.Take();
  }

 private:
  void Recording(size_t index) {
    const Process& process = context_.process(index);
    const MetricLabels labels = LabelsOf(process);
    out_.Gauge("gpuprof_recorded_seconds", "Time from the first event to the last.", "seconds",
               labels, Seconds(std::max<int64_t>(process.last_ns - process.first_ns, 0)));
    for (const auto& [kind, count] : LossesOf(process)) {
      out_.Count("gpuprof_records_dropped", "Records that were lost.", "",
                 With(labels, "kind", std::string(LossKindName(static_cast<uint32_t>(kind)))),
                 static_cast<double>(count));
    }
  }

  void Device(size_t index) {
    const Process& process = context_.process(index);
    std::map<uint32_t, std::vector<Interval>> busy;  // by device
    const MetricLabels process_labels = LabelsOf(process);
    for (const Track& track : process.tracks) {
      const MetricLabels labels = With(process_labels, "device", DeviceLabel(track.device));
      ForEachDeviceWork(track, [&](const DeviceWork& work) {
        busy[track.device].push_back(work.span);
        const double weight = work.weight, length = Seconds(work.span.length()) * weight;
        if (work.kind == DeviceWorkKind::kKernel) {
          out_.Count("gpuprof_kernel_launches", "Kernels that ran.", "", labels, weight);
          out_.Count("gpuprof_kernel_seconds", "Run time of kernels, added up.", "seconds", labels,
                     length);
        } else if (work.kind == DeviceWorkKind::kCopy) {
          const std::string kind = LowerCase(
              std::string(CopyKindName(proto::CopyKindOf(track.memcpy.operation[work.row]))));
          const MetricLabels copy = With(labels, "kind", kind);
          out_.Count("gpuprof_memcpy_seconds", "Time of copies, added up.", "seconds", copy,
                     length);
          const uint64_t bytes = track.memcpy.bytes[work.row];
          if (bytes != kUnknownBytes)
            out_.Count("gpuprof_memcpy_bytes", "Bytes that were copied.", "bytes", copy,
                       static_cast<double>(bytes) * weight);
        } else if (work.kind == DeviceWorkKind::kSet) {
          const uint64_t bytes = track.memset.bytes[work.row];
          if (bytes != kUnknownBytes)
            out_.Count("gpuprof_memset_bytes", "Bytes that were set.", "bytes", labels,
                       static_cast<double>(bytes) * weight);
        }
      });
    }
    for (auto& [device, spans] : busy) {
      out_.Count("gpuprof_gpu_busy_seconds", "Time in which a device had work.", "seconds",
                 With(process_labels, "device", DeviceLabel(device)),
                 Seconds(TotalLength(UnionOf(std::move(spans)))));
    }
  }

  void Calls(size_t index) {
    const Process& process = context_.process(index);
    const MetricLabels labels = LabelsOf(process);
    for (const Track& track : process.tracks) {
      const ApiTable& calls = track.api;
      for (size_t row = 0; row < calls.rows(); ++row) {
        constexpr uint32_t kDriver = 1;  // CUPTI_CB_DOMAIN_DRIVER_API
        const bool is_driver = proto::ApiDomainOf(calls.function[row]) == kDriver;
        const MetricLabels own = With(labels, "api", is_driver ? "driver" : "runtime");
        const double weight = calls.weight[row];
        out_.Count("gpuprof_api_calls", "Calls of CUDA.", "", own, weight);
        out_.Count("gpuprof_api_seconds", "Time in calls of CUDA, added up.", "seconds", own,
                   Seconds(calls.duration_ns[row]) * weight);
      }
    }
  }

  void Host(size_t index) {
    const Process& process = context_.process(index);
    const MetricLabels labels = LabelsOf(process);
    for (const Track& track : process.tracks) {
      const WaitTable& waits = track.wait;
      for (size_t row = 0; row < waits.rows(); ++row) {
        const auto kind = static_cast<uint32_t>(proto::WaitKindOf(waits.operation[row]));
        const MetricLabels own = With(labels, "kind", std::string(WaitKindName(kind)));
        out_.Count("gpuprof_waits", "Waits of threads.", "", own, 1);
        out_.Count("gpuprof_wait_seconds", "Time that threads waited, added up.", "seconds", own,
                   Seconds(waits.duration_ns[row]));
      }
      if (track.samples.size() > 1 && !track.tool) {
        const ThreadSample &first = track.samples.front(), &last = track.samples.back();
        if (last.cpu_ns >= first.cpu_ns)
          out_.Count("gpuprof_processor_seconds", "Processor time of threads, by the kernel.",
                     "seconds", labels, Seconds(static_cast<int64_t>(last.cpu_ns - first.cpu_ns)));
      }
      for (size_t row = 0; row < track.gc_pause.rows(); ++row)
        out_.Count("gpuprof_gc_pause_seconds", "Pauses of Python's garbage collector, added up.",
                   "seconds", labels, Seconds(track.gc_pause.duration_ns[row]));
    }
  }

  void Memory(size_t index) {
    const Process& process = context_.process(index);
    const MetricLabels labels = LabelsOf(process);
    std::map<std::string, std::pair<uint64_t, uint64_t>> peaks;  // by device
    bool has_heap = false;
    for (const Track& track : process.tracks) {
      has_heap = has_heap || track.heap.rows() != 0;
      const TensorTable& tensors = track.tensor;
      for (size_t row = 0; row < tensors.rows(); ++row) {
        auto& [allocated, reserved] = peaks[DeviceName(process, tensors.device[row])];
        allocated = std::max(allocated, tensors.total_allocated[row]);
        reserved = std::max(reserved, tensors.total_reserved[row]);
      }
    }
    for (const auto& [device, peak] : peaks) {
      const MetricLabels own = With(labels, "device", device);
      const auto put = [&](const char* kind, uint64_t bytes) {
        out_.Gauge("gpuprof_tensor_memory_peak_bytes",
                   "The most memory of tensors that was allocated or reserved at once.", "bytes",
                   With(own, "kind", kind), static_cast<double>(bytes));
      };
      put("allocated", peak.first);
      put("reserved", peak.second);
    }
    if (!has_heap) return;
    for (const StackWeight& weight : StackWeightTable()) {
      if (weight.name == "heap_alloc")
        out_.Count("gpuprof_heap_allocated_bytes", "Bytes that were allocated.", "bytes", labels,
                   static_cast<double>(weight.collect(context_, index).total));
      if (weight.name == "heap_peak")
        out_.Gauge("gpuprof_heap_peak_bytes", "Bytes that were live at the peak.", "bytes", labels,
                   static_cast<double>(weight.collect(context_, index).total));
    }
  }

  void Steps(size_t index) {
    const StepAnalysis& found = context_.steps(index);
    if (found.steps.empty()) return;
    std::vector<double> lengths;
    for (const Step& step : found.steps) lengths.push_back(Seconds(step.span.length()));
    // Equal bounds for all recordings: 1, 2 and 5 of each power of ten from 1 ms to 100 s.
    const std::vector<double> bounds = {0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2,
                                        0.5,   1,     2,     5,    10,   20,   50,  100};
    out_.Histogram("gpuprof_step_seconds", "Lengths of steps, warm-up included.", "seconds",
                   LabelsOf(context_.process(index)), bounds, lengths);
  }

  void Idle() {
    PassOptions options;
    options.pid = context_.options().pid;
    std::unique_ptr<google::protobuf::Message> message;
    if (Run("idle", session_, options, &message)) return;
    const auto& result = static_cast<const results::Idle&>(*message);
    for (const results::IdleDevice& device : result.devices()) {
      for (const size_t index : context_.selected()) {
        const Process& process = context_.process(index);
        if (!AreOfOne(process, device)) continue;
        for (const results::CategoryTime& cause : device.causes()) {
          const std::string name = LowerCase(results::TimeCategory_Name(cause.category()));
          out_.Count("gpuprof_gpu_idle_seconds",
                     "Time without work between a device's first work and its last.", "seconds",
                     With(With(LabelsOf(process), "device", DeviceLabel(device.device())), "cause",
                          name.substr(std::string_view("time_category_").size())),
                     Seconds(cause.total_ns()));
        }
        break;
      }
    }
  }

  static bool AreOfOne(const Process& process, const results::IdleDevice& device) {
    return process.pid == device.pid() && process.host == device.host();
  }

  // Counters of hardware: the mean of a counter, and its greatest value.
  void Sampled(const Process& sampler) {
    for (const Track& track : sampler.tracks) {
      const auto device = sampler.sampled_devices.find(track.id);
      if (device == sampler.sampled_devices.end()) continue;
      struct Sum {
        double total = 0, most = -INFINITY;
        uint64_t count = 0;
      };
      std::map<uint32_t, Sum> sums;
      for (size_t row = 0; row < track.counter.rows(); ++row) {
        const auto known = sampler.counters.find(track.counter.counter[row]);
        if (known == sampler.counters.end() || known->second.unit() == "mask" ||
            known->second.pid() != 0)
          continue;
        const double value = static_cast<double>(track.counter.value[row]) /
                             std::max<uint32_t>(known->second.divisor(), 1);
        Sum& sum = sums[known->first];
        sum.total += value;
        sum.most = std::max(sum.most, value);
        ++sum.count;
      }
      for (const auto& [counter, sum] : sums) {
        const proto::Counter& known = sampler.counters.at(counter);
        const MetricLabels labels = {{"host", sampler.host},
                                     {"device", std::to_string(device->second.index())},
                                     {"counter", known.name()},
                                     {"unit", known.unit()}};
        out_.Gauge("gpuprof_counter_mean", "Mean of a counter of hardware.", "", labels,
                   sum.total / static_cast<double>(sum.count));
        out_.Gauge("gpuprof_counter_max", "Greatest value of a counter of hardware.", "", labels,
                   sum.most);
      }
    }
  }

  PassContext& context_;
  Session* session_;
  MetricText out_;
};

}  // namespace

Error ExportOpenMetrics(const Trace& whole, const ToolOptions& options, Sink sink, void* context,
                        ToolReport* report) {
  ExportedPart part(whole, options);
  if (Error error = part.Prepare()) return error;
  sink(context, Metrics(part.context(), &part.session()).Take(options.pid == 0, report));
  return {};
}

}  // namespace gpuprof::analysis
