// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What recording of GPU activity needs of a machine, one check each. Called by doctor. Looks and
// probes, changes nothing that stays.

#pragma once

#include <string>
#include <vector>

#include "launcher/doctor/doctor_checks.h"

namespace gpuprof::launcher {

std::vector<Check> CudaChecks(const Variables& environment);

// The pure ones, for their tests.

// What the machine shows of the driver: the first line of /proc/driver/nvidia/version, the names of
// /dev/nvidia*, whether this is a container.
struct DriverSigns {
  std::string version;
  std::vector<std::string> devices;
  bool in_container = false;
};
Check CheckDriver(const DriverSigns& signs);

// Checks the right to hardware counters alone: activity needs no privilege. `parameters`: the text
// of /proc/driver/nvidia/params. `bounding`: CapBnd of /proc/self/status.
Check CheckCounters(const std::string& parameters, uint64_t bounding, bool is_root);

enum class CounterRight { kNotTold, kGiven, kRefused };
// Returns whether this process may have counters, by the facts of CheckCounters.
CounterRight RightToCounters(const std::string& parameters, uint64_t bounding, bool is_root);

// Checks the further needs of PM sampling. `path`: of the libcupti found; empty: no libcupti.
// `missing`: a function of PM sampling that the library lacks.
Check CheckPmSampling(const std::string& path, uint32_t api_version, const std::string& missing,
                      CounterRight right);

// Checks for tools that already asked for CUDA's or NVTX's only place for a tool. `faults`: by
// variable, the fault of the tool that it names, as the end of a sentence.
Check CheckInjection(const Variables& environment, const Variables& faults = {});

// Checks a library that was found. `api_version` is the answer of cuptiGetVersion, 0 if it cannot
// be asked. `missing`: a function that recording needs and the library lacks. `passed_over`: files
// before it that are not whole libraries, each with its fault.
Check CheckCuptiLibrary(const std::string& path, uint32_t api_version,
                        const std::vector<std::string>& searched, const std::string& missing = "",
                        const std::vector<std::string>& passed_over = {});

}  // namespace gpuprof::launcher
