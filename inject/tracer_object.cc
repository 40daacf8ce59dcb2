// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/tracer_object.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <unistd.h>

#include <atomic>

#include "inject/budget/limited_captures.h"
#include "inject/control_thread.h"
#include "inject/cuda_injection.h"
#include "inject/hooks/cupti.h"
#include "inject/hooks/torch_memory.h"
#include "inject/lifecycle.h"
#include "inject/marked_captures.h"
#include "inject/obstacle.h"
#include "inject/own_room.h"
#include "inject/own_threads.h"
#include "inject/private_files.h"
#include "inject/profiler_calls.h"
#include "inject/raw_log.h"
#include "inject/raw_syscall.h"
#include "inject/recorder.h"
#include "inject/ring_file.h"
#include "inject/ring_room.h"
#include "inject/settings.h"
#include "inject/tensorflow/library.h"
#include "inject/text.h"
#include "inject/tool_thread.h"

namespace gpuprof::inject {
namespace {

// Outside the pages that fork wipes: the object stays loaded in a forked child.
const tracer::Api* g_api = nullptr;
bool g_tried = false;
tracer::Host g_host;
std::atomic<uint32_t> g_loaded{0};
char g_reason[1200];
constexpr size_t kLoaderStackBytes = 512 * 1024;  // constructors' frames too

// Enter and Leave are Recorder's constructor and destructor for callbacks that do not nest in a C++
// scope of ours.
proto::RingHeader* Enter(uint32_t source) {
  if (!Recording(source)) return nullptr;
  ThreadState& thread = t_thread;
  if (thread.busy != 0) {
    CountReentered(thread);
    return nullptr;
  }
  thread.busy = 1;
  asm volatile("" ::: "memory");
  if (!Recording(source)) {
    thread.busy = 0;
    return nullptr;
  }
  const uint32_t generation = g_process.generation.load(std::memory_order_relaxed);
  proto::RingHeader* ring = thread.generation == generation ? thread.ring : nullptr;
  if (__builtin_expect(ring == nullptr, 0)) ring = AcquireRing();
  if (ring == nullptr) thread.busy = 0;
  return ring;
}

// Inside gpuprof's code alone: tool threads are busy for good, as their own calls are not recorded.
proto::RingHeader* OwnRing() { return t_thread.busy == 0 ? nullptr : AcquireRing(); }

void Leave() {
  asm volatile("" ::: "memory");
  t_thread.busy = 0;
}

// A library's own loader and the like may launch before there is an unwinder: then without a stack.
void RecordLaunch(uint32_t correlation, uint32_t function, const void* frame) {
  if (!Recording(proto::kSourceLaunches)) return;
  Recorder recorder(proto::kSourceLaunches);
  if (!recorder.active()) return;
  const HookTimer timer;
  recorder.WriteWithStack({recorder.Now(), 0, static_cast<uint8_t>(proto::RecordKind::kLaunch), 0,
                           0, correlation, function},
                          frame);
}

void Wake() { WakeDrain()(); }

void AdoptToolThread() {
  t_thread.busy = 1;
  t_thread.tool = LeaveProgramsFiles() ? kToolThreadWithoutFiles : kToolThread;
  NoteOwnThread();
  NoteThread(-1);
}

// What the program's code allocates there is the program's: it must come from its allocator, and
// may be freed after gpuprof has left the process.
void AdoptProgramThread(const char* name) {
  EnterToolThread(name);
  t_thread.tool = kProgramsThread;
}

void SayHere(const char* text) {
  t_thread.tool == kToolThreadWithoutFiles ? SayByControlThread(text) : Say(text);
}

void DebugHere(const char* text) {
  if (g_settings.debug != 0) SayHere(text);
}

void FillHost() {
  g_host.size = sizeof(g_host);
  g_host.settings = &g_settings;
  g_host.ring_file = g_process.ring_file;
  g_host.rings = g_rings;
  g_host.ring_count = &g_process.ring_count;
  g_host.program_started = &g_program_started;
  g_host.next_track = &g_process.next_track;
  g_host.cuda_started = &g_cuda_started;
  g_host.target_profiler = &g_target_profiler;
  g_host.enter = Enter;
  g_host.leave = Leave;
  g_host.own_ring = OwnRing;
  g_host.record_launch = RecordLaunch;
  g_host.begin_cpu_ns = &g_process.begin_cpu_ns;
  g_host.cpu_tensors_left_out = TorchCpuTensorsLeftOut();
  g_host.drain_wanted = &g_process.drain_wanted;
  g_host.wake_drain = Wake;
  g_host.grow_ring = GrowRing;
  g_host.await_room = AwaitRoom;
  g_host.request_stop = RequestStop;
  g_host.request_tick = RequestTick;
  g_host.capture_is_closed = CaptureIsClosed;
  g_host.hurry = &g_hurry;
  g_host.must_hasten = [] { return MustHasten(); };
  g_host.framework_range = FrameworkRange;
  g_host.profiler_call = ProfilerCalledInDriver;
  g_host.note_mapped = [](int64_t bytes) { NoteMapped(bytes, /*is_shared=*/false); };
  g_host.note_thread = NoteThread;
  g_host.adopt_tool_thread = AdoptToolThread;
  g_host.adopt_program_thread = AdoptProgramThread;
  g_host.set_torch_memory_functions = SetTorchMemoryFunctions;
  g_host.budget = budget::Facts();
  g_host.tensorflow = tensorflow::Facts();
  g_host.cannot_record = CannotRecord;
  g_host.say = SayHere;
  g_host.debug = DebugHere;
}

// Sets g_api, or g_reason.
void Load() {
  Text reason(g_reason, sizeof(g_reason));
  const char* path = TracerPath();
  if (*path == 0) {
    reason.Add("cannot record: the path of libgpuprof_tracer.so is unknown; set GPUPROF_TRACER to ")
        .Add("its path");
    return;
  }
  void* object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (object == nullptr) {
    const char* error = dlerror();
    reason.Add("cannot record: ")
        .Add(error != nullptr ? error : path)
        .Add(raw::Call(SYS_faccessat, AT_FDCWD, raw::Arg(path), R_OK) == 0
                 ? ""
                 : "; install it next to libgpuprof_inject.so or set GPUPROF_TRACER");
    return;
  }
  const auto entry = reinterpret_cast<tracer::EntryFunction>(dlsym(object, tracer::kEntryName));
  const tracer::Api* api = entry != nullptr ? entry(&g_host) : nullptr;
  if (api == nullptr || api->size != sizeof(tracer::Api)) {
    reason.Add("cannot record: ")
        .Add(path)
        .Add(" has another version than libgpuprof_inject.so; install both from one build");
    return;
  }
  g_api = api;
}

void* LoaderMain(void*) {
  EnterToolThread("gpuprof-load");
  if (LeaveProgramsFiles()) t_thread.tool = kToolThreadWithoutFiles;
  Load();
  g_loaded.store(1, std::memory_order_release);
  raw::Call(SYS_futex, raw::Arg(&g_loaded), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
  return nullptr;
}

}  // namespace

const tracer::Api* LoadedTracer() noexcept { return g_api; }

const tracer::Api* LoadTracer() noexcept {
  FillHost();  // the ring file is another one after fork and exec
  if (g_tried) return g_api;
  g_tried = true;
  // The loader opens files: on a thread where that takes no number of the program's.
  g_loaded.store(0);
  if (const int error = StartToolThread(LoaderMain, nullptr, kLoaderStackBytes); error != 0) {
    CannotRecord(proto::Obstacle::kThread, error);
    return nullptr;
  }
  while (g_loaded.load(std::memory_order_acquire) == 0) {
    raw::Call(SYS_futex, raw::Arg(&g_loaded), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, 0);
  }
  if (g_reason[0] != 0) Say(g_reason);
  return g_api;
}

}  // namespace gpuprof::inject
