// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// PM sampling of all GPUs that the environment shows to CUDA: from CUPTI's samples to rows of the
// counter trace, at the samples' own ends. What cannot be had is told once, with cause and remedy,
// and the rest goes on. One thread, in the sampler's process.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "launcher/gpu/counter_trace.h"
#include "launcher/gpu/cuda_devices.h"
#include "launcher/gpu/cupti_library.h"
#include "launcher/gpu/pm_clock.h"
#include "launcher/gpu/pm_device.h"

namespace gpuprof::launcher {

// How often samples are taken out of the hardware's buffer.
inline constexpr uint64_t kPmDecodeNs = 100'000'000;

// `what` is missing, and why.
using TellUser = std::function<void(const std::string& what, const std::string& why)>;

class PmSampling {
 public:
  // `tell` also keeps it in the trace; `keep` does only that.
  PmSampling(uint64_t period_ns, TellUser tell, std::function<void(const std::string&)> keep);

  // Loads CUPTI, initialises CUDA and begins, which takes half a second. `pids`: processes of the
  // program; `known`: the GPUs as NVML numbers them. `is_over` is asked between two GPUs.
  void Open(const std::vector<int>& pids, const std::vector<DeviceIdentity>& known,
            CounterTrace* trace, const std::function<bool()>& is_over);
  // Whether any GPU is sampled.
  bool is_open() const { return !devices_.empty(); }
  // What has come since the last time, into the trace.
  void Decode(CounterTrace* trace);
  // The last words for the trace.
  void Conclude(CounterTrace* trace);
  // Gives the counters back.
  void Close();

 private:
  struct Sampled {
    std::unique_ptr<PmDevice> device;
    unsigned index = 0;           // NVML's
    uint64_t last_end_ns = 0;     // of the sample before, CLOCK_MONOTONIC
    bool has_overflowed = false;  // and no sample has come since
    uint64_t strange_values = 0;
    std::vector<PmSample> samples;
  };
  std::string Initialize();
  void OpenDevices(const std::vector<CudaDevice>& found, const std::vector<DeviceIdentity>& known,
                   CounterTrace* trace, const std::function<bool()>& is_over);
  void AddRows(Sampled* sampled, uint64_t latest_ns, CounterTrace* trace);
  bool Place(Sampled* sampled, const PmSample& sample, uint64_t latest_ns, uint64_t* end_ns);
  static uint64_t ReadClock(const void* library);

  uint64_t period_ns_;
  TellUser tell_;
  std::function<void(const std::string&)> keep_;
  CuptiLibrary library_;
  bool is_initialized_ = false;
  PmClock clock_;
  uint64_t opened_ns_ = 0;
  std::vector<Sampled> devices_;
};

// Whether a value is a share in percent: counters of one sample do not all begin and end at once,
// so that it may be a little above 100. Pure.
bool IsPercent(double value);

// The folder of `path` lacks the library that CUPTI evaluates with.
bool LacksPerfLibrary(const std::string& path);

}  // namespace gpuprof::launcher
