// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A capture and a profiler inside the program (ProgramsCupti, tracer/tracer.h) take turns with
// CUPTI: who records keeps it, and finds everything as it was when the other is done. One that has
// subscribed and rests, as torch.profiler does between its own captures, is called back for what
// it has asked for all the time.
//
// The thread that calls CUPTI, unless a line says otherwise.

#pragma once

#include "tracer/cupti/library.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

class ProgramsProfiler {
 public:
  // False: it records, or follows calls. `holder` (kHolderBytes) is its name. Else its subscription
  // is given up for the time.
  bool KeepOut(ProgramsCupti* program, const Functions& functions, char* holder);
  // The capture has subscribed: what the program wants to be called back for comes to Forward.
  void TakeCallbacks(SubscriberHandle ours, const Functions& functions);
  // Of the first interface, before any kind is enabled: a clock that the program has registered
  // would be that of our records, in units of its own; CUPTI's own cannot be had back.
  void ReplaceClock(const Functions& functions);
  // The time of records since then; 0: it is CUPTI's.
  uint64_t Time() const;
  // What it has last asked for, or CUPTI's default.
  uint8_t AllSyncRecords() const;
  // Before the capture's subscription is given up.
  void LeaveCallbacks();
  // With nothing of ours enabled or subscribed any more.
  void LetIn(const Functions& functions);

 private:
  // The program's calls wait until Open, or until CUPTI is the capture's.
  void BeginChange();
  void Open(const Functions& functions);
  void TurnOffKinds(const Functions& functions);
  void Restore(const Functions& functions);
  void RestoreSettings(const Functions& functions);

  ProgramsCupti* program_ = nullptr;  // null: it uses another libcupti, or there is no capture
  uint64_t kept_ = 0;  // ProgramsCupti's, as it was when all was as the program wants it
  bool has_turned_off_ = false;
  bool has_taken_ = false;  // CUPTI has our buffers
  bool has_replaced_clock_ = false;
};

// A callback of the domain RESOURCE, by the program's too if it wants it. Inside CUPTI's.
void Forward(const ProgramsCupti& program, uint32_t id, const void* data);

// A forked child's copy: there is no capture, and what was refused was its parent's.
void ForgetProgram(ProgramsCupti* program);

// For the trace: that it asked during a capture; "" where it did not. The drain.
const char* RefusedProfilerNote(const ProgramsCupti& program);

}  // namespace gpuprof::tracer::cupti
