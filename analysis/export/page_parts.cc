// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See page_parts.h.

#include "analysis/export/page_parts.h"

#include <algorithm>
#include <set>

namespace gpuprof::analysis {
namespace {

// Most parts of each kind: more would take long, and much room.
constexpr size_t kMostProcesses = 16, kMostDevices = 16, kMostSteps = 8;

// Returns the devices of the process that did work.
std::set<uint32_t> DevicesOf(const Process& process) {
  std::set<uint32_t> devices;
  for (const Track& track : process.tracks) {
    if (track.is_stream && track.device != kNoCudaId) devices.insert(track.device);
  }
  return devices;
}

void AddProcesses(const Trace& trace, std::vector<PagePart>* parts) {
  std::vector<int32_t> pids;
  for (const Process& process : trace.processes) {
    const bool is_new = std::find(pids.begin(), pids.end(), process.pid) == pids.end();
    if (process.rows != 0 && process.pid != 0 && is_new) pids.push_back(process.pid);
  }
  if (pids.size() < 2) return;
  pids.resize(std::min(pids.size(), kMostProcesses));
  for (const int32_t pid : pids) {
    PagePart& part = parts->emplace_back();
    part.name = "pid=" + std::to_string(pid);
    part.options.pid = pid;
  }
}

// Where each process has one device, the processes are the parts.
void AddDevices(const Trace& trace, std::vector<PagePart>* parts) {
  std::set<uint32_t> devices;
  bool has_many = false;
  for (const Process& process : trace.processes) {
    const std::set<uint32_t> of_process = DevicesOf(process);
    has_many = has_many || of_process.size() > 1;
    devices.insert(of_process.begin(), of_process.end());
  }
  if (!has_many || devices.size() > kMostDevices) return;
  for (const uint32_t device : devices) {
    PagePart& part = parts->emplace_back();
    part.name = "device=" + std::to_string(device);
    part.options.devices = {device};
  }
}

void AddSteps(const std::vector<WantedStep>& steps, std::vector<PagePart>* parts) {
  const size_t most = parts->size() + kMostSteps;
  for (const WantedStep& step : steps) {
    if (step.why.empty() || parts->size() == most) return;
    PagePart& part = parts->emplace_back();
    part.name = "step=" + std::to_string(step.number);
    part.words = step.Words();
    part.window = step.window;
    part.options.steps = {step.number, step.number};
  }
}

}  // namespace

std::vector<PagePart> PagePartsOf(const Trace& trace, const std::vector<WantedStep>& steps) {
  std::vector<PagePart> parts;
  AddProcesses(trace, &parts);
  AddDevices(trace, &parts);
  AddSteps(steps, &parts);
  return parts;
}

}  // namespace gpuprof::analysis
