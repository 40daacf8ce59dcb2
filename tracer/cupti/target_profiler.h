// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// A capture beside a profiler inside the program (TargetProfilerState, tracer/tracer.h). The
// program goes first. While it records, a capture has no GPU activity. When it asks CUPTI for
// something during a capture, the capture leaves CUPTI at once. A profiler that subscribes and
// rests keeps its subscription: the capture does without callbacks.
//
// The thread that calls CUPTI, unless a line says otherwise.

#pragma once

#include "tracer/cupti/library.h"
#include "tracer/tracer.h"

namespace gpuprof::tracer::cupti {

class TargetProfiler {
 public:
  // Takes CUPTI for a capture. False: the program records; `holder` (kHolderBytes) is its name.
  bool Take(TargetProfilerState* state, const Functions& functions, char* holder);
  // Gives CUPTI back with the program's settings. Before, the capture has disabled its kinds and
  // given up its subscription.
  void GiveBack(const Functions& functions);

  // The capture has registered its buffer callbacks with the first interface. Replaces a clock that
  // the program has registered: CUPTI's own clock cannot be had back.
  void NoteSettings(const Functions& functions);
  // The time of records on the clock that replaced the program's; 0: it is CUPTI's time.
  uint64_t Time() const;
  // What the program has set last, or CUPTI's default.
  uint8_t AllSyncRecords() const;

  // Whether the program has a subscription.
  bool HasSubscribed() const;
  // Whether the program has enabled `kind`. It may have when it could not wait.
  bool HasKind(uint32_t kind) const;
  // Whether the program waits for CUPTI.
  bool IsWanted() const;

 private:
  TargetProfilerState* state_ = nullptr;  // null: another libcupti is the program's, or no capture
  bool has_settings_ = false;
  bool has_replaced_clock_ = false;
};

// The name of the library that asked last; "": not known. `name` has kHolderBytes.
void CopyTargetProfilerName(const TargetProfilerState& state, char* name);

// A capture begins: what is noted is of this capture.
void BeginCaptureNotes(uint32_t number);
// The capture has left CUPTI to the program. Says so once.
void NoteYield(const Host& host);
// The capture records without callbacks, as the program has the subscription.
void NoteNoCallbacks(const Host& host);

// In a forked child: what was noted was of its parent.
void ForgetTargetProfilerNotes();

// For the trace, in words; "": nothing was noted. The drain.
const char* YieldNote();
const char* NoCallbacksNote();

}  // namespace gpuprof::tracer::cupti
