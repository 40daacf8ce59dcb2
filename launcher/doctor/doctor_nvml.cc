// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See doctor_nvml.h.

#include "launcher/doctor/doctor_nvml.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>

#include "launcher/gpu/device_reader.h"
#include "launcher/gpu/nvml_library.h"
#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

using Level = Check::Level;

constexpr int kLimitMs = 5000;
constexpr unsigned kMostDevices = 64;

// One line each, a letter in front: what NvmlProbe has.
std::string LookFromInside() {
  NvmlLibrary library;
  const std::string fault = library.Open();
  std::ostringstream out;
  out << "p" << library.path() << "\nv" << library.driver_version() << "\n";
  unsigned count = 0;
  if (!fault.empty()) {
    out << "f" << fault << "\n";
  } else if (const int result = library.functions().device_count(&count); result != 0) {
    out << "f" << ExplainNvml("nvmlDeviceGetCount_v2", result) << "\n";
  }
  for (unsigned i = 0; i < std::min(count, kMostDevices); ++i) {
    DeviceReader reader(library, i);
    std::vector<Reading> readings;
    if (reader.is_open()) reader.Read(0, true, &readings);
    const DeviceIdentity& device = reader.identity();
    if (reader.is_open())
      out << "d" << device.index << ": " << device.name << (device.has_gpm ? " (GPM)" : "")
          << (device.is_mig ? " (MIG)" : "") << "\n";
    for (const auto& [function, refused] : reader.TakeRefusals()) {
      if (!IsAbsence(refused)) out << "r" << ExplainNvml(function, refused) << "\n";
    }
  }
  return out.str();
}

std::string ReadWithin(int fd, int limit_ms) {
  const auto now_ms = [] { return proto::ReadClockNs(CLOCK_MONOTONIC) / 1'000'000; };
  const uint64_t until = now_ms() + static_cast<uint64_t>(limit_ms);
  std::string text;
  char buffer[4096];
  for (uint64_t now = now_ms(); now < until; now = now_ms()) {
    pollfd wait = {fd, POLLIN, 0};
    if (poll(&wait, 1, static_cast<int>(until - now)) <= 0) continue;
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  return text;
}

void Parse(const std::string& text, NvmlProbe* probe) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string rest = line.substr(std::min<size_t>(line.size(), 1));
    std::vector<std::string>& refusals = probe->refusals;
    if (line[0] == 'p') probe->path = rest;
    if (line[0] == 'v') probe->driver_version = rest;
    if (line[0] == 'f') probe->fault = rest;
    if (line[0] == 'd') probe->devices.push_back(rest);
    if (line[0] == 'r' && std::find(refusals.begin(), refusals.end(), rest) == refusals.end())
      refusals.push_back(rest);
  }
}

std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : "; ") + word;
  return text;
}

}  // namespace

Check CheckNvml(const NvmlProbe& probe) {
  const char* const name = "GPU utilisation";
  if (!probe.is_here) {
    return {name, Level::kInfo,
            "libnvidia-ml.so.1 (NVML) was not found: hardware counters are not recorded. It comes "
            "with the driver; in a container, NVIDIA_DRIVER_CAPABILITIES must name utility",
            ""};
  }
  if (!probe.fault.empty()) {
    const size_t cut = probe.fault.find("; ");
    const bool has_fix = cut != std::string::npos;
    return {
        name, Level::kWarn, "no hardware counters: " + probe.fault.substr(0, cut),
        has_fix ? probe.fault.substr(cut + 2) : "run nvidia-smi; it should show the same fault"};
  }
  std::string found = "NVML " + probe.path;
  if (!probe.driver_version.empty()) found += ", driver " + probe.driver_version;
  found += ": " + (probe.devices.empty() ? "no GPU" : Joined(probe.devices));
  if (probe.refusals.empty()) return {name, Level::kOk, found, ""};
  return {name, Level::kWarn, found, Joined(probe.refusals)};
}

Check NvmlCheck() {
  NvmlProbe probe;
  probe.is_here = NvmlIsHere();
  int ends[2];
  if (!probe.is_here || pipe(ends) != 0) return CheckNvml(probe);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    // An empty part of LD_LIBRARY_PATH means the working directory, whoever filled it.
    if (chdir("/") != 0) _exit(1);
    const std::string text = LookFromInside();
    _exit(write(ends[1], text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string text;
  if (child > 0) text = ReadWithin(ends[0], kLimitMs);
  close(ends[0]);
  Parse(text, &probe);
  if (text.empty()) {
    probe.fault =
        "NVML crashed or did not answer in five seconds; dmesg may name an Xid error of the GPU";
    if (child > 0) kill(child, SIGKILL);
  }
  if (child > 0) waitpid(child, nullptr, text.empty() ? WNOHANG : 0);
  return CheckNvml(probe);
}

}  // namespace gpuprof::launcher
