// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See pm_sampling.h.

#include "launcher/gpu/pm_sampling.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "launcher/gpu/cuda_devices.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

constexpr char kNothing[] = "no hardware counters by PM sampling";
constexpr double kMostPercent = 110;
// What two clocks and their conversion may differ by.
constexpr uint64_t kSlackNs = 2'000'000;

uint64_t Now() { return proto::ReadClockNs(CLOCK_MONOTONIC); }

// GPUs by what is to be said of them: one line for all that are alike.
using ByWords = std::map<std::string, std::string>;

void Append(unsigned index, const std::string& words, ByWords* all) {
  std::string& list = (*all)[words];
  list += (list.empty() ? "" : ", ") + std::to_string(index);
}

// NVML's number. False: it is not known, and one is given that no other GPU has.
bool FindIndex(const CudaDevice& device, const std::vector<DeviceIdentity>& known,
               unsigned* index) {
  unsigned highest = 0;
  for (const DeviceIdentity& each : known) {
    highest = std::max(highest, each.index + 1);
    if (each.uuid.empty() || (each.uuid != device.uuid && each.uuid != device.whole_uuid)) continue;
    *index = each.index;
    return true;
  }
  *index = highest + static_cast<unsigned>(device.index);
  return false;
}

}  // namespace

bool IsPercent(double value) { return std::isfinite(value) && value >= 0 && value <= kMostPercent; }

bool LacksPerfLibrary(const std::string& path) {
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  return !folder.empty() && access((folder + "libnvperf_host.so").c_str(), R_OK) != 0;
}

PmSampling::PmSampling(uint64_t period_ns, TellUser tell,
                       std::function<void(const std::string&)> keep)
    : period_ns_(period_ns), tell_(std::move(tell)), keep_(std::move(keep)) {}

uint64_t PmSampling::ReadClock(const void* library) {
  uint64_t time = 0;
  const auto* cupti = static_cast<const CuptiLibrary*>(library);
  return cupti->functions().get_timestamp(&time) == cupti::kSuccess ? time : 0;
}

std::string PmSampling::Initialize() {
  auto begin = cupti::Make<cupti::ProfilerInitializeParams>();
  const int result = library_.functions().profiler_initialize(&begin);
  is_initialized_ = result == cupti::kSuccess;
  if (is_initialized_) return "";
  std::string fault = ExplainCupti("cuptiProfilerInitialize", result);
  if (LacksPerfLibrary(library_.path()))
    fault += "; there is no libnvperf_host.so next to " + library_.path() +
             ", which CUPTI needs: install the whole CUPTI package";
  return fault;
}

void PmSampling::Open(const std::vector<int>& pids, const std::vector<DeviceIdentity>& known,
                      CounterTrace* trace, const std::function<bool()>& is_over) {
  std::vector<CudaDevice> found;
  std::string fault = library_.Open(pids, CurrentEnvironment());
  if (fault.empty()) fault = ListCudaDevices(&found);
  if (fault.empty()) fault = Initialize();
  if (!fault.empty()) return tell_(kNothing, fault);
  opened_ns_ = Now();
  if (!ReadPmClock(ReadClock, &library_, &clock_))
    return tell_(kNothing, "cuptiGetTimestamp returns no time; report this as a fault of gpuprof");
  OpenDevices(found, known, trace, is_over);
}

void PmSampling::OpenDevices(const std::vector<CudaDevice>& found,
                             const std::vector<DeviceIdentity>& known, CounterTrace* trace,
                             const std::function<bool()>& is_over) {
  ByWords refused, left_out, by_clock;
  // Each takes its time, and what is started fills its buffer: all are opened first.
  std::vector<std::pair<const CudaDevice*, Sampled>> opened;
  for (const CudaDevice& each : found) {
    if (is_over()) return tell_(kNothing, "the command ended before sampling could start");
    Sampled sampled;
    if (!FindIndex(each, known, &sampled.index))
      keep_("the number of GPU " + std::to_string(sampled.index) + " (" + each.uuid +
            ") is not NVML's number, because NVML does not report that number: it is the " +
            std::to_string(each.index) +
            ". GPU that CUDA shows in this environment, counted from 0");
    sampled.device =
        std::make_unique<PmDevice>(library_.functions(), each.index, period_ns_, kPmDecodeNs);
    const std::string refusal = sampled.device->Open();
    if (!refusal.empty()) {
      Append(sampled.index, refusal, &refused);
    } else {
      opened.emplace_back(&each, std::move(sampled));
    }
  }
  for (auto& [cuda, sampled] : opened) {
    const CudaDevice& each = *cuda;
    const std::string refusal = sampled.device->Start();
    if (!refusal.empty()) {
      Append(sampled.index, refusal, &refused);
      continue;
    }
    std::string words;
    for (const std::string& metric : sampled.device->config().left_out())
      words += (words.empty() ? "" : ", ") + metric;
    if (!words.empty()) Append(sampled.index, words + " on " + sampled.device->chip(), &left_out);
    if (sampled.device->is_by_clock())
      Append(sampled.index,
             "this GPU has no time trigger, so the system clock triggers the samples; its "
             "frequency varies, and the times of the samples are measured",
             &by_clock);
    DeviceIdentity identity;
    identity.index = sampled.index;
    identity.name = each.name;
    identity.uuid = each.uuid;
    trace->AddPmDevice(identity);
    devices_.push_back(std::move(sampled));
  }
  for (const auto& [words, list] : refused) tell_(std::string(kNothing) + " of GPU " + list, words);
  for (const auto& [words, list] : left_out)
    tell_("hardware counters that PM sampling of GPU " + list + " leaves out", words);
  for (const auto& [words, list] : by_clock) keep_("PM sampling of GPU " + list + ": " + words);
  if (is_open())
    keep_("PM sampling through " + library_.path() + ", API version " +
          std::to_string(library_.api_version()));
}

// True: the sample's end on CLOCK_MONOTONIC, not before the end of the one before.
bool PmSampling::Place(Sampled* sampled, const PmSample& sample, uint64_t latest_ns,
                       uint64_t* end_ns) {
  const uint64_t from = sampled->last_end_ns == 0 ? opened_ns_ : sampled->last_end_ns;
  if (!clock_.ToMonotonic(sample.end, from - kSlackNs, latest_ns + kSlackNs, end_ns)) return false;
  *end_ns = std::max(*end_ns, sampled->last_end_ns);
  return true;
}

void PmSampling::AddRows(Sampled* sampled, uint64_t latest_ns, CounterTrace* trace) {
  const std::vector<PmMetric>& metrics = sampled->device->config().metrics();
  uint64_t lost = 0;
  for (const PmSample& sample : sampled->samples) {
    uint64_t end_ns = 0;
    if (!Place(sampled, sample, latest_ns, &end_ns)) {
      ++lost;
      tell_(
          "samples of hardware counters of GPU " + std::to_string(sampled->index) + " are left out",
          "their times are not on CUPTI's clock, or that clock was set");
      continue;
    }
    if (sampled->has_overflowed) {
      // What was not taken until it had begun anew, by the time that is missing.
      const uint64_t start_ns = end_ns - std::min(sample.end - sample.start, end_ns);
      const uint64_t since = sampled->last_end_ns == 0 ? opened_ns_ : sampled->last_end_ns;
      lost += std::max<uint64_t>(start_ns > since ? (start_ns - since) / period_ns_ : 0, 1);
      sampled->has_overflowed = false;
    }
    sampled->last_end_ns = end_ns;
    std::vector<Reading> readings;
    for (size_t i = 0; i < metrics.size(); ++i) {
      if (!IsPercent(sample.values[i])) {
        ++sampled->strange_values;
        continue;
      }
      readings.push_back(
          {static_cast<uint32_t>(metrics[i].counter), std::llround(sample.values[i] * 1000)});
    }
    trace->AddPmRows(sampled->index, end_ns, readings);
  }
  sampled->samples.clear();
  if (lost != 0) trace->AddLoss(proto::LOSS_COUNTER_SAMPLE, lost);
}

void PmSampling::Decode(CounterTrace* trace) {
  std::vector<bool> overflowed(devices_.size());
  std::vector<bool> ended(devices_.size());
  for (size_t i = 0; i < devices_.size(); ++i) {
    bool overflow = false;
    const std::string fault = devices_[i].device->Decode(&devices_[i].samples, &overflow);
    overflowed[i] = overflow;
    ended[i] = !fault.empty();
    const std::string gpu = std::to_string(devices_[i].index);
    if (ended[i]) tell_("PM sampling of hardware counters of GPU " + gpu + " ends", fault);
    if (overflow)
      tell_("samples of hardware counters of GPU " + gpu + " are missing",
            "PM sampling's hardware buffer was full; sample less often: a longer --gpu-pm");
  }
  ReadPmClock(ReadClock, &library_, &clock_);
  const uint64_t now = Now();
  for (size_t i = devices_.size(); i-- > 0;) {
    AddRows(&devices_[i], now, trace);
    devices_[i].has_overflowed = devices_[i].has_overflowed || overflowed[i];
    if (!ended[i]) continue;
    if (devices_[i].has_overflowed) trace->AddLoss(proto::LOSS_COUNTER_SAMPLE, 1);
    devices_.erase(devices_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void PmSampling::Conclude(CounterTrace* trace) {
  for (Sampled& sampled : devices_) {
    if (sampled.has_overflowed) trace->AddLoss(proto::LOSS_COUNTER_SAMPLE, 1);
    if (sampled.device->is_behind()) {
      const uint64_t since = std::max(sampled.last_end_ns, opened_ns_);
      const uint64_t now = std::max(Now(), since);  // clocks differ a little
      trace->AddLoss(proto::LOSS_COUNTER_SAMPLE, (now - since) / period_ns_ + 1);
      tell_("samples of hardware counters of GPU " + std::to_string(sampled.index) +
                " are missing at the end",
            "they came faster than gpuprof can decode them; sample less often: a longer --gpu-pm");
    }
    if (sampled.strange_values != 0)
      keep_("PM sampling of GPU " + std::to_string(sampled.index) + ": " +
            std::to_string(sampled.strange_values) +
            " values were not percentages of a peak and are left out");
  }
}

void PmSampling::Close() {
  devices_.clear();
  if (!is_initialized_) return;
  is_initialized_ = false;
  auto end = cupti::Make<cupti::ProfilerDeInitializeParams>();
  library_.functions().profiler_deinitialize(&end);
}

}  // namespace gpuprof::launcher
