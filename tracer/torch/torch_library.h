// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds PyTorch's libraries among the loaded ones, their version and the few functions that are
// used, all by name.
//
// Control thread only. May wait for the loader's lock; reads version files; allocates inside the
// loader.

#pragma once

#include <cstdint>

namespace gpuprof::tracer {

// Whether any object was loaded or unloaded since the last call with the same `seen` (begin with
// 0).
bool LoaderChanged(uint64_t* seen);

struct LoadedLibrary {
  void* handle = nullptr;  // keeps it loaded
  char path[1024] = {};
};

// The first loaded object whose file name begins with `name`, fully initialised. False: there is
// none.
bool FindLibrary(const char* name, LoadedLibrary* library);

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
