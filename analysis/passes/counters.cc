// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pass `counters`: the GPUs' hardware counters over the run, by device and counter. See
// passes.h.
//
// A reading stands for the time since the one before: GPM's and PM sampling's are means over just
// that, and NVML's are of the driver's own last period. The first, which has none before, stands
// for as long as the second. Samples of PM sampling lie on a track of their own, with a period of
// their own.
//
// An imported file has counters of its processes. A value stands until the next one. Values that
// Nsight Systems samples are readings, too.

#include <algorithm>
#include <map>
#include <set>

#include "analysis/model/counter_sources.h"
#include "analysis/model/names.h"
#include "analysis/passes/device/device_limits.h"
#include "analysis/passes/passes.h"
#include "analysis/steps/statistics.h"
#include "proto/results/counters.pb.h"
#include "proto/results/meta.pb.h"

namespace gpuprof::analysis {
namespace {

struct Series {
  std::vector<int64_t> time_ns;
  std::vector<int64_t> value;
};

// How long each value stands.
std::vector<int64_t> Weights(const std::vector<int64_t>& times) {
  std::vector<int64_t> weights(times.size(), 1);
  for (size_t i = 1; i < times.size(); ++i)
    weights[i] = std::max<int64_t>(times[i] - times[i - 1], 0);
  if (times.size() > 1) weights[0] = weights[1];
  return weights;
}

// Likewise, of an imported file. Nothing is known behind the last value.
std::vector<int64_t> WeightsUntilNext(const std::vector<int64_t>& times) {
  std::vector<int64_t> weights(times.size(), 0);
  for (size_t i = 1; i < times.size(); ++i) weights[i - 1] = times[i] - times[i - 1];
  if (times.empty() || times.back() == times.front()) weights.assign(times.size(), 1);
  return weights;
}

std::map<uint32_t, Series> SeriesOf(const CounterTable& table) {
  std::map<uint32_t, Series> series;
  for (size_t i = 0; i < table.rows(); ++i) {
    Series& one = series[table.counter[i]];
    one.time_ns.push_back(table.time_ns[i]);
    one.value.push_back(table.value[i]);
  }
  return series;
}

void FillCudaDevices(const PassContext& context, const Process& sampler,
                     const proto::SampledDevice& device, results::CounterDevice* row) {
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (process.host != sampler.host) continue;
    std::set<uint32_t> found;
    for (const proto::Device& each : process.devices) {
      if (!IsSameDevice(each, device) || !found.insert(each.id()).second) continue;
      results::CudaDevice* same = row->add_cuda_devices();
      same->set_pid(process.pid);
      same->set_device(each.id());
    }
  }
}

int64_t Period(const CounterTable& table) {
  std::vector<int64_t> distances;
  for (size_t i = 1; i < table.rows(); ++i) {
    if (table.time_ns[i] != table.time_ns[i - 1])
      distances.push_back(table.time_ns[i] - table.time_ns[i - 1]);
  }
  return Samples(std::move(distances)).median();
}

uint64_t Readings(const CounterTable& table) {
  uint64_t count = table.rows() == 0 ? 0 : 1;
  for (size_t i = 1; i < table.rows(); ++i)
    count += table.time_ns[i] != table.time_ns[i - 1] ? 1u : 0u;
  return count;
}

void FillUse(const proto::Counter& counter, const Series& series,
             const std::vector<int64_t>& weights, results::CounterUse* row) {
  const double divisor = std::max(counter.divisor(), 1u);
  double sum = 0, weight = 0;
  for (size_t i = 0; i < series.value.size(); ++i) {
    sum += static_cast<double>(series.value[i]) * static_cast<double>(weights[i]);
    weight += static_cast<double>(weights[i]);
  }
  const Samples samples(series.value);
  const auto in_unit = [&](int64_t value) { return static_cast<double>(value) / divisor; };
  row->set_name(counter.name());
  row->set_unit(counter.unit());
  row->set_source(counter.source());
  row->set_pid(counter.pid());
  row->set_count(series.value.size());
  row->set_mean(Ratio(sum, weight) / divisor);
  row->set_min(in_unit(samples.min()));
  row->set_p50(in_unit(samples.median()));
  row->set_p95(in_unit(samples.Percentile(0.95)));
  row->set_max(in_unit(samples.max()));
  row->set_last(in_unit(series.value.back()));
  row->set_covered_ns(series.time_ns.back() - series.time_ns.front());
}

void FillReasons(const Process& sampler, uint32_t device, const Series& series,
                 results::Counters* out) {
  const std::vector<int64_t> weights = Weights(series.time_ns);
  int64_t all = 0;
  std::map<uint64_t, int64_t> by_bit;
  for (size_t i = 0; i < series.value.size(); ++i) {
    all += weights[i];
    for (uint64_t bits = static_cast<uint64_t>(series.value[i]); bits != 0; bits &= bits - 1)
      by_bit[bits & (~bits + 1)] += weights[i];
  }
  for (const auto& [bit, total] : by_bit) {
    results::ClocksEventReason* row = out->add_reasons();
    row->set_device(device);
    row->set_host(sampler.host);
    const std::string_view name = ClocksEventReasonName(bit);
    row->set_name(name.empty() ? "bit " + std::to_string(__builtin_ctzll(bit)) : std::string(name));
    row->set_total_ns(total);
    row->set_total_ratio(Ratio(total, all));
  }
}

proto::Counter CounterOf(const Process& process, uint32_t id) {
  const auto known = process.counters.find(id);
  if (known != process.counters.end()) return known->second;
  proto::Counter counter;
  counter.set_name("counter " + std::to_string(id));
  return counter;
}

proto::SampledDevice DeviceOf(const Process& sampler, const Track& track) {
  const auto known = sampler.sampled_devices.find(track.id);
  if (known != sampler.sampled_devices.end()) return known->second;
  proto::SampledDevice device;
  device.set_index(track.id - 1);
  return device;
}

// Its row, which it may have already: of its other track.
results::CounterDevice* RowOf(const PassContext& context, const Process& sampler,
                              const proto::SampledDevice& device, results::Counters* out) {
  for (results::CounterDevice& row : *out->mutable_devices()) {
    if (row.device() == device.index() && row.uuid() == device.uuid() && row.host() == sampler.host)
      return &row;
  }
  results::CounterDevice* row = out->add_devices();
  row->set_device(device.index());
  row->set_name(device.name());
  row->set_uuid(device.uuid());
  row->set_host(sampler.host);
  row->set_is_mig(device.is_mig());
  FillCudaDevices(context, sampler, device, row);
  return row;
}

void FillDevice(const PassContext& context, const Process& sampler, const Track& track,
                results::Counters* out) {
  const proto::SampledDevice device = DeviceOf(sampler, track);
  results::CounterDevice* row = RowOf(context, sampler, device, out);
  if (device.is_pm()) {
    row->set_pm_count(Readings(track.counter));
    row->set_pm_period_ns(Period(track.counter));
  } else {
    row->set_has_gpm(device.has_gpm());
    row->set_count(Readings(track.counter));
    row->set_period_ns(Period(track.counter));
  }
  for (const auto& [id, series] : SeriesOf(track.counter)) {
    const proto::Counter described = CounterOf(sampler, id);
    results::CounterUse* use = out->add_counters();
    use->set_device(device.index());
    use->set_device_uuid(device.uuid());
    use->set_host(sampler.host);
    FillUse(described, series, Weights(series.time_ns), use);
    if (described.unit() == "mask") FillReasons(sampler, device.index(), series, out);
  }
}

// Returns the names of counters. Counters of one name are told apart by their arguments.
std::map<uint32_t, std::string> ImportedNames(const Process& process,
                                              const std::map<uint32_t, Series>& all) {
  std::map<std::string, int> by_name;
  for (const auto& [id, series] : all) ++by_name[CounterOf(process, id).name()];
  std::map<uint32_t, std::string> names;
  for (const auto& [id, series] : all) {
    const proto::Counter counter = CounterOf(process, id);
    names[id] = counter.name();
    if (by_name[counter.name()] > 1) names[id] += ": " + counter.source();
  }
  return names;
}

void FillImportedDevice(const PassContext& context, const Process& process, const Track& track,
                        const proto::SampledDevice& device, results::Counters* out) {
  results::CounterDevice* row = RowOf(context, process, device, out);
  row->set_count(row->count() + Readings(track.counter));
  row->set_period_ns(Period(track.counter));
  results::CudaDevice* same = row->add_cuda_devices();
  same->set_pid(process.pid);
  same->set_device(device.index());
}

// Counters of an imported file: of a device, or of the process alone.
void FillImported(const PassContext& context, const Process& process, const Track& track,
                  results::Counters* out) {
  const auto device = process.sampled_devices.find(track.id);
  const bool has_device = device != process.sampled_devices.end();
  if (has_device) FillImportedDevice(context, process, track, device->second, out);
  const std::map<uint32_t, Series> all = SeriesOf(track.counter);
  const std::map<uint32_t, std::string> names = ImportedNames(process, all);
  for (const auto& [id, series] : all) {
    proto::Counter described = CounterOf(process, id);
    described.set_name(names.at(id));
    const bool is_reading = described.source() == kNsysCounters;
    described.clear_source();
    if (!has_device) described.set_pid(process.pid);
    results::CounterUse* use = out->add_counters();
    if (has_device) use->set_device(device->second.index());
    use->set_host(process.host);
    FillUse(described, series,
            is_reading ? Weights(series.time_ns) : WeightsUntilNext(series.time_ns), use);
  }
}

bool UsesCuda(const PassContext& context) {
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    if (!process.devices.empty() || process.has_cupti_clock) return true;
  }
  return false;
}

std::string WhyNone(const PassContext& context) {
  if (!context.trace().importer.empty()) return "the file has no counter events";
  std::string notes;
  for (const Process& sampler : context.trace().samplers) {
    for (const proto::Note& note : sampler.health.note())
      notes += (notes.empty() ? "" : "; ") + note.text();
  }
  for (const std::string& note : context.trace().manifest.counter_note())
    notes += (notes.empty() ? "" : "; ") + note;
  if (!notes.empty()) return notes;
  if (!context.trace().samplers.empty()) return "the command ended before a GPU was read";
  if (!UsesCuda(context))
    return "no process initialised CUDA while it was recorded, and gpuprof does not read GPUs "
           "before that";
  return "`gpuprof run` needs libnvidia-ml.so.1 for them. It does not read them with "
         "--gpu-period=off, or with --ring without --gpu-period. `gpuprof env` never reads them. "
         "`gpuprof doctor` shows whether NVML is installed";
}

}  // namespace

void AddSamplers(const Trace& trace, bool with_notes, results::Meta* meta) {
  for (const Process& sampler : trace.samplers) {
    results::Input* input = meta->add_inputs();
    input->set_name(sampler.file);
    input->set_pid(sampler.pid);
    input->set_count(sampler.rows);
    input->set_size_bytes(sampler.file_bytes);
    for (const InputFault& fault : trace.faults) {
      if (fault.file == sampler.file && input->fault().empty())
        input->set_fault(fault.what + " at offset " + std::to_string(fault.offset));
    }
    for (const proto::Note& note : sampler.health.note()) {
      if (with_notes) meta->add_notes(note.source() + ": " + note.text());
    }
    for (const auto& [kind, count] : LossesOf(sampler)) {
      results::Loss* loss = meta->add_losses();
      loss->set_name("counters: " + std::string(LossKindName(static_cast<uint32_t>(kind))));
      loss->set_count(count);
      loss->set_fix(std::string(LossFix(kind)));
      if (IsLossOfEvents(kind)) meta->set_lost_count(meta->lost_count() + count);
    }
  }
  for (const std::string& note : trace.manifest.counter_note()) {
    if (with_notes) meta->add_notes("gpu counters: " + note);
  }
}

Error RunCounters(PassContext& context, std::unique_ptr<google::protobuf::Message>* result) {
  auto out = std::make_unique<results::Counters>();
  for (const Process& sampler : context.trace().samplers) {
    for (const Track& track : sampler.tracks) {
      if (track.id != 0 && track.counter.rows() != 0)
        FillDevice(context, sampler, track, out.get());
    }
  }
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    for (const Track& track : process.tracks) {
      if (track.counter.rows() != 0) FillImported(context, process, track, out.get());
    }
  }
  context.FillMeta("counters", out->mutable_meta());
  const bool is_empty = out->counters().empty();
  if (is_empty) out->set_absence(WhyNone(context));
  AddSamplers(context.trace(), /*with_notes=*/!is_empty, out->mutable_meta());
  context.FillCountConfidence(out->meta(), out->mutable_meta()->mutable_confidence());
  *result = std::move(out);
  return {};
}

}  // namespace gpuprof::analysis
