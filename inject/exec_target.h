// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Whether a program that is about to be executed can load gpuprof's object, and may. A program that
// cannot must not find it in LD_PRELOAD: the loader would complain on its stderr, or end it. A
// program that another tool watches must not find it either (proto/watching_tools.h). In hooks of
// exec and spawn, also in a child of vfork(): no heap, no lock, errno untouched.

#pragma once

#include <cstddef>

#include "proto/exec_obstacle.h"

namespace gpuprof::inject {

using proto::ExecObstacle;

// Looks at the environment, at the file of the program, and of its interpreter if it is a script.
// `path` may be null: then only the object's own file is looked at. kNone if `envp` does not name
// the object.
ExecObstacle FindObstacle(const char* path, char* const envp[]) noexcept;

// Returns whether another tool watches this process by a library that it preloads.
bool IsWatched() noexcept;

// Returns whether the object has been dropped from LD_PRELOAD on the way: a start script has set
// the variable for another library. The program belongs to the recorded tree and can load the
// object.
bool HasLostObject(const char* path, char* const envp[]) noexcept;

// Entries of `envp` with its end, and bytes of its LD_PRELOAD with the object: the room that
// WithoutObject and WithObject need.
struct EnvironmentSize {
  size_t entries;
  size_t preload_bytes;
};
EnvironmentSize SizeOf(char* const envp[]) noexcept;

// Writes `envp` without the object to `entries`. The rest of LD_PRELOAD goes to `preload`.
void WithoutObject(char* const envp[], char** entries, char* preload) noexcept;

// Writes `envp` with the object in LD_PRELOAD to `entries`. The object comes first, as the launcher
// puts it. It comes last if a sanitizer is preloaded, which must come first.
void WithObject(char* const envp[], char** entries, char* preload) noexcept;

}  // namespace gpuprof::inject
