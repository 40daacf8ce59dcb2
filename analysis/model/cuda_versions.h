// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Versions of the driver, of CUDA and of CUPTI. Traces of libkineto tell numbers, and the notes of
// a process tell words: "driver for CUDA 13.0". Pure; any thread.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gpuprof::analysis {

struct CudaVersionKind {
  std::string_view key;          // of a header of libkineto
  std::string_view words;        // in front of the version
  int64_t per_major, per_minor;  // what a major and a minor release add to the number
};
// 13020 is CUDA 13.2, and 130201 is CUPTI of CUDA 13.2.
inline constexpr CudaVersionKind kCudaVersions[] = {
    {"cuda_driver_version", "driver for CUDA ", 1000, 10},
    {"cuda_runtime_version", "CUDA ", 1000, 10},
    {"cupti_version", "CUPTI ", 10'000, 100},
};

// Notes about versions have this source.
inline constexpr char kVersionSource[] = "cupti";

// Returns the words for a version. Empty: the number cannot be one.
std::string CudaVersionText(const CudaVersionKind& kind, int64_t number);
// Returns the number in a note. None: the note is about something else.
std::optional<int64_t> CudaVersionNumber(const CudaVersionKind& kind, std::string_view note);

}  // namespace gpuprof::analysis
