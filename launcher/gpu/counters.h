// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The hardware counters that the sampler reads: their ids in traces, names, units and where they
// come from. Ids are never used again for something else.

#pragma once

#include <cstdint>
#include <vector>

namespace gpuprof::launcher {

enum class CounterId : uint32_t {
  kGpuUtilization = 1,     // of the driver's last sample period, as all that is not of GPM
  kMemoryUtilization = 2,  // share of time in which memory was read or written
  kMemoryUsed = 3,
  kTemperature = 4,
  kPower = 5,         // averaged by the driver, over a second since Ampere
  kPowerInstant = 6,  // of the moment
  kSmClock = 7,
  kMemoryClock = 8,
  kClocksEventReasons = 9,  // bits of nvmlClocksEventReasons
  kPcieTx = 10,
  kPcieRx = 11,
  kNvlinkTx = 12,
  kNvlinkRx = 13,
  // Of GPM, averaged over the time since the sample before: kGpmFirst + GpmMetricId.
  kGpmFirst = 100,
  // Of PM sampling (pm_config.h), averaged over the sample.
  kPmSmActive = 200,
  kPmTensorActive = 201,
  kPmDramRead = 202,
  kPmDramWrite = 203,
  kPmInstructionsIssued = 204,
  // One of each process: kProcessFirst, +1, ...
  kProcessFirst = 0x10000,
};

struct CounterInfo {
  uint32_t id;
  const char* name;
  const char* unit;
  uint32_t divisor;  // values are the unit's times this
  const char* source;
};

// Those with ids of their own, in the order in which rows and columns have them.
const std::vector<CounterInfo>& CounterTable();

struct Reading {
  uint32_t counter;
  int64_t value;
};

// What lets a user read counters that are guarded, GPM's and PM sampling's.
inline constexpr char kCountersFix[] =
    "an administrator permits it with the driver's option NVreg_RestrictProfilingToAdminUsers=0, "
    "or a container gets --cap-add=SYS_ADMIN (from driver 565 on, PERFMON)";

}  // namespace gpuprof::launcher
