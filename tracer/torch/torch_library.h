// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Which PyTorch a library belongs to. Control thread only: reads version files.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

struct TorchVersion {
  uint32_t major = 0;  // 0: unknown
  uint32_t minor = 0;
};

// Of the PyTorch that the library at `path` belongs to: torch/version.py beside torch/lib (wheels),
// build-version (the C++ distribution), or the number behind the file name (distributions'
// packages).
TorchVersion VersionBeside(const char* path);

// "2.13.0+cpu" and the like; a quote in front is skipped.
TorchVersion ParseVersion(const char* text);

}  // namespace gpuprof::tracer
