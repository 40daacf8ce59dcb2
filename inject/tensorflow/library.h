// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// TensorFlow's library in the process: the functions behind gpuprof's hooks, the word that says
// which marks are made, and whether calls reach the hooks.

#pragma once

#include <atomic>
#include <cstdint>

#include "inject/tensorflow/trace_me.h"
#include "tracer/tracer.h"

namespace gpuprof::inject::tensorflow {

inline constexpr char kRecord[] = "_ZN3tsl8profiler15TraceMeRecorder6RecordEONS1_5EventE";
inline constexpr char kStart[] = "_ZN3tsl8profiler15TraceMeRecorder5StartEi";
inline constexpr char kStartFiltered[] = "_ZN3tsl8profiler15TraceMeRecorder5StartEim";
inline constexpr char kStop[] = "_ZN3tsl8profiler15TraceMeRecorder4StopEv";
inline constexpr char kLevel[] = "_ZN3tsl8profiler8internal13g_trace_levelE";

using RecordFunction = void (*)(TraceMe*);
using StartFunction = bool (*)(int level);
using StartFilteredFunction = bool (*)(int level, uint64_t filter);
using StopFunction = void* (*)(void* events);

// Returns the library's own function or data of this name; null: no loaded library defines it. Any
// thread; no heap and not the loader's lock.
void* Own(const char* name) noexcept;

// Looks for the library if objects were loaded since the last look. Control thread. Returns
// whether marks can be recorded.
bool LookForLibrary() noexcept;

// Where the library has the level of marks; null: LookForLibrary() has not found it.
std::atomic<int32_t>* Level() noexcept;

// What the tracer tells of it.
const tracer::TensorflowFacts* Facts() noexcept;

}  // namespace gpuprof::inject::tensorflow
