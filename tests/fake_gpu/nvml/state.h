// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What the parts of the NVML double share. Values come from the script (device/script.h): those of
// a function and a device in turn, call by call, the last one again and again. What was told is in
// the truth:
//
//   {"t":"nvml","what":"nvmlDeviceGetPowerUsage","device":0,"value":..,"time":..}   of functions
//   with several values what is "FUNCTION.WHICH": nvmlDeviceGetUtilizationRates.gpu, .memory;
//   nvmlDeviceGetClockInfo.1 (SM), .2 (memory); nvmlDeviceGetPcieThroughput.0, .1;
//   nvmlDeviceGetFieldValues.138 ...; nvmlDeviceGetComputeRunningProcesses_v3.PID
//   {"t":"gpm","metric":5,"device":0,"value":..,"from":..,"to":..}   times of the two samples
//
// Against the real library's rules, and so a violation in the truth: a call before nvmlInit or
// after nvmlShutdown, two samples of GPM nearer than 90 ms (documented: 100), a freed sample.

#pragma once

#include <nvml.h>

#include <string>

#include "tests/fake_gpu/device/clock.h"
#include "tests/fake_gpu/device/script.h"
#include "tests/fake_gpu/truth.h"

struct nvmlDevice_st {
  int index;
};

namespace fake_nvml {

// The beginning of every call: the script's failure, hang or crash.
nvmlReturn_t Begin(const char* function);
// The same of a device's.
nvmlReturn_t Begin(const char* function, nvmlDevice_t device);

// The next value, written into the truth. False: the script says that the device has none ("-").
bool Next(const std::string& what, int device, double fallback, double* value);

void Violation(const char* what);

}  // namespace fake_nvml
