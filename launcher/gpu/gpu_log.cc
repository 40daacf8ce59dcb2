// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See gpu_log.h.

#include "launcher/gpu/gpu_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "launcher/gpu/nvml_abi.h"

namespace gpuprof::launcher {
namespace {

struct LogColumn {
  const char* header;
  // Of CounterTable(); the first that the device gave counts.
  uint32_t counters[2];
  // Shown: value / divisor with so many decimals and the unit behind; decimals -1: a bit mask.
  double divisor;
  int decimals;
  const char* unit;
};

constexpr uint32_t Of(CounterId id) { return static_cast<uint32_t>(id); }
constexpr uint32_t Of(nvml::GpmMetricId metric) { return Of(CounterId::kGpmFirst) + metric; }

constexpr double kMebibyte = 1024.0 * 1024.0;
constexpr LogColumn kColumns[] = {
    {"utilization.gpu [%]", {Of(CounterId::kGpuUtilization)}, 1, 0, " %"},
    {"utilization.memory [%]", {Of(CounterId::kMemoryUtilization)}, 1, 0, " %"},
    {"memory.used [MiB]", {Of(CounterId::kMemoryUsed)}, kMebibyte, 0, " MiB"},
    {"temperature.gpu", {Of(CounterId::kTemperature)}, 1, 0, ""},
    {"power.draw [W]", {Of(CounterId::kPower)}, 1000, 2, " W"},
    {"power.draw.instant [W]", {Of(CounterId::kPowerInstant)}, 1000, 2, " W"},
    {"clocks.current.sm [MHz]", {Of(CounterId::kSmClock)}, 1, 0, " MHz"},
    {"clocks.current.memory [MHz]", {Of(CounterId::kMemoryClock)}, 1, 0, " MHz"},
    {"clocks_event_reasons.active", {Of(CounterId::kClocksEventReasons)}, 1, -1, ""},
    {"pcie.tx [KB/s]", {Of(nvml::kGpmPcieTxPerSecond), Of(CounterId::kPcieTx)}, 1e3, 0, " KB/s"},
    {"pcie.rx [KB/s]", {Of(nvml::kGpmPcieRxPerSecond), Of(CounterId::kPcieRx)}, 1e3, 0, " KB/s"},
    {"nvlink.tx [KB/s]",
     {Of(nvml::kGpmNvlinkTxPerSecond), Of(CounterId::kNvlinkTx)},
     1e3,
     0,
     " KB/s"},
    {"nvlink.rx [KB/s]",
     {Of(nvml::kGpmNvlinkRxPerSecond), Of(CounterId::kNvlinkRx)},
     1e3,
     0,
     " KB/s"},
    {"gpm.sm_active [%]", {Of(nvml::kGpmSmUtil)}, 1000, 1, " %"},
    {"gpm.sm_occupancy [%]", {Of(nvml::kGpmSmOccupancy)}, 1000, 1, " %"},
    {"gpm.tensor_active [%]", {Of(nvml::kGpmAnyTensorUtil)}, 1000, 1, " %"},
    {"gpm.dram_active [%]", {Of(nvml::kGpmDramBandwidthUtil)}, 1000, 1, " %"},
    {"gpm.fp64_active [%]", {Of(nvml::kGpmFp64Util)}, 1000, 1, " %"},
    {"gpm.fp32_active [%]", {Of(nvml::kGpmFp32Util)}, 1000, 1, " %"},
    {"gpm.fp16_active [%]", {Of(nvml::kGpmFp16Util)}, 1000, 1, " %"},
};

const Reading* Find(const LogColumn& column, const std::vector<Reading>& readings) {
  for (const uint32_t counter : column.counters) {
    for (const Reading& reading : readings) {
      if (counter != 0 && reading.counter == counter) return &reading;
    }
  }
  return nullptr;
}

std::string Cell(const LogColumn& column, const std::vector<Reading>& readings) {
  const Reading* reading = Find(column, readings);
  if (reading == nullptr) return "[N/A]";
  char text[64];
  if (column.decimals < 0) {
    std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(reading->value));
  } else {
    std::snprintf(text, sizeof text, "%.*f%s", column.decimals,
                  static_cast<double>(reading->value) / column.divisor, column.unit);
  }
  return text;
}

bool WriteWhole(int fd, const std::string& text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    done += static_cast<size_t>(wrote);
  }
  return true;
}

}  // namespace

void GpuLog::Close() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::string GpuLog::Open(const std::string& path) {
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  if (fd_ >= 0) return "";
  return "--gpu-log: " + path + " cannot be written: " + strerror(errno) +
         "; name a file in an existing folder that you own";
}

bool GpuLog::WriteHeader() const { return WriteWhole(fd_, GpuLogHeader()); }

bool GpuLog::WriteLine(const DeviceIdentity& device, int64_t realtime_ns,
                       const std::vector<Reading>& readings) const {
  return WriteWhole(fd_, GpuLogLine(device, realtime_ns, readings));
}

std::string GpuLogHeader() {
  std::string text = "timestamp, index, name, uuid";
  for (const LogColumn& column : kColumns) text += std::string(", ") + column.header;
  return text + "\n";
}

std::string GpuLogLine(const DeviceIdentity& device, int64_t realtime_ns,
                       const std::vector<Reading>& readings) {
  const time_t seconds = realtime_ns / 1'000'000'000;
  tm local = {};
  localtime_r(&seconds, &local);
  char time[64];
  const size_t length = std::strftime(time, sizeof time, "%Y/%m/%d %H:%M:%S", &local);
  std::snprintf(time + length, sizeof time - length, ".%03d",
                static_cast<int>(realtime_ns / 1'000'000 % 1000));
  std::string text = std::string(time) + ", " + std::to_string(device.index) + ", " +
                     (device.name.empty() ? "[N/A]" : device.name) + ", " +
                     (device.uuid.empty() ? "[N/A]" : device.uuid);
  for (const LogColumn& column : kColumns) text += ", " + Cell(column, readings);
  return text + "\n";
}

}  // namespace gpuprof::launcher
