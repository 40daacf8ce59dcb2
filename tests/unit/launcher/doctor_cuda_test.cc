// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/doctor/doctor_cuda.h"

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

TEST(DoctorCuda, AToolThatCannotBeLoadedIsAFault) {
  const Variables both = {{"CUDA_INJECTION64_PATH", "/opt/other.so"},
                          {"NVTX_INJECTION64_PATH", "/opt/nvtx.so"}};
  const Check check = CheckInjection(both, {{"CUDA_INJECTION64_PATH", "the file does not exist"}});
  EXPECT_EQ(check.level, Level::kWarn);
  EXPECT_THAT(check.found,
              HasSubstr("CUDA_INJECTION64_PATH=/opt/other.so: the file does not exist"));
  EXPECT_THAT(check.found, HasSubstr("NVTX_INJECTION64_PATH=/opt/nvtx.so; it is called after"));
  EXPECT_EQ(check.fix, "correct or unset CUDA_INJECTION64_PATH");
  EXPECT_EQ(CheckInjection({{"CUDA_INJECTION64_PATH", "none"}}).level, Level::kOk);
}

TEST(DoctorCuda, ALibraryThatTheRecorderRefuses) {
  const Check stub = CheckCuptiLibrary("/a/libcupti.so.13", 0, {}, "cuptiGetVersion");
  EXPECT_EQ(stub.level, Level::kWarn);
  EXPECT_THAT(stub.found, HasSubstr("/a/libcupti.so.13 has no cuptiGetVersion"));
  EXPECT_THAT(stub.fix, HasSubstr("11.8"));
}

TEST(DoctorCuda, FilesThatWerePassedOver) {
  const std::vector<std::string> cut = {"/a/libcupti.so.13 is incomplete"};
  const Check next = CheckCuptiLibrary("/b/libcupti.so.12", 28, {}, "", cut);
  EXPECT_EQ(next.level, Level::kWarn);
  EXPECT_THAT(next.found, HasSubstr("/b/libcupti.so.12, API version 28"));
  EXPECT_THAT(next.found, HasSubstr("passed over: /a/libcupti.so.13 is incomplete"));
  const Check none = CheckCuptiLibrary("", 0, {"/usr/local/cuda"}, "", cut);
  EXPECT_EQ(none.level, Level::kWarn);
  EXPECT_THAT(none.found, HasSubstr("/a/libcupti.so.13 is incomplete; none in /usr/local/cuda"));
  EXPECT_THAT(none.fix, HasSubstr("reinstall"));
}

TEST(DoctorCuda, LibraryOldNewOrNone) {
  EXPECT_EQ(CheckCuptiLibrary("/a/libcupti.so.13", 130001, {}).level, Level::kOk);
  EXPECT_THAT(CheckCuptiLibrary("/a/libcupti.so.11.2", 14, {}).fix, HasSubstr("11.8"));
  EXPECT_THAT(CheckCuptiLibrary("", 0, {"/usr/local/cuda"}).found, HasSubstr("/usr/local/cuda"));
}

}  // namespace
}  // namespace gpuprof::launcher
