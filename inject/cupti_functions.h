// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The functions behind our hooks of CUPTI (hooks/cupti.h): whose they are depends on who calls.
//
// Any thread. No heap and not the loader's lock, which a program may hold while it waits for a
// thread that calls CUPTI.

#pragma once

#include <cstdint>

namespace gpuprof::inject {

struct CuptiFunction {
  void* function = nullptr;  // null: there is none
  uint64_t library = 0;      // where the libcupti is that it is of; 0: it is a stub of somebody's
};

// What the loader would have bound a call of `name` to that returns to `caller`: the caller's own
// definition (a stub, as frameworks have them), else that of the libcupti it is linked to, or of
// the one that is there. `nested`: within another such call on this thread, where a stub would lead
// back here. `name` stays valid.
CuptiFunction FindCuptiFunction(const char* name, const void* caller, bool nested) noexcept;

// The file name of the object that `address` lies in; "": of none.
void CopyObjectName(const void* address, char* name, uint32_t room) noexcept;

// Objects were unloaded: what was found is looked for again.
void ForgetCuptiFunctions() noexcept;

}  // namespace gpuprof::inject
