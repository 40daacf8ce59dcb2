// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// From TensorFlow's marks to rows: a mark is an operation of the scope trace_me, and its values
// stand before it. Threads of the program, inside the library: no heap, no lock, errno untouched.

#pragma once

#include "inject/tensorflow/trace_me.h"

namespace gpuprof::inject::tensorflow {

// Makes room for names. Control thread, before marks are made. False: no memory.
bool PrepareRecorder() noexcept;

// Writes a mark into the calling thread's ring, if operations are recorded.
void RecordMark(const TraceMe& mark) noexcept;

// The process writes another file: names are defined anew.
void BeginFile() noexcept;

}  // namespace gpuprof::inject::tensorflow
