// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What recording of GPU activity needs of a machine, one check each. Called by doctor. Looks and
// probes, changes nothing that stays.

#pragma once

#include <string>
#include <vector>

#include "launcher/doctor_checks.h"

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

// `parameters`: the text of /proc/driver/nvidia/params. `bounding`: CapBnd of /proc/self/status.
// For hardware counters alone: activity needs no privilege.
Check CheckCounters(const std::string& parameters, uint64_t bounding, bool is_root);

// Whether this process may have counters: the same, for what needs them.
enum class CounterRight { kNotTold, kGiven, kRefused };
CounterRight RightToCounters(const std::string& parameters, uint64_t bounding, bool is_root);

// What PM sampling needs beyond that. `path`: of the libcupti found, empty for none; `missing`: a
// function of PM sampling that it has not.
Check CheckPmSampling(const std::string& path, uint32_t api_version, const std::string& missing,
                      CounterRight right);

// Tools that asked for CUDA's or NVTX's one place before. `faults`: by variable, what is wrong with
// the tool that it names, as the end of a sentence.
Check CheckInjection(const Variables& environment, const Variables& faults = {});

// Of a library found; `api_version` is what cuptiGetVersion says, 0 if it cannot be asked;
// `missing`: a function that recording needs and that it has not; `passed_over`: files before it
// that are no whole libraries, each with what is wrong.
Check CheckCuptiLibrary(const std::string& path, uint32_t api_version,
                        const std::vector<std::string>& searched, const std::string& missing = "",
                        const std::vector<std::string>& passed_over = {});

}  // namespace gpuprof::launcher
