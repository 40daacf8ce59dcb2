// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See nvml_library.h.

#include "launcher/gpu/nvml_library.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "launcher/base/read_file.h"
#include "launcher/base/values.h"
#include "launcher/gpu/counters.h"

namespace gpuprof::launcher {
namespace {

constexpr char kSoname[] = "libnvidia-ml.so.1";
// The loader's own folders, and those where containers, WSL and NixOS have the driver.
constexpr const char* kFolders[] = {"/usr/lib/x86_64-linux-gnu",
                                    "/usr/lib/aarch64-linux-gnu",
                                    "/usr/lib64",
                                    "/usr/lib",
                                    "/lib64",
                                    "/usr/lib/wsl/lib",
                                    "/usr/local/nvidia/lib64",
                                    "/run/opengl-driver/lib"};
constexpr const char* kBesideTheLoader[] = {"/usr/lib/wsl/lib", "/usr/local/nvidia/lib64",
                                            "/run/opengl-driver/lib"};

constexpr char kNotFoundFix[] =
    "it comes with the NVIDIA driver (package libnvidia-compute or nvidia-driver); in a container, "
    "NVIDIA_DRIVER_CAPABILITIES must name utility: docker run --gpus all -e "
    "NVIDIA_DRIVER_CAPABILITIES=compute,utility";
bool IsIn(const std::string& folder) {
  // A relative part means the working directory, from which nothing is loaded.
  return folder.starts_with('/') && access((folder + "/" + kSoname).c_str(), R_OK) == 0;
}

struct Meaning {
  int result;
  const char* name;
  const char* cause;
  const char* fix;
};
constexpr Meaning kMeanings[] = {
    {nvml::kUninitialized, "NVML_ERROR_UNINITIALIZED", "NVML was not initialised",
     "report this as a fault of gpuprof"},
    {nvml::kInvalidArgument, "NVML_ERROR_INVALID_ARGUMENT", "NVML refused an argument",
     "report this with the driver's version as a fault of gpuprof"},
    {nvml::kNotSupported, "NVML_ERROR_NOT_SUPPORTED", "this GPU or driver does not offer it",
     "no action is possible; if MIG is on, counters of the whole GPU are off"},
    {nvml::kNoPermission, "NVML_ERROR_NO_PERMISSION", "this user may not read it",
     "/dev/nvidiactl and /dev/nvidia0 must be readable and writable for this user (ls -l "
     "/dev/nvidia*)"},
    {nvml::kDriverNotLoaded, "NVML_ERROR_DRIVER_NOT_LOADED", "the NVIDIA driver is not loaded",
     "load it (modprobe nvidia), or start the container with its GPUs (docker run --gpus all)"},
    {nvml::kTimeout, "NVML_ERROR_TIMEOUT", "the driver did not answer in time",
     "dmesg may name an Xid error of the GPU"},
    {nvml::kLibraryNotFound, "NVML_ERROR_LIBRARY_NOT_FOUND",
     "a library of the driver was not found", kNotFoundFix},
    {nvml::kFunctionNotFound, "NVML_ERROR_FUNCTION_NOT_FOUND",
     "this driver's NVML does not have this call", "a newer driver has it"},
    {nvml::kGpuIsLost, "NVML_ERROR_GPU_IS_LOST", "the GPU has fallen off the bus",
     "dmesg names the Xid error; restart the machine"},
    {nvml::kResetRequired, "NVML_ERROR_RESET_REQUIRED", "the GPU must be reset",
     "ask an administrator to run nvidia-smi --gpu-reset or to restart the machine"},
    {nvml::kLibRmVersionMismatch, "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
     "the driver in the kernel and its libraries are of different versions",
     "restart the machine after a driver's update, or in a container remove the libnvidia-ml that "
     "the image brings"},
    {nvml::kInUse, "NVML_ERROR_IN_USE", "the GPU is in use by another tool",
     "end that tool (for DCGM: dcgmi profmon --pause)"},
    {nvml::kArgumentVersionMismatch, "NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
     "this driver has the call in another version", "update the driver"},
    {nvml::kUnknown, "NVML_ERROR_UNKNOWN", "the driver failed",
     "dmesg may name an Xid error of the GPU"},
};

const Meaning* MeaningOf(int result) {
  for (const Meaning& meaning : kMeanings) {
    if (meaning.result == result) return &meaning;
  }
  return nullptr;
}

}  // namespace

bool NvmlIsHere() {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  for (const std::string& folder : Split(path == nullptr ? "" : path, ':')) {
    if (IsIn(folder)) return true;
  }
  for (const char* folder : kFolders) {
    if (IsIn(folder)) return true;
  }
  // Names stand in it as they are.
  const std::string names = ReadFile("/etc/ld.so.cache").value_or("");
  return names.find(kSoname) != std::string::npos;
}

bool IsAbsence(int result) {
  return result == nvml::kNotSupported || result == nvml::kFunctionNotFound ||
         result == nvml::kArgumentVersionMismatch;
}

std::string ExplainNvml(const std::string& function, int result) {
  const Meaning* meaning = MeaningOf(result);
  if (meaning == nullptr) return function + ": NVML's error " + std::to_string(result);
  // Counters of GPM are guarded as those of the profilers are.
  const bool is_guarded = result == nvml::kNoPermission && function.rfind("nvmlGpm", 0) == 0;
  return function + ": " + meaning->cause + " (" + meaning->name + ", " + std::to_string(result) +
         "); " + (is_guarded ? kCountersFix : meaning->fix);
}

NvmlLibrary::~NvmlLibrary() {
  if (is_initialized_) functions_.shutdown();
  if (handle_ != nullptr) dlclose(handle_);
}

std::string NvmlLibrary::Load() {
  handle_ = dlopen(kSoname, RTLD_NOW | RTLD_LOCAL);
  std::string fault;
  if (handle_ == nullptr) {
    const char* words = dlerror();
    fault = words == nullptr ? "" : words;
  }
  for (const char* folder : kBesideTheLoader) {
    if (handle_ == nullptr && IsIn(folder))
      handle_ = dlopen((std::string(folder) + "/" + kSoname).c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  if (handle_ != nullptr) return "";
  if (!NvmlIsHere()) return std::string("there is no ") + kSoname + "; " + kNotFoundFix;
  return std::string(kSoname) + " cannot be loaded: " + fault;
}

std::string NvmlLibrary::Open() {
  std::string fault = Load();
  if (!fault.empty()) return fault;
  link_map* map = nullptr;
  if (dlinfo(handle_, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr) path_ = map->l_name;
#define GPUPROF_NVML_FIND(member, symbol, required, parameters)                              \
  functions_.member = reinterpret_cast<decltype(functions_.member)>(dlsym(handle_, symbol)); \
  if ((required) && functions_.member == nullptr)                                            \
    return path_ + " has no " symbol ": it is of another kind, or older than driver 418";
  GPUPROF_NVML_FUNCTIONS(GPUPROF_NVML_FIND)
#undef GPUPROF_NVML_FIND
  if (functions_.clocks_event_reasons == nullptr)  // its name before driver 535
    functions_.clocks_event_reasons = functions_.clocks_throttle_reasons;
  const int result = functions_.init();
  if (result != nvml::kSuccess) return ExplainNvml("nvmlInit_v2", result);
  is_initialized_ = true;
  char version[nvml::kDriverVersionBytes] = {};
  if (functions_.driver_version(version, sizeof version) == nvml::kSuccess)
    driver_version_.assign(version, strnlen(version, sizeof version));
  return "";
}

}  // namespace gpuprof::launcher
