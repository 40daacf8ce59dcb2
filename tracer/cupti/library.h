// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The one libcupti of this process, as a table of functions: loaded by name at run time, never
// linked. The table is all that the rest of gpuprof knows of it.
//
// Two copies of the library in one process do not get on, so one that is already loaded is taken,
// whoever loaded it; else the newest that its driver is not too old for, from the first place of
// library_search.h that has any. A file that is not whole is passed over: to load it would end the
// program.
//
// Load: a thread that may call CUDA (the program's, or gpuprof-ctl). Opens files, takes the
// loader's lock, allocates from the program's heap inside the loader.

#pragma once

#include <cstddef>
#include <cstdint>

#include "tracer/cupti/abi.h"

namespace gpuprof::tracer::cupti {

struct Functions {
#define GPUPROF_CUPTI_MEMBER(member, symbol, type, needed) \
  using member##_type = type;                              \
  member##_type member = nullptr;
  GPUPROF_CUPTI_FUNCTIONS(GPUPROF_CUPTI_MEMBER)
#undef GPUPROF_CUPTI_MEMBER
};

struct Library {
  Functions functions;
  uint32_t version = 0;         // cuptiGetVersion
  char path[1024] = {};         // of the file that is used
  char reason[2600] = {};       // why there is none
  char passed_over[1200] = {};  // the first that was not whole, and what is wrong with it
};

// False: `library->reason` says what is missing and what helps.
bool Load(Library* library);

}  // namespace gpuprof::tracer::cupti
