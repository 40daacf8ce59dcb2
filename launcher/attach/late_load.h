// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Has a stopped thread load the inject object and call its attach function. Code and stack lie in
// memory that is made for it and removed again.
//
// The code ends with a signal to the thread itself, at which it stops for its tracer, and with the
// system call rt_sigreturn and a frame of all its registers. So a thread whose call takes too long,
// or whose tracer is killed, goes on by itself.

#pragma once

#include <cstdint>
#include <string>

#include "launcher/attach/stopped_thread.h"
#include "launcher/attach/target_memory.h"
#include "launcher/attach/target_objects.h"

namespace gpuprof::launcher {

// Addresses in the process.
struct LoaderFunctions {
  uint64_t open = 0;         // dlopen
  uint64_t find = 0;         // dlsym
  uint64_t error = 0;        // dlerror; 0: there is none
  uint32_t flags = 0;        // for `open`
  uint64_t system_call = 0;  // an instruction that makes a system call, with a return behind it
  uint64_t restore = 0;      // code that makes the system call rt_sigreturn; 0: none was found
};

// Finds them. Returns empty, or what is missing.
std::string FindLoaderFunctions(const TargetMemory& memory, const TargetObjects& objects,
                                LoaderFunctions* functions);

struct LateLoad {
  bool has_returned = false;  // false: the call may go on, or the thread has ended
  bool is_loaded = false;
  int attach_result = 0;  // of kAttachFunction
  // What the call needed, if the object is to remove it once the thread has left it.
  uint64_t memory_at = 0, memory_bytes = 0;
  std::string error;  // the loader's words, or what else failed
};

// `settings` are as in proto/attach.h.
LateLoad LoadLate(const TargetMemory& memory, const LoaderFunctions& functions,
                  const std::string& object, const std::string& settings, StoppedThread* thread);

}  // namespace gpuprof::launcher
