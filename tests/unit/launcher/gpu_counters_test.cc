// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The pure parts of hardware counters: the log's lines, what refusals mean, doctor's check.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "launcher/base/values.h"
#include "launcher/doctor/doctor_nvml.h"
#include "launcher/gpu/counters.h"
#include "launcher/gpu/gpu_log.h"
#include "launcher/gpu/nvml_library.h"

namespace gpuprof::launcher {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;
using Level = Check::Level;

TEST(GpuLog, LinesHaveACellForEachColumn) {
  setenv("TZ", "UTC", 1);
  tzset();
  DeviceIdentity device;
  device.index = 3;
  device.name = "NVIDIA H200";
  const std::vector<Reading> readings = {
      {static_cast<uint32_t>(CounterId::kGpuUtilization), 97},
      {static_cast<uint32_t>(CounterId::kPower), 71'304},
      {static_cast<uint32_t>(CounterId::kClocksEventReasons), 0x24},
      {static_cast<uint32_t>(CounterId::kPcieTx), 5'000'000},
      {static_cast<uint32_t>(CounterId::kGpmFirst) + 20, 7'000'000},
      {static_cast<uint32_t>(CounterId::kGpmFirst) + 5, 33'333}};
  const std::string header = GpuLogHeader();
  const std::string line = GpuLogLine(device, 1'700'000'000'123'456'789, readings);
  EXPECT_EQ(std::count(header.begin(), header.end(), ','),
            std::count(line.begin(), line.end(), ','));
  EXPECT_THAT(line, StartsWith("2023/11/14 22:13:20.123, 3, NVIDIA H200, [N/A], 97 %, [N/A], "));
  EXPECT_THAT(line, HasSubstr(", 71.30 W, "));
  EXPECT_THAT(line, HasSubstr(", 0x0000000000000024, "));
  EXPECT_THAT(line, HasSubstr(", 7000 KB/s, ")) << "GPM's traffic goes before NVML's";
  EXPECT_THAT(line, HasSubstr(", 33.3 %, "));
  EXPECT_THAT(line, EndsWith("\n"));
}

TEST(Counters, IdsAndNamesTellThemApart) {
  std::set<uint32_t> ids;
  std::set<std::pair<std::string, std::string>> names;
  for (const CounterInfo& info : CounterTable()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.name;
    EXPECT_TRUE(names.insert({info.source, info.name}).second) << info.name;
    EXPECT_LT(info.id, static_cast<uint32_t>(CounterId::kProcessFirst));
    EXPECT_GE(info.divisor, 1u);
  }
}

TEST(Nvml, RefusalsNameCauseAndFix) {
  EXPECT_THAT(ExplainNvml("nvmlInit_v2", nvml::kDriverNotLoaded), HasSubstr("modprobe nvidia"));
  EXPECT_THAT(ExplainNvml("nvmlInit_v2", nvml::kNoPermission), HasSubstr("/dev/nvidiactl"));
  EXPECT_THAT(ExplainNvml("nvmlGpmSampleGet", nvml::kNoPermission),
              HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(ExplainNvml("nvmlInit_v2", 12345), "nvmlInit_v2: NVML's error 12345");
  EXPECT_THAT(ExplainNvml("nvmlInit_v2", nvml::kGpuIsLost), HasSubstr("NVML_ERROR_GPU_IS_LOST"));
  EXPECT_TRUE(IsAbsence(nvml::kNotSupported));
  EXPECT_FALSE(IsAbsence(nvml::kNoPermission));
}

TEST(Nvml, DoctorTellsWhatThereIs) {
  EXPECT_EQ(CheckNvml({}).level, Level::kInfo);
  NvmlProbe probe;
  probe.is_here = true;
  probe.path = "/usr/lib/libnvidia-ml.so.1";
  probe.driver_version = "580.65.06";
  probe.devices = {"0: NVIDIA H200 (GPM)"};
  EXPECT_EQ(CheckNvml(probe).level, Level::kOk);
  EXPECT_THAT(CheckNvml(probe).found, HasSubstr("driver 580.65.06: 0: NVIDIA H200 (GPM)"));
  probe.refusals = {ExplainNvml("nvmlGpmSampleGet", nvml::kNoPermission)};
  EXPECT_EQ(CheckNvml(probe).level, Level::kWarn);
  probe.fault = ExplainNvml("nvmlInit_v2", nvml::kLibRmVersionMismatch);
  EXPECT_THAT(CheckNvml(probe).fix, StartsWith("restart the machine"));
}

TEST(Values, GpuPeriods) {
  uint64_t period = 1;
  EXPECT_EQ(ParseGpuPeriod("off", &period), "");
  EXPECT_EQ(period, 0u);
  EXPECT_EQ(ParseGpuPeriod("250ms", &period), "");
  EXPECT_EQ(period, 250'000'000u);
  EXPECT_THAT(ParseGpuPeriod("1ms", &period), HasSubstr("10ms"));
  EXPECT_THAT(ParseGpuPeriod("5", &period), HasSubstr("or off"));
}

}  // namespace
}  // namespace gpuprof::launcher
