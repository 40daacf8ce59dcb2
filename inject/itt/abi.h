// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a collector must know of Intel's ITT API (ittnotify, version 3): the layouts of what the
// program's part and the collector's part share, as they are on Linux. A part that is linked into
// each library of the program (ittnotify_static) loads the collector that INTEL_LIBITTNOTIFY64
// names and hands it the list of its functions' slots.

#pragma once

#include <pthread.h>

#include <cstddef>
#include <cstdint>

namespace gpuprof::inject::itt {

// A slot of the program's part. With the null function in it the call costs a branch.
struct ApiInfo {
  const char* name;  // "__itt_task_begin"
  void** slot;
  void* initial;
  void* null_function;
  int group;
};

// Public to the program, which looks at `flags` before it calls with the domain.
struct Domain {
  int flags;  // 1: enabled
  const char* name;
  void* wide_name;
  int extra1;
  void* extra2;  // of the collector
  Domain* next;
};
static_assert(sizeof(Domain) == 48);

struct StringHandle {
  const char* text;
  void* wide_text;
  int extra1;
  void* extra2;  // of the collector
  StringHandle* next;
};
static_assert(sizeof(StringHandle) == 40);

// By value: in memory, as the psABI has it for structs of this size.
struct Id {
  unsigned long long d1, d2, d3;
};

struct Global {
  unsigned char magic[8];
  unsigned long version_major, version_minor, version_build;
  long api_initialized, mutex_initialized, atomic_counter;
  pthread_mutex_t mutex;
  void* library;
  void* error_handler;
  const char** path;
  ApiInfo* api_list;  // ends with a null name
  Global* next;
  void* threads;
  // Made before a collector was there.
  Domain* domains;
  StringHandle* strings;
};
static_assert(offsetof(Global, api_list) == 120 && offsetof(Global, domains) == 144);

inline constexpr unsigned char kMagic[8] = {0xed, 0xab, 0xab, 0xec, 0x0d, 0xee, 0xda, 0x30};
inline constexpr unsigned long kVersion = 3;
// Before, ApiInfo had no null function.
inline constexpr unsigned long kFirstBuild = 20101002;

}  // namespace gpuprof::inject::itt
