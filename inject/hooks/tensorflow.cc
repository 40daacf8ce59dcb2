// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Functions of TensorFlow's recorder of marks, tsl::profiler::TraceMeRecorder. Its libraries call
// them through their PLTs, so these definitions win. Record is called for each mark that was made;
// Start and Stop are those of the program's own profiler. The real functions are found in the
// library itself (inject/tensorflow/library.h).

#include <atomic>

#include "inject/hook_list.h"
#include "inject/marked_captures.h"
#include "inject/state.h"
#include "inject/tensorflow/function_steps.h"
#include "inject/tensorflow/level.h"
#include "inject/tensorflow/library.h"
#include "inject/tensorflow/recorder.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

// For the program's profiler alone: rare, and not while gpuprof records by itself.
[[gnu::noinline, gnu::cold]] void PassOn(tensorflow::TraceMe* mark) {
  static constinit std::atomic<tensorflow::RecordFunction> known{nullptr};
  tensorflow::RecordFunction own = known.load(std::memory_order_relaxed);
  if (own == nullptr) {
    own = reinterpret_cast<tensorflow::RecordFunction>(tensorflow::Own(tensorflow::kRecord));
    known.store(own, std::memory_order_relaxed);
  }
  if (own != nullptr) own(mark);
}

}  // namespace

extern "C" {

GPUPROF_EXPORT void gpuprof_trace_me_record(tensorflow::TraceMe* mark) asm(
    "_ZN3tsl8profiler15TraceMeRecorder6RecordEONS1_5EventE");
GPUPROF_EXPORT void gpuprof_trace_me_record(tensorflow::TraceMe* mark) {
  if (Recording(proto::kSourceOps)) tensorflow::RecordMark(*mark);
  if (WatchesRanges()) tensorflow::CountMark(*mark);
  if (tensorflow::IsForProgram(*mark)) PassOn(mark);
}

GPUPROF_EXPORT bool gpuprof_trace_me_start(int level) asm(
    "_ZN3tsl8profiler15TraceMeRecorder5StartEi");
GPUPROF_EXPORT bool gpuprof_trace_me_start(int level) {
  return tensorflow::StartOfProgram(level, nullptr);
}

GPUPROF_EXPORT bool gpuprof_trace_me_start_filtered(int level, uint64_t filter) asm(
    "_ZN3tsl8profiler15TraceMeRecorder5StartEim");
GPUPROF_EXPORT bool gpuprof_trace_me_start_filtered(int level, uint64_t filter) {
  return tensorflow::StartOfProgram(level, &filter);
}

// The result is a container that the caller has room for: its address is the first argument, and is
// returned.
GPUPROF_EXPORT void* gpuprof_trace_me_stop(void* events) asm(
    "_ZN3tsl8profiler15TraceMeRecorder4StopEv");
GPUPROF_EXPORT void* gpuprof_trace_me_stop(void* events) {
  return tensorflow::StopOfProgram(events);
}

}  // extern "C"
