// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// PM sampling of one GPU through CUPTI: its counters are this object's from Open() to Close(), and
// no other tool can have them. One thread, in the sampler's process. Times are CUPTI's, in ns.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/gpu/cupti_abi.h"
#include "launcher/gpu/pm_config.h"

namespace gpuprof::launcher {

struct PmSample {
  uint64_t start = 0;
  uint64_t end = 0;
  std::vector<double> values;  // one for each of metrics(); may be no number
};

class PmDevice {
 public:
  // `index`: CUDA's. `period_ns` and how often Decode() will be called, both in ns, decide on
  // sizes.
  PmDevice(const cupti::Functions& functions, size_t index, uint64_t period_ns, uint64_t decode_ns);
  ~PmDevice() { Close(); }
  PmDevice(const PmDevice&) = delete;
  PmDevice& operator=(const PmDevice&) = delete;

  // Takes and configures the counters. Empty, or cause and fix.
  std::string Open();
  // Begins to sample: its buffer fills from here on. Empty, or cause and fix.
  std::string Start();
  // Appends the samples that have come since, as many as there is time for. `overflow`: the
  // hardware buffer was full and later samples are missing; sampling has begun anew. Empty, or
  // cause and fix: then it is over.
  std::string Decode(std::vector<PmSample>* samples, bool* overflow);
  void Close();

  // Whether the last call left samples where they were.
  bool is_behind() const { return is_behind_; }
  size_t index() const { return index_; }
  const std::string& chip() const { return chip_; }
  const PmConfig& config() const { return config_; }
  // The GPU has no trigger by time: samples come by the system clock, whose frequency varies.
  bool is_by_clock() const { return trigger_mode_ == cupti::kGpuSysclkInterval; }

 private:
  std::string Fault(const char* function, int result) const;
  std::string Configure();
  std::string SetConfig();
  int TrySetConfig();
  std::string MakeImage();
  std::string Restart(uint64_t interval);
  std::string ResetImage();
  std::string ReadImage(std::vector<PmSample>* samples);
  std::string Calibrate(const std::vector<PmSample>& samples);

  const cupti::Functions& functions_;
  size_t index_;
  uint64_t period_ns_;
  uint64_t decode_ns_;
  uint64_t interval_;  // in the trigger's unit
  int trigger_mode_ = cupti::kGpuTimeInterval;
  std::string chip_;
  PmConfig config_;
  cupti::PmSamplingObject object_ = nullptr;
  bool is_started_ = false;
  bool is_first_ = true;  // the next sample is the first since the start
  bool is_calibrated_ = false;
  unsigned vain_restarts_ = 0;  // since the last sample
  bool is_behind_ = false;
  std::vector<uint8_t> counter_data_;
  size_t read_ = 0;  // samples of the image that were read
};

}  // namespace gpuprof::launcher
