// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// How samples are taken out of a device, by a stand-in of CUPTI's functions that has one metric and
// gives the samples that a test puts into it.

#include "launcher/gpu/pm_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "proto/ticks.h"

namespace gpuprof::launcher {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kPeriod = 1000, kDecode = 50'000'000;

struct Device {
  size_t room = 4;        // samples of an image
  size_t incomplete = 0;  // of those in the image, the last ones
  bool is_endless = false;
  bool overflow = false;  // once
  int decode_result = 0;  // once
  bool has_time_trigger = true;
  uint64_t clock_ns = 1;         // of the system clock
  std::deque<uint64_t> waiting;  // ends
  std::vector<uint64_t> image;
  std::vector<std::string> calls;
  std::vector<std::pair<int, uint64_t>> configs;  // mode, interval
};
Device g_device;

void Note(const char* call) { g_device.calls.emplace_back(call); }

cupti::Functions HostSide() {
  cupti::Functions functions = {};
  functions.get_chip_name = [](cupti::GetChipNameParams* params) -> int {
    params->chip_name = "X1";
    return 0;
  };
  functions.get_counter_availability = [](cupti::GetCounterAvailabilityParams* params) -> int {
    params->image_size = 1;
    return 0;
  };
  functions.host_initialize = [](cupti::HostInitializeParams* params) -> int {
    params->object = reinterpret_cast<cupti::HostObject>(&g_device);
    return 0;
  };
  functions.host_deinitialize = [](cupti::HostDeinitializeParams*) -> int { return 0; };
  functions.host_add_metrics = [](cupti::HostConfigAddMetricsParams* params) -> int {
    return params->metric_count == 1 ? 0 : cupti::kInvalidParameter;
  };
  functions.host_config_size = [](cupti::HostGetConfigImageSizeParams* params) -> int {
    params->config_size = 1;
    return 0;
  };
  functions.host_config = [](cupti::HostGetConfigImageParams*) -> int { return 0; };
  functions.host_passes = [](cupti::HostGetNumOfPassesParams* params) -> int {
    params->passes = 1;
    return 0;
  };
  functions.host_evaluate = [](cupti::HostEvaluateToGpuValuesParams* params) -> int {
    params->values[0] = static_cast<double>(g_device.image[params->range_index]);
    return 0;
  };
  return functions;
}

cupti::Functions StandIn() {
  g_device = {};
  cupti::Functions functions = HostSide();
  functions.enable = [](cupti::EnableParams* params) -> int {
    params->object = reinterpret_cast<cupti::PmSamplingObject>(&g_device);
    return 0;
  };
  functions.disable = [](cupti::ObjectParams*) -> int { return Note("disable"), 0; };
  functions.start = [](cupti::ObjectParams*) -> int { return Note("start"), 0; };
  functions.stop = [](cupti::ObjectParams*) -> int { return Note("stop"), 0; };
  functions.set_config = [](cupti::SetConfigParams* params) -> int {
    if (params->trigger_mode == cupti::kGpuTimeInterval && !g_device.has_time_trigger)
      return cupti::kNotSupported;
    g_device.configs.emplace_back(params->trigger_mode, params->sampling_interval);
    return 0;
  };
  functions.get_counter_data_size = [](cupti::GetCounterDataSizeParams* params) -> int {
    params->counter_data_size = 8;
    return 0;
  };
  functions.counter_data_image_initialize = [](cupti::CounterDataImageInitializeParams*) -> int {
    g_device.image.clear();
    return Note("reset"), 0;
  };
  functions.decode_data = [](cupti::DecodeDataParams* params) -> int {
    params->overflow = std::exchange(g_device.overflow, false) ? 1 : 0;
    if (const int result = std::exchange(g_device.decode_result, 0); result != 0) return result;
    while (g_device.image.size() < g_device.room && !g_device.waiting.empty()) {
      g_device.image.push_back(g_device.waiting.front());
      g_device.waiting.pop_front();
      if (g_device.is_endless) g_device.waiting.push_back(g_device.image.back() + kPeriod);
    }
    params->stop_reason = g_device.waiting.empty() ? 2 : cupti::kCounterDataFull;
    return 0;
  };
  functions.get_counter_data_info = [](cupti::GetCounterDataInfoParams* params) -> int {
    params->total_samples = g_device.room;
    params->populated_samples = g_device.image.size();
    params->completed_samples = g_device.image.size() - g_device.incomplete;
    return 0;
  };
  functions.get_sample_info = [](cupti::GetSampleInfoParams* params) -> int {
    params->end_timestamp = g_device.image[params->sample_index];
    params->start_timestamp =
        params->end_timestamp - (g_device.configs.back().first == cupti::kGpuTimeInterval
                                     ? kPeriod
                                     : g_device.configs.back().second * g_device.clock_ns);
    return 0;
  };
  return functions;
}

void Wait(std::initializer_list<uint64_t> ends) {
  g_device.waiting.insert(g_device.waiting.end(), ends);
}

class PmDeviceTest : public testing::Test {
 protected:
  std::string Begin() {
    const std::string fault = device_.Open();
    return fault.empty() ? device_.Start() : fault;
  }
  // Ends of the samples that one call gives.
  std::vector<uint64_t> Decode() {
    std::vector<PmSample> samples;
    fault_ = device_.Decode(&samples, &overflow_);
    std::vector<uint64_t> ends;
    for (const PmSample& sample : samples) {
      EXPECT_THAT(sample.values, ElementsAre(static_cast<double>(sample.end)));
      ends.push_back(sample.end);
    }
    return ends;
  }
  static auto Count(const char* call) {
    return std::count(g_device.calls.begin(), g_device.calls.end(), call);
  }

  const cupti::Functions functions_ = StandIn();
  PmDevice device_{functions_, 0, kPeriod, kDecode};
  std::string fault_;
  bool overflow_ = false;
};

TEST_F(PmDeviceTest, TheFirstSampleIsNoneAndManyImagesAreRead) {
  ASSERT_EQ(Begin(), "");
  Wait({1000, 2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000});
  EXPECT_THAT(Decode(), ElementsAre(2000, 3000, 4000, 5000, 6000, 7000, 8000, 9000));
  EXPECT_FALSE(device_.is_behind());
  EXPECT_THAT(Decode(), IsEmpty());
  Wait({10'000});
  EXPECT_THAT(Decode(), ElementsAre(10'000));
  device_.Close();
  EXPECT_EQ(g_device.calls.back(), "disable");
  EXPECT_EQ(Count("stop"), 1);
}

TEST_F(PmDeviceTest, ASampleThatIsNotCompleteIsReadWhenItIs) {
  ASSERT_EQ(Begin(), "");
  Wait({1000, 2000, 3000});
  g_device.incomplete = 1;
  const auto resets = Count("reset");
  EXPECT_THAT(Decode(), ElementsAre(2000));
  EXPECT_EQ(Count("reset"), resets) << "it would be lost";
  g_device.incomplete = 0;
  EXPECT_THAT(Decode(), ElementsAre(3000));
  EXPECT_EQ(Count("reset"), resets + 1);
  Wait({4000});
  EXPECT_THAT(Decode(), ElementsAre(4000));
}

TEST_F(PmDeviceTest, AFullBufferBeginsAnew) {
  ASSERT_EQ(Begin(), "");
  Wait({1000, 2000});
  g_device.overflow = true;
  EXPECT_THAT(Decode(), ElementsAre(2000)) << "what is there is taken";
  EXPECT_TRUE(overflow_);
  EXPECT_EQ(Count("start"), 2);
  Wait({7000, 8000});
  EXPECT_THAT(Decode(), ElementsAre(8000)) << "the first of every start is none";
  EXPECT_FALSE(overflow_);
}

// Before the first sample was read, too, where other GPUs took their time to be opened.
TEST_F(PmDeviceTest, AFullBufferMayBeToldAsAnError) {
  ASSERT_EQ(Begin(), "");
  for (int round = 0; round < 2; ++round) {
    g_device.decode_result = cupti::kOutOfMemory;
    EXPECT_THAT(Decode(), IsEmpty());
    EXPECT_TRUE(overflow_);
    EXPECT_EQ(fault_, "");
  }
  Wait({1000, 2000});
  EXPECT_THAT(Decode(), ElementsAre(2000));
  // Where no sample comes in between it is something else.
  for (int vain = 0; vain < 4; ++vain) {
    EXPECT_EQ(fault_, "");
    g_device.decode_result = cupti::kOutOfMemory;
    Decode();
  }
  EXPECT_THAT(fault_, HasSubstr("cuptiPmSamplingDecodeData: "));
}

TEST_F(PmDeviceTest, ReleasesBefore128TakeTheFirstSizeOnly) {
  cupti::Functions functions = functions_;
  functions.set_config = [](cupti::SetConfigParams* params) -> int {
    if (params->struct_size != 60) return cupti::kInvalidParameter;
    g_device.configs.emplace_back(params->trigger_mode, params->sampling_interval);
    return 0;
  };
  PmDevice device(functions, 0, kPeriod, kDecode);
  EXPECT_EQ(device.Open(), "");
  EXPECT_THAT(g_device.configs, ElementsAre(std::pair(cupti::kGpuTimeInterval + 0, kPeriod)));
  EXPECT_FALSE(device.is_by_clock());
}

TEST_F(PmDeviceTest, WhatIsAvailableMayBeUnknownWhileAnotherSessionIsActive) {
  cupti::Functions functions = functions_;
  functions.get_counter_availability = [](cupti::GetCounterAvailabilityParams*) -> int {
    return cupti::kUnknown;
  };
  EXPECT_EQ(PmDevice(functions, 0, kPeriod, kDecode).Open(), "");
  functions.enable = [](cupti::EnableParams*) -> int { return cupti::kInvalidOperation; };
  EXPECT_THAT(PmDevice(functions, 0, kPeriod, kDecode).Open(),
              HasSubstr("cuptiPmSamplingEnable: another tool holds the GPU's counters "
                        "(CUPTI_ERROR_INVALID_OPERATION, 7); for DCGM:"));
}

TEST_F(PmDeviceTest, WhatComesTooFastIsLeftForLater) {
  ASSERT_EQ(Begin(), "");
  g_device.is_endless = true;
  Wait({1000, 2000, 3000, 4000, 5000});
  const uint64_t begin = proto::ReadClockNs(CLOCK_MONOTONIC);
  EXPECT_FALSE(Decode().empty());
  EXPECT_TRUE(device_.is_behind());
  EXPECT_LT(proto::ReadClockNs(CLOCK_MONOTONIC) - begin, 100 * kDecode);
}

TEST_F(PmDeviceTest, WithoutATriggerByTimeTheSystemClockIsMeasuredOnce) {
  g_device.has_time_trigger = false;
  g_device.room = 99;
  ASSERT_EQ(Begin(), "");
  EXPECT_TRUE(device_.is_by_clock());
  g_device.clock_ns = 4;  // where 1 was assumed
  Wait({10'000, 20'000, 30'000, 40'000, 50'000, 60'000, 70'000});
  EXPECT_EQ(Decode().size(), 6u);
  EXPECT_EQ(g_device.configs.size(), 1u) << "too few to tell";
  Wait({80'000, 90'000, 100'000, 110'000, 120'000, 130'000, 140'000, 150'000});
  Decode();
  EXPECT_THAT(g_device.configs, ElementsAre(std::pair(cupti::kGpuSysclkInterval + 0, kPeriod),
                                            std::pair(cupti::kGpuSysclkInterval + 0, kPeriod / 4)));
  EXPECT_EQ(Count("start"), 2);
}

TEST_F(PmDeviceTest, WhatIsRefusedIsGivenBack) {
  cupti::Functions functions = functions_;
  functions.start = [](cupti::ObjectParams*) -> int { return cupti::kHardwareBusy; };
  {
    PmDevice device(functions, 0, kPeriod, kDecode);
    EXPECT_EQ(device.Open(), "");
    EXPECT_THAT(device.Start(), HasSubstr("cuptiPmSamplingStart: another tool holds"));
  }
  EXPECT_EQ(Count("disable"), 1);
  EXPECT_EQ(Count("stop"), 0);
}

}  // namespace
}  // namespace gpuprof::launcher
