// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// PM sampling, and the host side that evaluates it. A device has the metrics that the script gives
// it (device/script.h: pm_samples), by samples since the start; without `pm on` whoever asks for
// the counters gets 35. Samples come every interval from the start on, the first one too.
//
// The truth has a line for each call and for each value told:
//
//   {"t":"pm_call","what":"cuptiPmSamplingEnable","device":..,"result":..,"time":..}
//   {"t":"pm","metric":..,"device":..,"sample":..,"value":..|null,"start":..,"end":..}   value
//   null: no number; times of the device's clock
//   {"t":"pm_lost","device":..,"samples":..}   the hardware buffer was full
//   {"t":"pm_config","device":..,"interval":..,"mode":..,"buffer":..,"metrics":..}
//
// Against the real library's rules, and so a violation in the truth: calls out of their order, an
// object or image that is none, a decoded image that was not initialised. A struct of another size
// than this release's is refused with CUPTI_ERROR_INVALID_PARAMETER, as the real one does.

#pragma once

#include <cupti.h>
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

#include <string>
#include <vector>

namespace fake_gpu_cupti {

// What a configuration image holds: metrics by name, and the passes that they need.
struct PmConfigImage {
  size_t passes = 0;
  std::vector<std::string> metrics;
};
std::string WriteConfig(const PmConfigImage& config);
// False: the bytes are none.
bool ReadConfig(const uint8_t* bytes, size_t size, PmConfigImage* config);

// A counter data image begins with this; its samples follow.
struct PmImageHeader {
  uint64_t magic;
  int64_t device;
  uint64_t most;
  uint64_t populated;
};
struct PmImageSample {
  uint64_t number;  // since the start
  uint64_t start;   // the device's clock
  uint64_t end;
};
inline constexpr uint64_t kPmImage = 0x706d696d61676531;
// Null: the bytes are none, or of no initialised image.
PmImageHeader* ImageAt(const uint8_t* bytes, size_t size);
PmImageSample* SampleAt(PmImageHeader* image, size_t index);

// Whether the chip has the metric.
bool HasMetric(const std::string& metric);
// What the device's sample of that number says.
double ValueOf(const std::string& metric, int device, uint64_t number);

void PmViolation(const char* what);
// Writes the truth of a call, and is its result.
CUptiResult PmCall(const char* function, int device, CUptiResult result);
// The beginning of every call: the driver, the script's failure or crash, the struct's size.
CUptiResult PmGate(const char* function, size_t size, size_t expected);

}  // namespace fake_gpu_cupti
