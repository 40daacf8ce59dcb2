// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The libcupti of the program that is recorded, as a table of functions. One that is mapped already
// is taken: two copies in a process do not get on. Else the file that CUPTI_RECORDER_LIBRARY names,
// or the newest for this driver beside the program's runtime, by the loader, or in the usual
// toolkit.

#pragma once

#include <cupti.h>

#include <cstdint>

namespace fake_gpu_recorder {

// X(name, needed): the functions, without "cupti".
#define CUPTI_RECORDER_FUNCTIONS(X)      \
  X(GetVersion, true)                    \
  X(GetTimestamp, true)                  \
  X(Subscribe, true)                     \
  X(EnableCallback, true)                \
  X(SetThreadIdType, false)              \
  X(ActivityRegisterCallbacks, true)     \
  X(ActivityEnable, true)                \
  X(ActivityEnableAndDump, false)        \
  X(ActivityEnableAllSyncRecords, false) \
  X(ActivityGetAttribute, false)         \
  X(ActivityGetNextRecord, true)         \
  X(ActivityGetNumDroppedRecords, true)  \
  X(ActivityFlushAll, true)

struct Library {
#define CUPTI_RECORDER_MEMBER(name, needed) decltype(&::cupti##name) name = nullptr;
  CUPTI_RECORDER_FUNCTIONS(CUPTI_RECORDER_MEMBER)
#undef CUPTI_RECORDER_MEMBER
  uint32_t version = 0;
  int driver_version = 0;  // cuDriverGetVersion; 0: not told
  char path[4096] = {};
};

// False: `library->path` says what is missing.
bool Load(Library* library);

}  // namespace fake_gpu_recorder
