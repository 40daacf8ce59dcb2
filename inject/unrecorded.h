// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Tells the bundle of a program that runs without gpuprof. The process that starts the program may
// be a shell, which has no trace of its own to tell it in.

#pragma once

#include "proto/exec_obstacle.h"

namespace gpuprof::inject {

// Appends an entry to the bundle's file of programs without gpuprof. `path` may be null: the
// running executable. Nothing happens if the bundle cannot be written, or if the file is large
// already. In hooks of exec and spawn, also in a child of vfork(), and in the constructor: no heap,
// no lock, errno untouched.
void NoteUnrecorded(const char* path, proto::ExecObstacle obstacle) noexcept;

}  // namespace gpuprof::inject
