// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The GPUs as the CUDA driver numbers them for this environment: CUPTI's numbers, other ones than
// NVML's where CUDA_VISIBLE_DEVICES or the order say so. They are known by their uuids.
//
// It initialises CUDA in the calling process, which must be one of its own: the sampler's, where no
// variable names a tool to be loaded with CUDA. No context is made.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace gpuprof::launcher {

struct CudaDevice {
  size_t index = 0;  // CUDA's
  std::string name;
  std::string uuid;        // "GPU-...", as NVML writes it
  std::string whole_uuid;  // where this is a part of a GPU (MIG): of the whole
};

// Empty, or cause and fix.
std::string ListCudaDevices(std::vector<CudaDevice>* devices);

}  // namespace gpuprof::launcher
