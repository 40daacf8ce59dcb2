// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cupti_library.h.

#include "launcher/gpu/cupti_library.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <sstream>

#include "launcher/base/read_file.h"
#include "launcher/gpu/counters.h"
#include "launcher/gpu/cupti_folders.h"
#include "proto/library_file.h"

namespace gpuprof::launcher {
namespace {

constexpr char kUpdate[] =
    "PM sampling needs CUPTI of CUDA 12.6 or newer: set CUDA_HOME to a newer toolkit";

struct Meaning {
  int result;
  const char* name;
  const char* cause;
  const char* fix;
};
constexpr Meaning kMeanings[] = {
    {cupti::kInvalidParameter, "CUPTI_ERROR_INVALID_PARAMETER", "CUPTI refused an argument",
     "try another period; if that fails too, report this with the versions of driver and CUPTI"},
    {cupti::kInvalidDevice, "CUPTI_ERROR_INVALID_DEVICE", "CUPTI does not know this GPU",
     "no action is possible"},
    {cupti::kInvalidOperation, "CUPTI_ERROR_INVALID_OPERATION", "CUPTI refused the call here",
     "report this with the versions of driver and CUPTI as a fault of gpuprof"},
    {cupti::kOutOfMemory, "CUPTI_ERROR_OUT_OF_MEMORY", "there is no memory for the samples",
     "sample less often: a longer --gpu-pm"},
    {cupti::kHardware, "CUPTI_ERROR_HARDWARE", "the GPU failed",
     "dmesg may name an Xid error of the GPU"},
    {cupti::kNotCompatible, "CUPTI_ERROR_NOT_COMPATIBLE", "this CUPTI and the driver do not match",
     "update the driver, or set CUDA_HOME to a toolkit that fits it"},
    {cupti::kNotInitialized, "CUPTI_ERROR_NOT_INITIALIZED",
     "CUPTI cannot be initialised with this driver",
     "update the driver, or set CUDA_HOME to a toolkit that fits it"},
    {cupti::kHardwareBusy, "CUPTI_ERROR_HARDWARE_BUSY", "another tool holds the GPU's counters",
     "for DCGM: dcgmi profmon --pause, and --resume afterwards; else end Nsight Compute or any "
     "other profiler of this GPU"},
    {cupti::kNotSupported, "CUPTI_ERROR_NOT_SUPPORTED",
     "this GPU, driver or CUPTI does not offer it", "Turing and later GPUs have PM sampling"},
    {cupti::kVirtualizedDeviceNotSupported, "CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED",
     "a virtual GPU has no counters", "no action is possible"},
    {cupti::kInsufficientPrivileges, "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES",
     "this user may not read the GPU's counters", kCountersFix},
    {cupti::kVirtualizedDeviceInsufficientPrivileges,
     "CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES",
     "the hypervisor does not permit this virtual GPU to read its counters",
     "ask an administrator of the hypervisor to permit profiling for this vGPU"},
    {cupti::kConfidentialComputingNotSupported, "CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED",
     "confidential computing is on, which hides the counters", "no action is possible"},
    {cupti::kCmpDeviceNotSupported, "CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED",
     "this kind of GPU has no counters", "no action is possible"},
    {cupti::kMigDeviceNotSupported, "CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED",
     "MIG is on: counters of the whole GPU are off", "no action is possible while MIG is on"},
    {cupti::kSliDeviceNotSupported, "CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED",
     "SLI is on, which hides the counters", "turn SLI off"},
    {cupti::kWslDeviceNotSupported, "CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED",
     "Windows does not offer the counters to Linux here",
     "permit counters for all users in the NVIDIA control panel of Windows"},
    {cupti::kInvalidChipName, "CUPTI_ERROR_INVALID_CHIP_NAME",
     "this CUPTI does not know the GPU's chip", "set CUDA_HOME to a newer toolkit"},
    {cupti::kUnknown, "CUPTI_ERROR_UNKNOWN", "CUPTI failed",
     "check that libnvperf_host.so is next to libcupti; else driver and CUPTI may not match"},
};

}  // namespace

std::string ExplainCupti(const std::string& function, int result) {
  const auto meaning_of = [](int wanted) {
    return std::find_if(std::begin(kMeanings), std::end(kMeanings),
                        [wanted](const Meaning& meaning) { return meaning.result == wanted; });
  };
  const Meaning* const meaning = meaning_of(result);
  if (meaning == std::end(kMeanings)) return function + ": CUPTI's error " + std::to_string(result);
  // Another session is told by results, too, that elsewhere tell other things.
  const bool is_busy = function == "cuptiPmSamplingEnable" &&
                       (result == cupti::kInvalidOperation || result == cupti::kUnknown);
  const Meaning* const words = is_busy ? meaning_of(cupti::kHardwareBusy) : meaning;
  return function + ": " + words->cause + " (" + meaning->name + ", " + std::to_string(result) +
         "); " + words->fix;
}

std::vector<std::string> CuptiInMaps(const std::string& maps) {
  std::vector<std::string> found;
  std::istringstream lines(maps);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find('/');
    if (at == std::string::npos) continue;
    const std::string path = line.substr(at);
    if (path.compare(path.rfind('/') + 1, 11, "libcupti.so") != 0) continue;
    if (std::find(found.begin(), found.end(), path) == found.end()) found.push_back(path);
  }
  return found;
}

bool CuptiLibrary::Try(const std::string& path) {
  if (path.find('/') != std::string::npos) {
    if (access(path.c_str(), R_OK) != 0) return false;
    const char* fault = proto::FaultOfLibrary(path.c_str());
    if (fault != nullptr) {
      if (fault_.empty()) fault_ = path + " " + fault + "; reinstall that library";
      return false;
    }
  }
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return false;
  std::string missing;
#define GPUPROF_CUPTI_FIND(member, symbol, parameter)                                       \
  functions_.member = reinterpret_cast<decltype(functions_.member)>(dlsym(handle, symbol)); \
  if (functions_.member == nullptr && missing.empty()) missing = symbol;
  GPUPROF_CUPTI_FUNCTIONS(GPUPROF_CUPTI_FIND)
#undef GPUPROF_CUPTI_FIND
  link_map* map = nullptr;
  const bool is_told = dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr;
  const std::string where = is_told ? map->l_name : path;
  if (!missing.empty()) {
    if (fault_.empty()) fault_ = where + " has no " + missing + "; " + kUpdate;
    // Nothing of it was called, so it can go.
    dlclose(handle);
    return false;
  }
  path_ = where;
  functions_.get_version(&api_version_);
  return true;
}

std::string CuptiLibrary::OpenFile(const std::string& path) {
  if (Try(path)) return "";
  return fault_.empty() ? path + " cannot be loaded" : fault_;
}

std::string CuptiLibrary::Open(const std::vector<int>& pids, const Variables& environment) {
  for (const int pid : pids) {
    struct stat owner = {};
    // What another user has mapped is not for us to load.
    if (stat(("/proc/" + std::to_string(pid)).c_str(), &owner) != 0 || owner.st_uid != geteuid())
      continue;
    const std::string maps = ReadFile("/proc/" + std::to_string(pid) + "/maps").value_or("");
    for (const std::string& path : CuptiInMaps(maps)) {
      if (Try(path)) return "";
    }
  }
  const auto look = [this](const CuptiFolder& folder) {
    if (!folder.is_named && !fault_.empty()) return false;
    for (const char* name : kCuptiNames) {
      if (Try(folder.path + name)) return true;
    }
    return false;
  };
  if (EachCuptiFolder(environment, look)) return "";
  if (!fault_.empty()) return fault_;
  return "libcupti was not found; pip install nvidia-cuda-cupti, or install the toolkit's package "
         "cuda-cupti. If its folder is not a usual one, set CUDA_HOME to that folder";
}

}  // namespace gpuprof::launcher
