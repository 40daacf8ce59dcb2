// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// When a stopped thread may be made to load an object. dlopen() takes the locks of the allocator
// and of the loader. Another thread that holds one gives it back, since it goes on running. The
// stopped thread itself would wait for ever. So no frame of its stack may lie in the allocator, in
// the loader or in a signal handler, and none of the C library but where it waits and where the
// thread began.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "launcher/attach/stack_walk.h"
#include "launcher/attach/target_objects.h"

namespace gpuprof::launcher {

enum class Moment {
  kSafe,
  kInAllocator,
  kInLoader,
  kInHandler,    // a signal handler runs
  kInLibrary,    // in the C library, and not in a wait
  kUnknownStack  // the stack cannot be followed to its end
};

class SafeMoments {
 public:
  explicit SafeMoments(const TargetObjects* objects);

  // Returns whether the process has what the judgement needs: empty, or what is missing.
  const std::string& missing() const { return missing_; }

  // Judges the stack of a stopped thread. `call` is the system call that it was stopped in;
  // negative: none.
  Moment Judge(const TargetStack& stack, long call) const;

 private:
  struct Range {
    uint64_t begin, end;
  };
  enum class Place { kProgram, kLibrary, kAllocator, kLoader };
  Place PlaceOf(uint64_t pc) const;

  const TargetObjects* objects_;
  std::vector<Range> allocators_;
  std::vector<Range> loaders_;
  std::vector<Range> libraries_;    // of the C library
  uint64_t entry_ = 0;              // the program's first instruction
  bool has_own_allocator_ = false;  // the program itself exports malloc
  std::string missing_;
};

}  // namespace gpuprof::launcher
