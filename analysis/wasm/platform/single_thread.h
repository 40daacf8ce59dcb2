// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What WASI's libraries lack because there is one thread, and what Linux alone has. The compiler
// includes this file first in every file of the engine (analysis/wasm/CMakeLists.txt). A mutex of
// one thread needs no state.

#pragma once

#ifdef __cplusplus
#include <mutex>

namespace std {
class mutex {
 public:
  constexpr mutex() = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;
  void lock() {}
  bool try_lock() { return true; }
  void unlock() {}
};
}  // namespace std
#endif

#include <fcntl.h>

// Folders are opened like files here.
#ifndef O_PATH
#define O_PATH O_RDONLY
#endif
