// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds libraries among the loaded ones, by the beginning of their file names.
//
// May wait for the loader's lock, which a load under way holds until the library's constructors
// have run: the control thread, or a thread of the program's that is in no loader call.

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

}  // namespace gpuprof::tracer
