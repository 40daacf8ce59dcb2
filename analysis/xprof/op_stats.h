// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What all pages are made of: steps, operations and kernels of a run, of one host or of several.
// One thread.

#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "analysis/base/result.h"
#include "analysis/xprof/device_peaks.h"
#include "analysis/xprof/kernel_reports.h"
#include "analysis/xprof/op_metrics.h"
#include "analysis/xprof/space.h"
#include "analysis/xprof/step_db.h"

namespace gpuprof::analysis::xprof {

enum class Hardware : uint8_t { kCpuOnly = 1, kGpu = 2 };

struct OpStats {
  std::set<std::string> hostnames;
  uint32_t tasks = 0;
  uint32_t device_cores = 0;
  std::string device_type;
  Hardware hardware = Hardware::kCpuOnly;
  bool is_training = false;
  DevicePeaks peaks;
  bool has_peaks = false;
  OpMetricsDb host_ops, device_ops;
  std::map<uint64_t, std::string> program_names;  // of compiled programs
  uint64_t compute_16bit_ps = 0, compute_32bit_ps = 0;
  StepDb steps;
  std::vector<KernelReport> kernels;
  std::vector<std::string> errors, warnings;
  double mxu_percent = 0, hbm_percent = 0;
  uint64_t requests = 0;  // events of a server that answers requests
};

// Makes the statistics of one host. Groups the events of the space. An Error: the space is one that
// these pages do not cover.
Result<OpStats> StatsOfHost(Space* space);
// Combines the hosts of a run, in the order of their files.
OpStats CombineHosts(std::vector<OpStats>&& hosts);

}  // namespace gpuprof::analysis::xprof
