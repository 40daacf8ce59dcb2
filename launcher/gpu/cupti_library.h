// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A libcupti for PM sampling: which one, loading it, and what its refusals mean. It is loaded in
// the sampler's process alone, and may crash there.
//
// The program's own goes first, as recording has loaded it into one of its processes; then what the
// environment names, where one that is too old is passed over for a newer one; the machine's own
// places only where neither has any.

#pragma once

#include <string>
#include <vector>

#include "launcher/base/settings.h"
#include "launcher/gpu/cupti_abi.h"

namespace gpuprof::launcher {

class CuptiLibrary {
 public:
  CuptiLibrary() = default;
  CuptiLibrary(const CuptiLibrary&) = delete;
  CuptiLibrary& operator=(const CuptiLibrary&) = delete;

  // Loads it; calls nothing but cuptiGetVersion. `pids`: processes of the program. Empty, or cause
  // and fix.
  std::string Open(const std::vector<int>& pids, const Variables& environment);
  // The first file of these that serves, for tests. Never unloaded: it leaves threads behind.
  std::string OpenFile(const std::string& path);

  const cupti::Functions& functions() const { return functions_; }
  const std::string& path() const { return path_; }
  // What cuptiGetVersion says.
  uint32_t api_version() const { return api_version_; }

 private:
  // True: it has all that is needed. Else `fault_` says what the first file lacks.
  bool Try(const std::string& path);

  cupti::Functions functions_ = {};
  std::string path_;
  std::string fault_;
  uint32_t api_version_ = 0;
};

// "cuptiPmSamplingEnable: another tool holds ... (CUPTI_ERROR_HARDWARE_BUSY, 26); end ...". Pure.
std::string ExplainCupti(const std::string& function, int result);

// The files named libcupti in the text of a /proc/<pid>/maps, each once. Pure.
std::vector<std::string> CuptiInMaps(const std::string& maps);

}  // namespace gpuprof::launcher
