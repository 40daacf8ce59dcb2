// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/doctor_cuda.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpuprof::launcher {
namespace {

using testing::HasSubstr;
using Level = Check::Level;

TEST(DoctorCuda, DriverIsThereOrNotOrWithoutItsDevices) {
  EXPECT_EQ(CheckDriver({}).level, Level::kInfo);
  EXPECT_EQ(CheckDriver({"NVRM version: 580.65", {"nvidiactl", "nvidia0"}, false}).level,
            Level::kOk);
  const Check in_container = CheckDriver({"NVRM version: 580.65", {}, true});
  EXPECT_EQ(in_container.level, Level::kWarn);
  EXPECT_THAT(in_container.fix, HasSubstr("--gpus all"));
  const Check without = CheckDriver({"NVRM version: 580.65", {"nvidiactl", "nvidia-uvm"}, false});
  EXPECT_THAT(without.fix, HasSubstr("nvidia-smi"));
}

TEST(DoctorCuda, CountersAreRestrictedByEitherSpelling) {
  EXPECT_EQ(CheckCounters("", 0, true).level, Level::kInfo);
  EXPECT_EQ(CheckCounters("RmProfilingAdminOnly: 0\n", 0, false).level, Level::kOk);
  for (const char* text : {"RmProfilingAdminOnly: 1\n", "RestrictProfilingToAdminUsers: 1\n"}) {
    EXPECT_THAT(CheckCounters(text, 0, true).found, HasSubstr("--cap-add=SYS_ADMIN"))
        << "root of a container without the capability";
    EXPECT_EQ(CheckCounters(text, uint64_t{1} << 21, true).level, Level::kOk);
    EXPECT_THAT(CheckCounters(text, uint64_t{1} << 21, false).found, HasSubstr("administrators"));
  }
}

TEST(DoctorCuda, OtherToolsAreNamed) {
  EXPECT_EQ(CheckInjection({}).level, Level::kOk);
  EXPECT_EQ(CheckInjection({{"CUDA_INJECTION64_PATH", "/x/libgpuprof_inject.so"}}).level,
            Level::kOk);
  EXPECT_THAT(CheckInjection({{"CUDA_INJECTION64_PATH", "/opt/nsys/libToolsInjection64.so"}}).found,
              HasSubstr("CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so"));
  EXPECT_EQ(CheckInjection({{"INTEL_LIBITTNOTIFY64", "/x/libgpuprof_inject.so"}}).level,
            Level::kOk);
  EXPECT_THAT(CheckInjection({{"INTEL_LIBITTNOTIFY64", "/opt/vtune/collector.so"}}).found,
              HasSubstr("INTEL_LIBITTNOTIFY64=/opt/vtune/collector.so"));
}

TEST(DoctorCuda, LibraryOldNewOrNone) {
  EXPECT_EQ(CheckCuptiLibrary("/a/libcupti.so.13", 130001, {}).level, Level::kOk);
  EXPECT_THAT(CheckCuptiLibrary("/a/libcupti.so.11.2", 14, {}).fix, HasSubstr("11.8"));
  EXPECT_THAT(CheckCuptiLibrary("", 0, {"/usr/local/cuda"}).found, HasSubstr("/usr/local/cuda"));
}

}  // namespace
}  // namespace gpuprof::launcher
