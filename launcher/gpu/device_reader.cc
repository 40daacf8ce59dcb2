// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See device_reader.h.

#include "launcher/gpu/device_reader.h"

#include <cmath>
#include <cstring>

namespace gpuprof::launcher {
namespace {

// GPM refreshes its counters every 100 ms, says its documentation. Two samples nearer than this
// could tell nothing.
constexpr uint64_t kGpmPauseNs = 95'000'000;
constexpr unsigned kMostProcesses = 256;
constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr double kSecondNs = 1e9;

constexpr nvml::GpmMetricId kShares[] = {
    nvml::kGpmGraphicsUtil,   nvml::kGpmSmUtil,         nvml::kGpmSmOccupancy,
    nvml::kGpmAnyTensorUtil,  nvml::kGpmHmmaTensorUtil, nvml::kGpmImmaTensorUtil,
    nvml::kGpmDfmaTensorUtil, nvml::kGpmDmmaTensorUtil, nvml::kGpmDramBandwidthUtil,
    nvml::kGpmFp64Util,       nvml::kGpmFp32Util,       nvml::kGpmFp16Util,
    nvml::kGpmIntegerUtil};
constexpr nvml::GpmMetricId kTraffic[] = {nvml::kGpmPcieTxPerSecond, nvml::kGpmPcieRxPerSecond,
                                          nvml::kGpmNvlinkTxPerSecond, nvml::kGpmNvlinkRxPerSecond};
static_assert(std::size(kShares) + std::size(kTraffic) <= nvml::kMostGpmMetrics);

void Add(CounterId id, int64_t value, std::vector<Reading>* readings) {
  readings->push_back({static_cast<uint32_t>(id), value});
}

std::string TextOf(const char* text, size_t most) { return {text, strnlen(text, most)}; }

// Values of fields are of the type that they name.
bool UnsignedOf(const nvml::FieldValue& field, uint64_t* value) {
  const auto as = [&](auto number) {
    std::memcpy(&number, field.value, sizeof number);
    *value = static_cast<uint64_t>(number);
    return true;
  };
  switch (field.type) {
    case nvml::kUnsignedInt:
      return as(unsigned{});
    case nvml::kUnsignedLong:
    case nvml::kUnsignedLongLong:
    case nvml::kSignedLongLong:
      return as(uint64_t{});
    case nvml::kUnsignedShort:
      return as(uint16_t{});
    default:
      return false;
  }
}

}  // namespace

void DeviceReader::NoteResult(const char* name, int result) {
  if (result == nvml::kSuccess) return;
  // Others may pass: a busy driver, a reset under way.
  if (IsAbsence(result) || result == nvml::kNoPermission || result == nvml::kInvalidArgument)
    refused_.emplace(name, result);
  if (told_.emplace(name, result).second) fresh_.emplace(name, result);
}

template <typename Function, typename... Arguments>
bool DeviceReader::Ask(const char* name, Function function, Arguments... arguments) {
  if (IsRefused(name)) return false;
  const int result = function == nullptr ? static_cast<int>(nvml::kFunctionNotFound)
                                         : function(device_, arguments...);
  NoteResult(name, result);
  return result == nvml::kSuccess;
}

DeviceReader::DeviceReader(const NvmlLibrary& library, unsigned index)
    : functions_(library.functions()) {
  identity_.index = index;
  const int result = functions_.device_by_index(index, &device_);
  NoteResult("nvmlDeviceGetHandleByIndex_v2", result);
  if (result != nvml::kSuccess) {
    device_ = nullptr;
    return;
  }
  char text[nvml::kNameBytes] = {};
  if (functions_.device_name(device_, text, sizeof text) == nvml::kSuccess)
    identity_.name = TextOf(text, sizeof text);
  char uuid[nvml::kUuidBytes] = {};
  if (functions_.device_uuid(device_, uuid, sizeof uuid) == nvml::kSuccess)
    identity_.uuid = TextOf(uuid, sizeof uuid);
  unsigned current = 0, pending = 0;
  identity_.is_mig = functions_.mig_mode != nullptr &&
                     functions_.mig_mode(device_, &current, &pending) == nvml::kSuccess &&
                     current == nvml::kMigEnabled;
  unsigned generation = 0, width = 0;
  if (functions_.max_pcie_generation != nullptr && functions_.max_pcie_width != nullptr &&
      functions_.max_pcie_generation(device_, &generation) == nvml::kSuccess &&
      functions_.max_pcie_width(device_, &width) == nvml::kSuccess) {
    identity_.pcie_generation = generation;
    identity_.pcie_width = width;
  }
  OpenGpm();
}

DeviceReader::~DeviceReader() {
  for (const nvml::GpmSample sample : samples_) {
    if (sample != nullptr) functions_.gpm_sample_free(sample);
  }
}

void DeviceReader::OpenGpm() {
  const nvml::Functions& f = functions_;
  if (f.gpm_sample_alloc == nullptr || f.gpm_sample_free == nullptr ||
      f.gpm_sample_get == nullptr || f.gpm_metrics_get == nullptr) {
    NoteResult("nvmlGpmQueryDeviceSupport", nvml::kFunctionNotFound);
    return;
  }
  nvml::GpmSupport support = {nvml::kGpmVersion, 0};
  if (!Ask("nvmlGpmQueryDeviceSupport", f.gpm_support, &support)) return;
  if (support.is_supported == 0) {
    NoteResult("nvmlGpmQueryDeviceSupport", nvml::kNotSupported);
    return;
  }
  for (nvml::GpmSample& sample : samples_) {
    const int result = f.gpm_sample_alloc(&sample);
    NoteResult("nvmlGpmSampleAlloc", result);
    if (result != nvml::kSuccess) {
      sample = nullptr;
      return;
    }
  }
  identity_.has_gpm = true;
}

void DeviceReader::Read(uint64_t now_ns, bool ask_slow, std::vector<Reading>* readings) {
  std::vector<Reading> shares;
  // First, so that its distance from the sample before is the period.
  const bool is_sampled = ReadGpm(now_ns, &shares);
  ReadLoad(readings);
  ReadClocks(readings);
  if (!has_gpm_traffic_ && ask_slow && (!identity_.has_gpm || is_sampled)) ReadPcie(readings);
  ReadFields(now_ns, readings);
  readings->insert(readings->end(), shares.begin(), shares.end());
}

void DeviceReader::ReadLoad(std::vector<Reading>* readings) {
  nvml::Utilization load = {};
  if (Ask("nvmlDeviceGetUtilizationRates", functions_.utilization, &load)) {
    Add(CounterId::kGpuUtilization, load.gpu, readings);
    Add(CounterId::kMemoryUtilization, load.memory, readings);
  }
  nvml::Memory memory = {};
  if (Ask("nvmlDeviceGetMemoryInfo", functions_.memory_info, &memory))
    Add(CounterId::kMemoryUsed, static_cast<int64_t>(memory.used), readings);
  unsigned value = 0;
  if (Ask("nvmlDeviceGetTemperature", functions_.temperature, nvml::kTemperatureGpu, &value))
    Add(CounterId::kTemperature, value, readings);
  if (Ask("nvmlDeviceGetPowerUsage", functions_.power_usage, &value))
    Add(CounterId::kPower, value, readings);
}

void DeviceReader::ReadClocks(std::vector<Reading>* readings) {
  unsigned value = 0;
  if (Ask("nvmlDeviceGetClockInfo:sm", functions_.clock_info, nvml::kClockSm, &value))
    Add(CounterId::kSmClock, value, readings);
  if (Ask("nvmlDeviceGetClockInfo:memory", functions_.clock_info, nvml::kClockMemory, &value))
    Add(CounterId::kMemoryClock, value, readings);
  unsigned long long reasons = 0;
  if (Ask("nvmlDeviceGetCurrentClocksEventReasons", functions_.clocks_event_reasons, &reasons))
    Add(CounterId::kClocksEventReasons, static_cast<int64_t>(reasons), readings);
}

// NVLink's running sums, of all links together, become what passed since the last time.
void DeviceReader::ReadFields(uint64_t now_ns, std::vector<Reading>* readings) {
  nvml::FieldValue fields[3] = {};
  fields[0].field = nvml::kFieldPowerInstant;
  fields[1].field = nvml::kFieldNvlinkTx;
  fields[2].field = nvml::kFieldNvlinkRx;
  fields[1].scope = fields[2].scope = nvml::kAllLinks;
  const int count = has_gpm_traffic_ ? 1 : 3;
  if (!Ask("nvmlDeviceGetFieldValues", functions_.field_values, count, fields)) return;
  uint64_t value = 0;
  if (fields[0].result == nvml::kSuccess && UnsignedOf(fields[0], &value))
    Add(CounterId::kPowerInstant, static_cast<int64_t>(value), readings);
  const double seconds = static_cast<double>(now_ns - fields_ns_) / kSecondNs;
  fields_ns_ = now_ns;
  for (int i = 0; i < count - 1; ++i) {
    const bool is_told =
        fields[1 + i].result == nvml::kSuccess && UnsignedOf(fields[1 + i], &value);
    if (is_told && has_nvlink_[i] && value >= nvlink_kib_[i] && seconds > 0) {
      const double bytes = static_cast<double>(value - nvlink_kib_[i]) * 1024.0;
      Add(i == 0 ? CounterId::kNvlinkTx : CounterId::kNvlinkRx, std::llround(bytes / seconds),
          readings);
    }
    has_nvlink_[i] = is_told;
    nvlink_kib_[i] = value;
  }
}

void DeviceReader::ReadPcie(std::vector<Reading>* readings) {
  pcie_turn_ ^= 1;
  const bool is_tx = pcie_turn_ == 1;
  unsigned kilobytes = 0;
  if (Ask(is_tx ? "nvmlDeviceGetPcieThroughput:tx" : "nvmlDeviceGetPcieThroughput:rx",
          functions_.pcie_throughput, is_tx ? nvml::kPcieTxBytes : nvml::kPcieRxBytes, &kilobytes))
    Add(is_tx ? CounterId::kPcieTx : CounterId::kPcieRx, int64_t{kilobytes} * 1000, readings);
}

// True where there were two samples to compare.
bool DeviceReader::ReadGpm(uint64_t now_ns, std::vector<Reading>* readings) {
  if (!identity_.has_gpm || (has_sample_ && now_ns - sampled_ns_ < kGpmPauseNs)) return false;
  const int next = 1 - newest_;
  if (!Ask("nvmlGpmSampleGet", functions_.gpm_sample_get, samples_[next])) {
    has_sample_ = false;
    identity_.has_gpm = !IsRefused("nvmlGpmSampleGet");
    return false;
  }
  const bool has_two = has_sample_;
  nvml::GpmMetricsGet query = {};
  query.version = nvml::kGpmVersion;
  query.first = samples_[newest_];
  query.second = samples_[next];
  newest_ = next;
  sampled_ns_ = now_ns;
  has_sample_ = true;
  if (!has_two) return false;
  for (const nvml::GpmMetricId metric : kShares) query.metrics[query.count++].metric = metric;
  for (const nvml::GpmMetricId metric : kTraffic) query.metrics[query.count++].metric = metric;
  const int result = functions_.gpm_metrics_get(&query);
  NoteResult("nvmlGpmMetricsGet", result);
  if (result != nvml::kSuccess) {
    identity_.has_gpm = !IsRefused("nvmlGpmMetricsGet");
    return false;
  }
  for (unsigned i = 0; i < query.count; ++i) {
    const nvml::GpmMetric& metric = query.metrics[i];
    if (metric.result != nvml::kSuccess || !std::isfinite(metric.value)) continue;
    const bool is_traffic = i >= std::size(kShares);
    if (is_traffic) has_gpm_traffic_ = true;
    readings->push_back({static_cast<uint32_t>(CounterId::kGpmFirst) + metric.metric,
                         std::llround(metric.value * (is_traffic ? kMebibyte : 1000.0))});
  }
  return true;
}

void DeviceReader::ReadProcesses(std::vector<ProcessUse>* uses) {
  nvml::ProcessInfo found[kMostProcesses];
  unsigned count = kMostProcesses;
  if (!Ask("nvmlDeviceGetComputeRunningProcesses_v3", functions_.compute_processes, &count, found))
    return;
  for (unsigned i = 0; i < count && i < kMostProcesses; ++i) {
    if (found[i].used_bytes != ~0ull)
      uses->push_back({static_cast<int32_t>(found[i].pid), found[i].used_bytes});
  }
}

std::map<std::string, int> DeviceReader::TakeRefusals() {
  std::map<std::string, int> taken;
  taken.swap(fresh_);
  return taken;
}

}  // namespace gpuprof::launcher
