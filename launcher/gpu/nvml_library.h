// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// libnvidia-ml.so.1: whether the machine has it, loading it, and what its refusals mean. It is a
// driver's library and may hang or crash: it is loaded in the sampler's process and in doctor's
// probe alone, never in the launcher that waits for the command, never in the program.

#pragma once

#include <string>

#include "launcher/gpu/nvml_abi.h"

namespace gpuprof::launcher {

// Where the loader would find the library, without loading it: LD_LIBRARY_PATH, the loader's cache,
// the folders that drivers use.
bool NvmlIsHere();

class NvmlLibrary {
 public:
  NvmlLibrary() = default;
  ~NvmlLibrary();
  NvmlLibrary(const NvmlLibrary&) = delete;
  NvmlLibrary& operator=(const NvmlLibrary&) = delete;

  // Loads and initialises it. Empty, or cause and fix.
  std::string Open();
  const nvml::Functions& functions() const { return functions_; }
  const std::string& path() const { return path_; }
  const std::string& driver_version() const { return driver_version_; }

 private:
  std::string Load();

  void* handle_ = nullptr;
  bool is_initialized_ = false;
  nvml::Functions functions_ = {};
  std::string path_;
  std::string driver_version_;
};

// "nvmlInit_v2: the NVIDIA driver is not loaded (NVML_ERROR_DRIVER_NOT_LOADED, 9); load it ...".
// Pure.
std::string ExplainNvml(const std::string& function, int result);
// What is not worth a word on the terminal: this GPU or this driver has no such counter.
bool IsAbsence(int result);

}  // namespace gpuprof::launcher
