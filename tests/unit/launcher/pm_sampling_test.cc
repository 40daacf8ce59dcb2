// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The parts of PM sampling that need no GPU: the clock, the choice of metrics (by a stand-in of the
// host side, and by NVIDIA's own where it is), what refusals mean.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "launcher/base/values.h"
#include "launcher/doctor/doctor_cuda.h"
#include "launcher/gpu/cupti_library.h"
#include "launcher/gpu/pm_clock.h"
#include "launcher/gpu/pm_config.h"
#include "launcher/gpu/pm_device.h"
#include "launcher/gpu/pm_sampling.h"

namespace gpuprof::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// CUPTI loads its library of counters with RTLD_DEEPBIND, which ends a program under a sanitizer.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#elif defined(__has_feature)
constexpr bool kSanitized = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
constexpr bool kSanitized = false;
#endif

constexpr uint64_t kSecond = 1'000'000'000;

uint64_t Placed(const PmClock& clock, uint64_t cupti_ns, uint64_t earliest, uint64_t latest) {
  uint64_t monotonic_ns = 0;
  return clock.ToMonotonic(cupti_ns, earliest, latest, &monotonic_ns) ? monotonic_ns : 0;
}

TEST(PmClock, PlacesTimesEvenlyBetweenTwoReadings) {
  PmClock clock;
  EXPECT_EQ(Placed(clock, 1000 * kSecond, 0, UINT64_MAX), 0u) << "no reading yet";
  clock.Add(1000 * kSecond, 5 * kSecond);
  EXPECT_EQ(Placed(clock, 1000 * kSecond + 7, 0, UINT64_MAX), 5 * kSecond + 7);
  // CUPTI's clock is 200 us slower in this second.
  clock.Add(1001 * kSecond - 200'000, 6 * kSecond);
  EXPECT_EQ(Placed(clock, 1000 * kSecond, 0, UINT64_MAX), 5 * kSecond);
  EXPECT_EQ(Placed(clock, 1001 * kSecond - 200'000, 0, UINT64_MAX), 6 * kSecond);
  EXPECT_NEAR(static_cast<double>(Placed(clock, 1000 * kSecond + kSecond / 2, 0, UINT64_MAX)),
              5.5e9 + 100'000, 100);
}

TEST(PmClock, OfAClockThatWasSetTimesAreOnEitherSide) {
  for (const int64_t step : {int64_t{3600}, int64_t{-3600}}) {
    PmClock clock;
    clock.Add(10'000 * kSecond, 50 * kSecond);
    const uint64_t set = 10'001 * kSecond + static_cast<uint64_t>(step) * kSecond;
    clock.Add(set, 51 * kSecond);
    EXPECT_EQ(Placed(clock, 10'000 * kSecond + 4, 50 * kSecond, 51 * kSecond), 50 * kSecond + 4);
    EXPECT_EQ(Placed(clock, set - 4, 50 * kSecond, 51 * kSecond), 51 * kSecond - 4);
    EXPECT_EQ(Placed(clock, 5, 50 * kSecond, 51 * kSecond), 0u) << "on neither";
  }
}

TEST(PmClock, ATimeOutsideOfItsBoundsIsNone) {
  PmClock clock;
  clock.Add(1000, 5000);
  EXPECT_EQ(Placed(clock, 1500, 5500, 5500), 5500u);
  EXPECT_EQ(Placed(clock, 1501, 5500, 5500), 0u);
  EXPECT_EQ(Placed(clock, 1499, 5500, 5500), 0u);
}

// A host side that offers some metrics, of which `passes` need a second pass.
struct Chip {
  std::set<std::string> offers, passes;
  size_t most = 99;
  int hosts = 0, most_hosts = 0, tries = 0;
  std::map<cupti::HostObject, std::vector<std::string>> added;
  std::set<cupti::HostObject> spoilt;
};
Chip g_chip;

cupti::Functions StandIn() {
  g_chip = {};
  cupti::Functions functions = {};
  functions.host_initialize = [](cupti::HostInitializeParams* params) -> int {
    ++g_chip.tries;
    if (std::string(params->chip_name) != "X1") return cupti::kInvalidChipName;
    g_chip.most_hosts = std::max(g_chip.most_hosts, ++g_chip.hosts);
    params->object = reinterpret_cast<cupti::HostObject>(new int);
    return cupti::kSuccess;
  };
  functions.host_deinitialize = [](cupti::HostDeinitializeParams* params) -> int {
    --g_chip.hosts;
    g_chip.added.erase(params->object);
    delete reinterpret_cast<int*>(params->object);
    return 0;
  };
  functions.host_add_metrics = [](cupti::HostConfigAddMetricsParams* params) -> int {
    for (size_t i = 0; i < params->metric_count; ++i) {
      if (g_chip.offers.count(params->metric_names[i]) == 0) g_chip.spoilt.insert(params->object);
      g_chip.added[params->object].emplace_back(params->metric_names[i]);
    }
    return g_chip.spoilt.erase(params->object) != 0 ? cupti::kInvalidParameter : cupti::kSuccess;
  };
  functions.host_config_size = [](cupti::HostGetConfigImageSizeParams* params) -> int {
    params->config_size = 1;
    return 0;
  };
  functions.host_config = [](cupti::HostGetConfigImageParams* params) -> int {
    const std::vector<std::string>& added = g_chip.added[params->object];
    const bool is_two = std::any_of(added.begin(), added.end(), [](const std::string& metric) {
      return g_chip.passes.count(metric) != 0;
    });
    params->config[0] = is_two || added.size() > g_chip.most ? 2 : 1;
    return 0;
  };
  functions.host_passes = [](cupti::HostGetNumOfPassesParams* params) -> int {
    params->passes = params->config[0];
    return 0;
  };
  return functions;
}

#define SHARE ".avg.pct_of_peak_sustained_elapsed"
const std::vector<std::string> kPreferred = {
    "sm__cycles_active" SHARE, "sm__pipe_tensor_cycles_active_realtime" SHARE,
    "dramc__read_throughput" SHARE, "dramc__write_throughput" SHARE,
    "sm__inst_executed_realtime" SHARE};

std::vector<std::string> NamesOf(const PmConfig& config) {
  std::vector<std::string> names;
  for (const PmMetric& metric : config.metrics()) names.emplace_back(metric.name);
  return names;
}

TEST(PmConfig, AllInOneGoWhereTheChipHasThemAll) {
  const cupti::Functions functions = StandIn();
  g_chip.offers = {kPreferred.begin(), kPreferred.end()};
  {
    PmConfig config(functions);
    EXPECT_EQ(config.Make("X1", {}), "");
    EXPECT_EQ(NamesOf(config), kPreferred);
    EXPECT_THAT(config.left_out(), IsEmpty());
    EXPECT_EQ(g_chip.tries, 1);
    EXPECT_NE(config.host(), nullptr);
  }
  EXPECT_EQ(g_chip.hosts, 0);
}

TEST(PmConfig, OtherNamesAndWhatIsNotThere) {
  const cupti::Functions functions = StandIn();
  g_chip.offers = {"sm__cycles_active" SHARE, "sm__pipe_tensor_cycles_active" SHARE,
                   "dram__read_throughput" SHARE, "sm__inst_executed_realtime" SHARE};
  g_chip.passes = {"sm__pipe_tensor_cycles_active" SHARE};
  PmConfig config(functions);
  EXPECT_EQ(config.Make("X1", {}), "");
  EXPECT_THAT(NamesOf(config), ElementsAre("sm__cycles_active" SHARE, "dram__read_throughput" SHARE,
                                           "sm__inst_executed_realtime" SHARE));
  EXPECT_THAT(config.left_out(), ElementsAre("tensor_active (it would need a second pass)",
                                             "dram_write (this chip does not have it)"));
  EXPECT_EQ(config.image(), std::vector<uint8_t>{1}) << "that of what is taken";
  EXPECT_EQ(g_chip.most_hosts, 1);
}

TEST(PmConfig, OnePassTakesTheFirst) {
  const cupti::Functions functions = StandIn();
  g_chip.offers = {kPreferred.begin(), kPreferred.end()};
  g_chip.most = 2;
  PmConfig config(functions);
  EXPECT_EQ(config.Make("X1", {}), "");
  EXPECT_THAT(NamesOf(config), ElementsAre(kPreferred[0], kPreferred[1]));
  EXPECT_EQ(config.left_out().size(), 3u);
}

TEST(PmConfig, NothingAtAllSaysWhy) {
  const cupti::Functions functions = StandIn();
  PmConfig config(functions);
  EXPECT_THAT(config.Make("Y9", {}),
              HasSubstr("CUPTI_ERROR_INVALID_CHIP_NAME, 46); set CUDA_HOME"));
  EXPECT_THAT(config.Make("X1", {}), HasSubstr("cuptiProfilerHostConfigAddMetrics: "));
  EXPECT_THAT(config.metrics(), IsEmpty());
}

// The metrics' names and their single pass, by the library that knows: it needs no GPU for that.
TEST(PmConfig, NvidiasOwnLibraryOffersThem) {
  if (kSanitized)
    GTEST_SKIP() << "NVIDIA's library of counters cannot be loaded beside a sanitizer";
  CuptiLibrary library;
  const std::string path = "/usr/local/cuda/lib64/libcupti.so";
  if (!library.OpenFile(path).empty() || LacksPerfLibrary(path))
    GTEST_SKIP() << "no CUPTI of 12.6 or newer here";
  const auto names_on = [&](const char* chip, std::vector<std::string>* left_out) {
    PmConfig config(library.functions());
    EXPECT_EQ(config.Make(chip, {}), "") << chip;
    *left_out = config.left_out();
    return NamesOf(config);
  };
  std::vector<std::string> left_out;
  for (const char* chip : {"GH100", "GA100", "AD102"}) {
    EXPECT_EQ(names_on(chip, &left_out), kPreferred) << chip;
    EXPECT_THAT(left_out, IsEmpty()) << chip;
  }
  EXPECT_THAT(names_on("GB100", &left_out),
              ElementsAre(kPreferred[0], kPreferred[1], "dram__read_throughput" SHARE,
                          "dram__write_throughput" SHARE, kPreferred[4]));
  names_on("TU102", &left_out);
  EXPECT_THAT(left_out, ElementsAre("tensor_active (it would need a second pass)"));
}

TEST(CuptiLibrary, WhatAProgramHasMapped) {
  const std::string maps =
      "7f00-7f01 r--p 00000000 08:01 11 /opt/x/lib/libcupti.so.12\n"
      "7f01-7f02 r-xp 00001000 08:01 11 /opt/x/lib/libcupti.so.12\n"
      "7f02-7f03 r-xp 00001000 08:01 12 /opt/libcupti.so.d/libcudart.so.12\n"
      "7f03-7f04 rw-p 00000000 00:00 0 [heap]\n"
      "7f04-7f05 r--p 00000000 08:01 13 /opt/my place/libcupti.so.13.0\n";
  EXPECT_THAT(CuptiInMaps(maps),
              ElementsAre("/opt/x/lib/libcupti.so.12", "/opt/my place/libcupti.so.13.0"));
  EXPECT_THAT(CuptiInMaps(""), IsEmpty());
}

TEST(CuptiLibrary, RefusalsHaveACauseAndAFix) {
  EXPECT_EQ(ExplainCupti("cuptiPmSamplingEnable", 26),
            "cuptiPmSamplingEnable: another tool holds the GPU's counters "
            "(CUPTI_ERROR_HARDWARE_BUSY, 26); for DCGM: dcgmi profmon --pause, and --resume "
            "afterwards; else end Nsight Compute or any other profiler of this GPU");
  EXPECT_THAT(ExplainCupti("f", 35), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_THAT(ExplainCupti("f", 35), HasSubstr("PERFMON"));
  EXPECT_THAT(ExplainCupti("f", 40), HasSubstr("hypervisor"));
  EXPECT_EQ(ExplainCupti("f", 4321), "f: CUPTI's error 4321");
}

TEST(CuptiLibrary, AFileThatIsNoneIsNamed) {
  EXPECT_THAT(CuptiLibrary().OpenFile("/etc/passwd"),
              HasSubstr("/etc/passwd is not a shared library for this machine; reinstall"));
  EXPECT_THAT(CuptiLibrary().OpenFile("/none/libcupti.so"), HasSubstr("cannot be loaded"));
  EXPECT_TRUE(LacksPerfLibrary("/none/libcupti.so"));
}

TEST(PmSampling, SharesAreFromNothingToALittleAboveAll) {
  for (const double value : {0.0, 0.001, 99.9, 100.0, 100.4}) EXPECT_TRUE(IsPercent(value));
  for (const double value : {-0.001, 111.0, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_FALSE(IsPercent(value));
}

TEST(GpuPm, PeriodsFromTwentyMicrosecondsToASecond) {
  uint64_t ns = 1;
  EXPECT_EQ(ParseGpuPm("off", &ns), "");
  EXPECT_EQ(ns, 0u);
  for (const auto& [text, expected] : std::map<std::string, uint64_t>{{"20us", 20'000},
                                                                      {"1ms", 1'000'000},
                                                                      {"0.5ms", 500'000},
                                                                      {"1000us", 1'000'000},
                                                                      {"62.5us", 62'500},
                                                                      {"1s", kSecond}}) {
    EXPECT_EQ(ParseGpuPm(text, &ns), "") << text;
    EXPECT_EQ(ns, expected) << text;
  }
  for (const char* text : {"19us", "1.1s", "0us", "1m"})
    EXPECT_THAT(ParseGpuPm(text, &ns), HasSubstr("every 20us to 1s")) << text;
  for (const char* text : {"", "1", "us", "ms", "fast", "1 ms", "-1ms"})
    EXPECT_THAT(ParseGpuPm(text, &ns), HasSubstr("100us, 1ms")) << text;
}

TEST(PmSampling, DoctorSaysWhetherItCanBeHad) {
  using Level = Check::Level;
  constexpr CounterRight kGiven = CounterRight::kGiven, kRefused = CounterRight::kRefused,
                         kNotTold = CounterRight::kNotTold;
  EXPECT_THAT(CheckPmSampling("", 0, "", kGiven).found, HasSubstr("the program's own libcupti"));
  const Check old = CheckPmSampling("/x/libcupti.so.12", 24, "cuptiPmSamplingEnable", kGiven);
  EXPECT_EQ(old.level, Level::kInfo);
  EXPECT_THAT(old.found,
              HasSubstr("/x/libcupti.so.12, API version 24 has no cuptiPmSamplingEnable"));
  const Check refused = CheckPmSampling("/x/libcupti.so.13", 130001, "", kRefused);
  EXPECT_EQ(refused.level, Level::kInfo);
  EXPECT_THAT(refused.found, HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
  EXPECT_EQ(CheckPmSampling("/x/libcupti.so.13", 130001, "", kGiven).level, Level::kOk);
  EXPECT_EQ(CheckPmSampling("/x/libcupti.so.13", 130001, "", kNotTold).level, Level::kInfo);
  EXPECT_EQ(RightToCounters("RmProfilingAdminOnly: 1\n", ~0ull, false), kRefused);
  EXPECT_EQ(RightToCounters("RmProfilingAdminOnly: 1\n", 0, true), kRefused);
  EXPECT_EQ(RightToCounters("RmProfilingAdminOnly: 1\n", uint64_t{1} << 38, true), kGiven);
  EXPECT_EQ(RightToCounters("RmProfilingAdminOnly: 0\n", 0, false), kGiven);
  EXPECT_EQ(RightToCounters("", ~0ull, true), kNotTold);
}

}  // namespace
}  // namespace gpuprof::launcher
