// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See op_stats.h.

#include "analysis/xprof/op_stats.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/xprof/grouping.h"
#include "analysis/xprof/step_events.h"

namespace gpuprof::analysis::xprof {
namespace {

// Repeated ones are said once.
std::vector<std::string> Distinct(const std::vector<std::string>& texts) {
  std::vector<std::string> found;
  std::set<std::string_view> seen;
  for (const std::string& text : texts)
    if (seen.insert(text).second) found.push_back(text);
  return found;
}

void SetEnvironment(Space* space, OpStats* stats) {
  stats->hostnames.insert(space->host.empty() ? "localhost" : space->host);
  stats->tasks = 1;
  stats->errors = Distinct(space->errors);
  stats->warnings = Distinct(space->warnings);
  const std::vector<Plane*> gpus = space->PlanesWithPrefix(kGpuPrefix);
  if (gpus.empty()) {
    stats->device_type = "CPU";
    return;
  }
  stats->device_type = DeviceType(*gpus.front());
  stats->device_cores = static_cast<uint32_t>(gpus.size());
  stats->hardware = Hardware::kGpu;
  stats->peaks = PeaksOf(*gpus.front());
  stats->has_peaks = true;
}

void SetSteps(Space* space, const Plane* host, OpStats* stats) {
  const bool has_device = stats->hardware == Hardware::kGpu;
  StepEvents steps;
  if (has_device) {
    steps = StepsOfGpus(space);
  } else if (host != nullptr) {
    steps = StepsOfHost(*host);
  }
  Sweep(&steps);
  stats->steps = MakeStepDb(steps, has_device);
  for (const auto& [group, details] : steps) {
    for (const StepSpan& part : details.spans) {
      if (part.type == StepTime::kDeviceCompute32) stats->compute_32bit_ps += part.span.duration;
      if (part.type == StepTime::kDeviceCompute16) stats->compute_16bit_ps += part.span.duration;
    }
  }
}

// Counts the events that XProf takes for requests of a server.
uint64_t RequestsIn(const Plane& host) {
  const auto is_request = [](std::string_view name) {
    return name == "BatchingSessionRun" || name == "SessionRun" || name == "RunGraph" ||
           name == "TfrtModelRun" || name == "ServingModelRun" ||
           name.starts_with("ModelServerRequest_");
  };
  uint64_t count = 0;
  for (const Line& line : host.lines) {
    for (const Event& event : line.events) {
      const Stat* const root = host.Find(event, StatKey::kRoot);
      const bool is_own = root != nullptr && root->Signed() == -1;
      if (event.has_group && (is_own || is_request(host.names[event.name].name))) ++count;
    }
  }
  return count;
}

double UtilizationOf(const Plane& host, StatKey key) {
  const Stat* const stat = host.Find(key);
  return stat == nullptr ? 0 : stat->Double();
}

}  // namespace

Result<OpStats> StatsOfHost(Space* space) {
  if (!space->PlanesWithPrefix(kTpuPrefix).empty()) {
    return Unreadable(
        "the file has work of a TPU. XProf's pages of TPUs are not covered, only those of GPUs and "
        "CPUs; open the file with xprof itself");
  }
  if (Error error = GroupEvents(space)) return error;
  OpStats stats;
  SetEnvironment(space, &stats);
  HloPrograms programs;
  programs.Read(*space);
  stats.is_training = programs.is_training();
  stats.program_names = programs.Names();
  KernelReports kernels;
  for (const Plane* gpu : space->PlanesWithPrefix(kGpuPrefix)) {
    stats.device_ops.Combine(OpsOfGpu(*gpu, programs));
    AddKernels(*gpu, programs, &kernels);
  }
  stats.kernels = LongestOf(kernels);
  const Plane* const host = space->FindPlane(kHostPlane);
  if (host != nullptr) {
    stats.host_ops = OpsOfHost(*host);
    stats.requests = RequestsIn(*host);
    stats.mxu_percent = UtilizationOf(*host, StatKey::kMxuUtilization);
    stats.hbm_percent = UtilizationOf(*host, StatKey::kHbmUtilization);
  }
  SetSteps(space, host, &stats);
  return stats;
}

OpStats CombineHosts(std::vector<OpStats>&& hosts) {
  if (hosts.size() == 1) return std::move(hosts.front());
  OpStats all;
  const bool has_device = std::any_of(hosts.begin(), hosts.end(), [](const OpStats& host) {
    return host.hardware == Hardware::kGpu;
  });
  std::map<uint32_t, const StepDb*> steps;
  for (uint32_t i = 0; i < hosts.size(); ++i) {
    const OpStats& host = hosts[i];
    // A host without a device beside others that have one only coordinates.
    if (host.hardware == Hardware::kGpu || !has_device) steps[i] = &host.steps;
    all.hostnames.insert(host.hostnames.begin(), host.hostnames.end());
    all.tasks += host.tasks;
    if (host.device_type != "CPU" || all.device_type.empty()) all.device_type = host.device_type;
    all.device_cores += host.device_cores;
    all.hardware = std::max(all.hardware, host.hardware);
    all.is_training = host.is_training;
    all.program_names.insert(host.program_names.begin(), host.program_names.end());
    if (host.peaks.teraflops > 0) all.peaks.teraflops = host.peaks.teraflops;
    if (host.has_peaks && !all.has_peaks) {
      all.peaks.memory_gigabytes = host.peaks.memory_gigabytes;
      all.peaks.shared_gigabytes = host.peaks.shared_gigabytes;
      all.has_peaks = true;
    }
    all.host_ops.Combine(host.host_ops);
    all.device_ops.Combine(host.device_ops);
    all.compute_16bit_ps += host.compute_16bit_ps;
    all.compute_32bit_ps += host.compute_32bit_ps;
    all.kernels.insert(all.kernels.end(), host.kernels.begin(), host.kernels.end());
    all.errors.insert(all.errors.end(), host.errors.begin(), host.errors.end());
    all.warnings.insert(all.warnings.end(), host.warnings.begin(), host.warnings.end());
    all.requests += host.requests;
    all.mxu_percent += host.mxu_percent / static_cast<double>(hosts.size());
    all.hbm_percent += host.hbm_percent / static_cast<double>(hosts.size());
  }
  all.steps = CommonSteps(steps);
  KeepLongest(&all.kernels);
  return all;
}

}  // namespace gpuprof::analysis::xprof
