// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Finds the functions behind gpuprof's hooks of CUPTI (hooks/cupti.h), and of CUDA's profiler calls
// (hooks/cuda_profiler.cc). Which library's function it is depends on the caller.
//
// Any thread. No heap and not the loader's lock, which a program may hold while it waits for a
// thread that calls CUPTI.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

struct CuptiFunction {
  void* function = nullptr;  // null: not found
  uint64_t library = 0;      // load address of its library; 0: a stub of another library
};

// Finds the function that the loader would have bound to a call of `name` that returns to `caller`.
// This is the caller's own definition, if there is one (frameworks have stubs). Otherwise it is the
// function of the libcupti that the caller is linked to, or of the loaded libcupti. `nested`: the
// call is made within another hooked call on this thread, when a stub would lead back here. `name`
// stays valid.
CuptiFunction FindCuptiFunction(const char* name, const void* caller, bool nested) noexcept;

// Finds the function in the same way, of another library. `library` begins the library's file name.
// If this library is not loaded, it is the first function of this name in the loaded objects.
CuptiFunction FindFunctionOf(const char* library, const char* name, const void* caller,
                             bool nested) noexcept;

// Writes the file name of the object that `address` lies in to `name`; "" if no object is there.
void CopyObjectName(const void* address, char* name, uint32_t room) noexcept;

// Forgets the functions that were found, so that they are looked up again. Called after objects
// were unloaded.
void ForgetCuptiFunctions() noexcept;

}  // namespace gpuprof::inject
