// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See recorder.h.

#include "tracer/jax/recorder.h"

#include <sys/resource.h>
#include <time.h>

#include <algorithm>

#include "tracer/base/futex.h"
#include "tracer/base/loaded_library.h"
#include "tracer/jax/sessions.h"

namespace gpuprof::tracer::jax {
namespace {

constexpr const char* kLibraries[] = {"libjax_common.so", "xla_extension.so"};

constexpr uint64_t kLook = 50 * kMillisecond;     // while a window is open
constexpr uint64_t kImport = 20 * kMillisecond;   // until JAX's module is there
constexpr uint64_t kUnused = 200 * kMillisecond;  // while nothing is computed
constexpr uint64_t kBusy = 500 * kMillisecond;    // behind another session
// A window is of about so many bytes: some 33,000 marks.
constexpr uint64_t kWantedBytes = 1 << 20;
// What a mark costs the program, and its bytes in a window.
constexpr uint64_t kMarkNs = 700, kMarkBytes = 31;
// Limits of a window: processor time of the process, and time that passes. The first is short: how
// many marks the program makes is not known yet.
constexpr uint64_t kFirstCpu = 100 * kMillisecond;
constexpr uint64_t kMostCpu = 30 * kSecond;  // of a program with few marks, on all its threads
constexpr uint64_t kLeastCpu = 20 * kMillisecond;
constexpr uint64_t kMostTime = 5 * kSecond;
// Pages that the process touched anew. Marks take 600 bytes each until they are stopped.
constexpr uint64_t kFirstPages = 16 << 10, kLeastPages = 4 << 10, kMostPages = 256 << 10;
// All windows together may cost one part in so many of the process's time, and this much before.
constexpr uint64_t kCostShare = 50;
constexpr uint64_t kCredit = 150 * kMillisecond;

struct Recorder {
  Ready ready = Ready::kLater;
  uint32_t capture = 0;
  uint64_t began_cpu = 0;  // of the process, when the capture's recording began
  uint64_t cost = 0;       // of the capture's windows
  uint64_t opened_at = 0;  // CLOCK_MONOTONIC
  uint64_t opened_cpu = 0;
  uint64_t opened_pages = 0;
  uint64_t most_cpu = kFirstCpu;
  uint64_t most_pages = kFirstPages;
  uint64_t not_before = 0;  // CLOCK_MONOTONIC
};
constinit Recorder r;

uint64_t ProcessCpu() { return proto::ReadClockNs(CLOCK_PROCESS_CPUTIME_ID); }

uint64_t PagesTouched() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_minflt);
}

// Enters Python for a moment. The thread may be ended in the constructor: Python is coming to its
// end then.
class Inside {
 public:
  explicit Inside(const Python& python) : python_(python), state_(python.ensure()) {}
  ~Inside() { python_.release(state_); }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  const Python& python_;
  int state_;
};

// Once true it stays so: the libraries are not unloaded.
bool HasCuda(const Host& host) {
  static bool has_cuda = false;
  static uint64_t seen = 0;
  if (has_cuda || !LoaderChanged(&seen)) return has_cuda;
  static LoadedLibrary library;
  return has_cuda = host.cuda_started->load() != 0 || FindLibrary("libcuda.so.", &library);
}

// The next window is to have about the wanted bytes. It is at most so many times as long as this
// one: the program may make more marks from now on.
void Adapt(uint64_t bytes, uint64_t cpu) {
  constexpr uint64_t kGrowth = 4;
  const uint64_t fits = bytes == 0 ? kMostCpu : cpu * kWantedBytes / bytes;
  r.most_cpu = std::clamp(std::min(fits, kGrowth * r.most_cpu), kLeastCpu, kMostCpu);
  if (bytes > 3 * kWantedBytes) r.most_pages = std::max(r.most_pages / 2, kLeastPages);
  if (bytes < kWantedBytes) r.most_pages = std::min(r.most_pages * 2, kMostPages);
}

void Open(const Host& host, const Python& python, uint32_t capture) {
  const bool has_cuda = HasCuda(host);
  r.opened_cpu = ProcessCpu();
  Begun how;
  {
    const Inside inside(python);
    // TensorFlow and Keras load JAX, and most of their programs do not use it.
    const bool is_loaded_by_other = host.tensorflow->framework.load() != nullptr;
    if (is_loaded_by_other && !HasBackends(python)) {
      r.not_before = Monotonic() + kUnused;
      return;
    }
    how = Begin(python, capture, has_cuda);
  }
  r.opened_at = Monotonic();
  r.opened_pages = PagesTouched();
  if (how == Begun::kBusy) r.not_before = r.opened_at + kBusy;
  if (how == Begun::kNever) r.ready = Ready::kNever;
}

void Close(const Python& python) {
  const uint64_t cpu = ProcessCpu() - r.opened_cpu;
  const uint64_t before = proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID);
  Ended ended;
  {
    const Inside inside(python);
    ended = End(python);
  }
  r.cost += proto::ReadClockNs(CLOCK_THREAD_CPUTIME_ID) - before;
  r.cost += ended.bytes / kMarkBytes * kMarkNs;
  if (ended.was_open) Adapt(ended.bytes, cpu);
}

bool IsFull() {
  const uint64_t now = Monotonic();
  return now - r.opened_at >= kMostTime || ProcessCpu() - r.opened_cpu >= r.most_cpu ||
         PagesTouched() - r.opened_pages >= r.most_pages;
}

bool MayOpen(bool is_asked) {
  if (HasServer() && !is_asked) return false;
  if (Monotonic() < r.not_before) return false;
  return r.cost <= kCredit + (ProcessCpu() - r.began_cpu) / kCostShare;
}

}  // namespace

bool IsLoaded() {
  static uint64_t seen = 0;
  static bool is_loaded = false;
  static LoadedLibrary library;
  if (is_loaded || !LoaderChanged(&seen)) return is_loaded;
  for (const char* name : kLibraries) is_loaded = is_loaded || FindLibrary(name, &library);
  return is_loaded;
}

uint64_t Round(const Host& host, const Python& python, uint32_t capture, bool is_asked) {
  if (IsOver() || r.ready == Ready::kNever) return 0;
  if (capture == 0) {
    if (IsOpen()) Close(python);
    return 0;
  }
  if (r.ready == Ready::kLater) {
    const Inside inside(python);
    r.ready = Prepare(python);
    if (r.ready == Ready::kLater) return kImport;
  }
  if (!IsBeforeJaxAtExit()) {
    const Inside inside(python);
    ComeBeforeJaxAtExit(python);
  }
  if (r.capture != capture) {
    r.capture = capture;
    r.began_cpu = ProcessCpu();
    r.cost = 0;
  }
  if (IsOpen() && IsFull()) Close(python);
  if (!IsOpen() && MayOpen(is_asked)) Open(host, python, capture);
  return kLook;
}

void RecorderAfterForkChild() {
  ForgetSessions();
  r = {};
}

}  // namespace gpuprof::tracer::jax
