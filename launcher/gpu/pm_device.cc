// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See pm_device.h.

#include "launcher/gpu/pm_device.h"

#include <algorithm>

#include "launcher/gpu/cupti_library.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

// What a sample takes in the hardware's buffer grows with the GPU's units and is told nowhere: room
// for this much each, several times the time between two decodings, and never beyond these.
constexpr uint64_t kSampleBytes = 64 << 10;
constexpr uint64_t kSpareDecodes = 4;
constexpr uint64_t kLeastBuffer = uint64_t{16} << 20, kMostBuffer = uint64_t{512} << 20;
// Samples in an image: twice what comes until it is decoded again.
constexpr uint64_t kLeastSamples = 64, kMostSamples = 16384;
// Beyond it an image has room for less, and is decoded several times.
constexpr size_t kMostImageBytes = size_t{64} << 20;
// Until it is measured.
constexpr uint64_t kSysclkMhz = 1000;
constexpr size_t kSamplesToCalibrate = 8;
// A buffer that is full without one sample in between is no buffer that is full.
constexpr unsigned kMostVainRestarts = 3;

}  // namespace

PmDevice::PmDevice(const cupti::Functions& functions, size_t index, uint64_t period_ns,
                   uint64_t decode_ns)
    : functions_(functions),
      index_(index),
      period_ns_(period_ns),
      decode_ns_(decode_ns),
      interval_(period_ns),
      config_(functions) {}

std::string PmDevice::Fault(const char* function, int result) const {
  return result == cupti::kSuccess ? "" : ExplainCupti(function, result);
}

std::string PmDevice::Configure() {
  auto chip = cupti::Make<cupti::GetChipNameParams>();
  chip.device_index = index_;
  std::string fault = Fault("cuptiDeviceGetChipName", functions_.get_chip_name(&chip));
  if (!fault.empty()) return fault;
  chip_ = chip.chip_name == nullptr ? "" : chip.chip_name;
  auto available = cupti::Make<cupti::GetCounterAvailabilityParams>();
  available.device_index = index_;
  const char* const function = "cuptiPmSamplingGetCounterAvailability";
  std::vector<uint8_t> availability;
  int result = functions_.get_counter_availability(&available);
  if (result == cupti::kSuccess) {
    availability.resize(available.image_size);
    available.image = availability.data();
    result = functions_.get_counter_availability(&available);
  }
  // It may fail while another session is active: whether that is in the way is told on enabling.
  if (result == cupti::kUnknown) availability.clear();
  if (result != cupti::kSuccess && result != cupti::kUnknown) return Fault(function, result);
  return config_.Make(chip_, availability);
}

int PmDevice::TrySetConfig() {
  const uint64_t samples = kSpareDecodes * decode_ns_ / period_ns_;
  auto set = cupti::Make<cupti::SetConfigParams>();
  set.object = object_;
  set.config_size = config_.image().size();
  set.config = config_.image().data();
  set.hardware_buffer_size = std::clamp(samples * kSampleBytes, kLeastBuffer, kMostBuffer);
  set.sampling_interval = interval_;
  set.trigger_mode = trigger_mode_;
  set.append_mode = cupti::kKeepOldest;
  const int result = functions_.set_config(&set);
  if (result != cupti::kInvalidParameter) return result;
  set.struct_size = cupti::kSetConfigSizeWithoutMode;
  return functions_.set_config(&set);
}

std::string PmDevice::SetConfig() {
  int result = TrySetConfig();
  const bool lacks_mode = result == cupti::kNotSupported || result == cupti::kInvalidParameter;
  if (lacks_mode && trigger_mode_ == cupti::kGpuTimeInterval) {
    trigger_mode_ = cupti::kGpuSysclkInterval;
    interval_ = std::max<uint64_t>(period_ns_ * kSysclkMhz / 1000, 1);
    result = TrySetConfig();
  }
  return Fault("cuptiPmSamplingSetConfig", result);
}

std::string PmDevice::MakeImage() {
  auto size = cupti::Make<cupti::GetCounterDataSizeParams>();
  size.object = object_;
  size.metric_names = config_.names();
  size.metric_count = config_.metrics().size();
  size.max_samples =
      static_cast<uint32_t>(std::clamp(2 * decode_ns_ / period_ns_, kLeastSamples, kMostSamples));
  const char* const function = "cuptiPmSamplingGetCounterDataSize";
  std::string fault = Fault(function, functions_.get_counter_data_size(&size));
  if (fault.empty() && size.counter_data_size > kMostImageBytes) {
    const uint64_t fitting = size.max_samples * kMostImageBytes / size.counter_data_size;
    size.max_samples = static_cast<uint32_t>(std::max(fitting, kLeastSamples));
    fault = Fault(function, functions_.get_counter_data_size(&size));
  }
  if (!fault.empty()) return fault;
  counter_data_.assign(size.counter_data_size, 0);
  return ResetImage();
}

std::string PmDevice::ResetImage() {
  auto make = cupti::Make<cupti::CounterDataImageInitializeParams>();
  make.object = object_;
  make.counter_data_size = counter_data_.size();
  make.counter_data = counter_data_.data();
  read_ = 0;
  return Fault("cuptiPmSamplingCounterDataImageInitialize",
               functions_.counter_data_image_initialize(&make));
}

std::string PmDevice::Start() {
  auto start = cupti::Make<cupti::ObjectParams>();
  start.object = object_;
  const int result = functions_.start(&start);
  is_started_ = result == cupti::kSuccess;
  is_first_ = true;
  return Fault("cuptiPmSamplingStart", result);
}

std::string PmDevice::Open() {
  std::string fault = Configure();
  if (!fault.empty()) return fault;
  auto enable = cupti::Make<cupti::EnableParams>();
  enable.device_index = index_;
  fault = Fault("cuptiPmSamplingEnable", functions_.enable(&enable));
  if (!fault.empty()) return fault;
  object_ = enable.object;
  fault = SetConfig();
  if (fault.empty()) fault = MakeImage();
  if (!fault.empty()) Close();
  return fault;
}

void PmDevice::Close() {
  if (object_ == nullptr) return;
  auto params = cupti::Make<cupti::ObjectParams>();
  params.object = object_;
  if (is_started_) functions_.stop(&params);
  functions_.disable(&params);
  is_started_ = false;
  object_ = nullptr;
}

std::string PmDevice::Restart(uint64_t interval) {
  auto stop = cupti::Make<cupti::ObjectParams>();
  stop.object = object_;
  std::string fault = Fault("cuptiPmSamplingStop", functions_.stop(&stop));
  is_started_ = !fault.empty();
  if (fault.empty() && interval != interval_) {
    interval_ = interval;
    fault = SetConfig();
  }
  if (fault.empty()) fault = ResetImage();
  return fault.empty() ? Start() : fault;
}

// What is complete in the image and was not read before.
std::string PmDevice::ReadImage(std::vector<PmSample>* samples) {
  auto info = cupti::Make<cupti::GetCounterDataInfoParams>();
  info.counter_data = counter_data_.data();
  info.counter_data_size = counter_data_.size();
  std::string fault =
      Fault("cuptiPmSamplingGetCounterDataInfo", functions_.get_counter_data_info(&info));
  for (; fault.empty() && read_ < info.completed_samples; ++read_) {
    auto times = cupti::Make<cupti::GetSampleInfoParams>();
    times.object = object_;
    times.counter_data = counter_data_.data();
    times.counter_data_size = counter_data_.size();
    times.sample_index = read_;
    fault = Fault("cuptiPmSamplingCounterDataGetSampleInfo", functions_.get_sample_info(&times));
    if (!fault.empty()) break;
    // It began before the counters did.
    const bool is_first = is_first_;
    is_first_ = false;
    if (is_first || times.end_timestamp <= times.start_timestamp) continue;
    PmSample sample = {times.start_timestamp, times.end_timestamp,
                       std::vector<double>(config_.metrics().size())};
    auto values = cupti::Make<cupti::HostEvaluateToGpuValuesParams>();
    values.object = config_.host();
    values.counter_data = counter_data_.data();
    values.counter_data_size = counter_data_.size();
    values.range_index = read_;
    values.metric_names = config_.names();
    values.metric_count = sample.values.size();
    values.values = sample.values.data();
    fault = Fault("cuptiProfilerHostEvaluateToGpuValues", functions_.host_evaluate(&values));
    if (fault.empty()) samples->push_back(std::move(sample));
  }
  // A sample that is not complete yet is completed where it stands.
  const bool is_empty = info.populated_samples <= info.completed_samples;
  const bool is_full = info.populated_samples >= info.total_samples;
  if (fault.empty() && read_ != 0 && (is_empty || is_full)) fault = ResetImage();
  return fault;
}

// The system clock's frequency, by how long its samples lasted.
std::string PmDevice::Calibrate(const std::vector<PmSample>& samples) {
  std::vector<uint64_t> lengths;
  for (const PmSample& sample : samples) lengths.push_back(sample.end - sample.start);
  std::nth_element(lengths.begin(), lengths.begin() + lengths.size() / 2, lengths.end());
  const uint64_t length = std::max<uint64_t>(lengths[lengths.size() / 2], 1);
  is_calibrated_ = true;
  const double scale = static_cast<double>(period_ns_) / static_cast<double>(length);
  if (scale > 0.9 && scale < 1.1) return "";
  return Restart(
      std::max<uint64_t>(static_cast<uint64_t>(static_cast<double>(interval_) * scale), 1));
}

std::string PmDevice::Decode(std::vector<PmSample>* samples, bool* overflow) {
  *overflow = false;
  const size_t before = samples->size();
  const uint64_t begin = proto::ReadClockNs(CLOCK_MONOTONIC);
  is_behind_ = true;
  // Others have their turn after that.
  while (is_behind_ && proto::ReadClockNs(CLOCK_MONOTONIC) - begin < decode_ns_) {
    auto decode = cupti::Make<cupti::DecodeDataParams>();
    decode.object = object_;
    decode.counter_data = counter_data_.data();
    decode.counter_data_size = counter_data_.size();
    const int result = functions_.decode_data(&decode);
    // The other way in which a full hardware buffer is told: nothing more comes until it begins
    // anew.
    const bool is_stuck = result == cupti::kOutOfMemory && vain_restarts_ < kMostVainRestarts;
    std::string fault = is_stuck ? "" : Fault("cuptiPmSamplingDecodeData", result);
    if (fault.empty()) fault = ReadImage(samples);
    if (!fault.empty()) return fault;
    *overflow = *overflow || is_stuck || decode.overflow != 0;
    is_behind_ = !is_stuck && decode.stop_reason == cupti::kCounterDataFull;
  }
  if (samples->size() != before) vain_restarts_ = 0;
  if (*overflow) {
    ++vain_restarts_;
    return Restart(interval_);
  }
  const bool has_enough = samples->size() - before >= kSamplesToCalibrate;
  return is_by_clock() && !is_calibrated_ && has_enough ? Calibrate(*samples) : "";
}

}  // namespace gpuprof::launcher
