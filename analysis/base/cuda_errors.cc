// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See cuda_errors.h.

#include "analysis/base/cuda_errors.h"

namespace gpuprof::analysis {
namespace {

struct CudaError {
  int32_t number;
  const char* words;
};
constexpr CudaError kErrors[] = {{1, "invalid value"},
                                 {2, "out of memory"},
                                 {3, "not initialised"},
                                 {4, "CUDA is shutting down"},
                                 {9, "invalid launch configuration"},
                                 {12, "invalid pitch"},
                                 {13, "invalid symbol"},
                                 {21, "invalid direction of a copy"},
                                 {35, "driver too old"},
                                 {46, "device unavailable"},
                                 {98, "invalid device function"},
                                 {100, "no device"},
                                 {101, "invalid device"},
                                 {200, "invalid kernel image"},
                                 {201, "invalid context"},
                                 {209, "no kernel image for this device"},
                                 {214, "uncorrectable ECC error"},
                                 {217, "peer access unsupported"},
                                 {218, "invalid PTX"},
                                 {222, "PTX of a newer version than the driver"},
                                 {300, "invalid source"},
                                 {301, "file not found"},
                                 {400, "invalid handle"},
                                 {401, "illegal state"},
                                 {500, "symbol not found"},
                                 {600, "not ready"},
                                 {700, "illegal address"},
                                 {701, "out of launch resources"},
                                 {702, "launch timed out"},
                                 {704, "peer access already enabled"},
                                 {705, "peer access not enabled"},
                                 {709, "context destroyed"},
                                 {710, "assertion failed in a kernel"},
                                 {712, "host memory already registered"},
                                 {713, "host memory not registered"},
                                 {715, "illegal instruction"},
                                 {716, "misaligned address"},
                                 {719, "launch failed"},
                                 {720, "cooperative launch too large"},
                                 {800, "not permitted"},
                                 {801, "not supported"},
                                 {802, "system not ready"},
                                 {803, "driver and libcuda do not match"},
                                 {900, "not allowed during a stream capture"},
                                 {901, "stream capture invalidated"},
                                 {906, "implicit stream in a stream capture"},
                                 {907, "event recorded in a stream capture"},
                                 {999, "unknown error"}};

}  // namespace

std::string CudaErrorWords(int32_t error) {
  for (const CudaError& known : kErrors) {
    if (known.number == error) return std::string(known.words) + " (" + std::to_string(error) + ")";
  }
  return "error " + std::to_string(error);
}

}  // namespace gpuprof::analysis
