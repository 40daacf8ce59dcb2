// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Takes gpuprof's threads out of what the program reads about its own threads. For the hooks of
// reads (inject/hooks/files.cc).

#pragma once

#include <sys/types.h>

#include "inject/own_threads.h"

namespace gpuprof::inject {

// Changes the number of threads in the first `bytes` of /proc/self/stat or /proc/self/status, which
// were read from `descriptor`. Returns how many bytes are left. Whatever else was read stays.
// errno untouched.
ssize_t WithoutOwnThreads(int descriptor, void* buffer, ssize_t bytes) noexcept;

// The same, if gpuprof has threads.
inline ssize_t AsBare(int descriptor, void* buffer, ssize_t bytes) noexcept {
  return MayHaveOwnThreads() ? WithoutOwnThreads(descriptor, buffer, bytes) : bytes;
}

}  // namespace gpuprof::inject
