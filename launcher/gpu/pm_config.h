// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which metrics of PM sampling a chip gives in a single pass, and the configuration that asks for
// them: CUPTI's host side, which needs no GPU. One thread.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/gpu/counters.h"
#include "launcher/gpu/cupti_abi.h"

namespace gpuprof::launcher {

struct PmMetric {
  CounterId counter;
  const char* name;  // CUPTI's
};

class PmConfig {
 public:
  explicit PmConfig(const cupti::Functions& functions) : functions_(functions) {}
  ~PmConfig();
  PmConfig(const PmConfig&) = delete;
  PmConfig& operator=(const PmConfig&) = delete;

  // `availability`: of cuptiPmSamplingGetCounterAvailability, or empty. Empty, or cause and fix:
  // then the chip gives none at all.
  std::string Make(const std::string& chip, const std::vector<uint8_t>& availability);

  // In the order in which values are evaluated.
  const std::vector<PmMetric>& metrics() const { return metrics_; }
  // The names of the same.
  const char** names() { return names_.data(); }
  const std::vector<uint8_t>& image() const { return image_; }
  cupti::HostObject host() const { return host_; }
  // What is left out, each with why: "dram_read (this chip does not have it)".
  const std::vector<std::string>& left_out() const { return left_out_; }

 private:
  // The configuration of these, with a host object of its own: one that has refused a metric
  // refuses all that come later.
  int Try(const std::vector<PmMetric>& metrics);
  void Forget();

  const cupti::Functions& functions_;
  std::string chip_;
  std::vector<uint8_t> availability_;
  std::vector<PmMetric> metrics_;
  std::vector<const char*> names_;
  std::vector<uint8_t> image_;
  std::vector<std::string> left_out_;
  cupti::HostObject host_ = nullptr;
  const char* failed_ = "";  // the function that refused last
};

}  // namespace gpuprof::launcher
