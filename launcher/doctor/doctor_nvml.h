// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What hardware counters need of a machine: NVML, GPUs that may be read, GPM. Called by doctor.
// Looks and probes, in a process of its own as the library is a driver's; changes nothing.

#pragma once

#include <string>
#include <vector>

#include "launcher/doctor/doctor_checks.h"

namespace gpuprof::launcher {

// What the probe saw.
struct NvmlProbe {
  bool is_here = false;  // the library
  std::string path;
  std::string driver_version;
  std::string fault;                  // cause and fix of what could not be had at all
  std::vector<std::string> devices;   // "0: NVIDIA H200 (GPM)"
  std::vector<std::string> refusals;  // cause and fix, each once
};

Check NvmlCheck();

// Checks the facts of `probe`, and reads nothing else. Declared for its test.
Check CheckNvml(const NvmlProbe& probe);

}  // namespace gpuprof::launcher
