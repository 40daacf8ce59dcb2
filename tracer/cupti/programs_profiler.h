// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A capture and a profiler inside the program (ProgramsCupti, tracer/tracer.h) take turns with
// CUPTI's first interface: who has it keeps it, and finds it as it was when the other is done.
//
// The thread that calls CUPTI, unless a line says otherwise.

#pragma once

#include "tracer/cupti/library.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

class ProgramsProfiler {
 public:
  // False: it records. `holder` (kHolderBytes) is its name.
  bool KeepOut(ProgramsCupti* program, char* holder);
  // After KeepOut, before any kind is enabled: a clock that the program has registered would be
  // that of our records, in units of its own; CUPTI's own cannot be had back.
  void ReplaceClock(const Functions& functions);
  // The time of records since then; 0: it is CUPTI's.
  uint64_t Time() const;
  // With no kind enabled any more.
  void LetIn(const Functions& functions);

 private:
  ProgramsCupti* program_ = nullptr;
  bool has_replaced_clock_ = false;
};

// For the trace: that it asked during a capture; "" where it did not. The drain.
const char* RefusedProfilerNote(const ProgramsCupti& program);

}  // namespace gpuprof::tracer::cupti
