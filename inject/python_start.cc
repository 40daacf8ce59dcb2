// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/python_start.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/elf_symbol.h"
#include "inject/hooks/locks.h"
#include "inject/lifecycle.h"
#include "inject/raw_syscall.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/tool_thread.h"
#include "proto/ticks.h"

namespace gpuprof::inject {
namespace {

constexpr uint64_t kLimitNs = 5'000'000'000u;

using Hook = int (*)(const char* event, void* arguments, void* data);

std::atomic<uint32_t> g_has_started{0};
void* (*g_save_thread)() = nullptr;
void (*g_restore_thread)(void*) = nullptr;

bool BeginsWith(const char* text, const char* begin) {
  while (*begin != 0 && *text == *begin) {
    ++text;
    ++begin;
  }
  return *begin == 0;
}

// CPython's PyMemAllocatorEx.
struct Allocator {
  void* context;
  void* (*allocate)(void* context, size_t bytes);
  void* (*allocate_zeroed)(void* context, size_t count, size_t bytes);
  void* (*resize)(void* context, void* memory, size_t bytes);
  void (*release)(void* context, void* memory);
};
constexpr int kRawDomain = 0;

// CPython's _Py_AuditHookEntry.
struct Entry {
  Entry* next;
  Hook hook;
  void* data;
};

// Our entry in CPython's list, and where the list begins. CPython takes the entry from the
// allocator that it has before it is initialised, and gives it back at its end to the one that it
// has then: that one aborts if it is another (-X dev, PYTHONMALLOC, an embedder's own). So we take
// our entry out of the list. It stays in memory: CPython reads it when our hook has returned.
Allocator g_allocator = {};
Entry* g_entry = nullptr;
Entry** g_list = nullptr;

void* NoteEntry(void* context, size_t bytes) {
  void* const memory = g_allocator.allocate(context, bytes);
  if (bytes == sizeof(Entry)) g_entry = static_cast<Entry*>(memory);
  return memory;
}

// In the hook, with CPython's lock. Our entry is the first one.
void LeaveList() {
  if (g_list != nullptr && *g_list == g_entry) *g_list = g_entry->next;
  g_list = nullptr;
}

// The session of the capture, whose recording is on, is begun by the control thread, which may wait
// for a thread that enters CPython.
void AwaitTracer() {
  constexpr timespec kLook = {0, 500'000};
  AskForSession();
  const uint64_t until = proto::ReadClockNs(CLOCK_MONOTONIC) + kLimitNs;
  while (SessionIsDue() && proto::ReadClockNs(CLOCK_MONOTONIC) < until)
    raw::Call(SYS_nanosleep, raw::Arg(&kLook), 0);
}

// CPython is ready. Its lock is given away meanwhile: others need it, and we wait for the loader.
void OnReady() {
  // Waits for CPython's lock are not the program's.
  const uint8_t busy = t_thread.busy, tool = t_thread.tool;
  t_thread.busy = 1;
  if (tool == 0) t_thread.tool = kProgramsThread;
  void* const thread = g_save_thread();
  if (IsCapturing()) {
    AwaitTracer();
    if (g_process.session.load(std::memory_order_acquire) != 0) g_process.tracer->await_python();
  } else {
    LoadTracerForWatch();
    if (g_process.tracer != nullptr) g_process.tracer->watch_python();
  }
  g_restore_thread(thread);
  t_thread.busy = busy;
  t_thread.tool = tool;
}

// An audit hook: CPython calls it at many moments, with its lock. "cpython.run_file",
// "cpython.run_command", "cpython.run_module" and "cpython.run_stdin" are what it does last before
// the program. A program that embeds CPython may have none of them.
int OnAudit(const char* event, void*, void*) {
  if (__builtin_expect(g_has_started.load(std::memory_order_relaxed) != 0, 1)) return 0;
  if (BeginsWith(event, "cpython._PySys_ClearAuditHooks")) LeaveList();
  if (!BeginsWith(event, "cpython.run_") || BeginsWith(event, "cpython.run_startup")) return 0;
  if (g_process.pid == 0 || g_has_started.exchange(1) != 0) return 0;
  LeaveList();
  OnReady();
  return 0;
}

// Adds the hook, and finds our entry and the begin of the list. The list is empty, unless an object
// before ours has a hook: then our entry is not found, and stays.
void AddHook(int (*add)(Hook, void*), void (*get)(int, Allocator*), void (*set)(int, Allocator*)) {
  get(kRawDomain, &g_allocator);
  Allocator noting = g_allocator;
  noting.allocate = NoteEntry;
  set(kRawDomain, &noting);
  add(OnAudit, nullptr);
  set(kRawDomain, &g_allocator);
  if (g_entry == nullptr || g_entry->hook != OnAudit) return;
  const DefinedData runtime = PythonRuntime();
  auto* const words = reinterpret_cast<Entry**>(runtime.address);
  for (uint64_t i = 0; i < runtime.bytes / sizeof(Entry*); ++i) {
    if (words[i] == g_entry) g_list = &words[i];
  }
}

template <typename Function>
bool Find(const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
  return *function != nullptr;
}

}  // namespace

void AwaitPythonStart() noexcept {
  constexpr uint32_t kSources = proto::kSourcePythonCalls | proto::kSourcePythonGc;
  if ((g_settings.sources & kSources) == 0 || !HasPython()) return;
  // From 3.8 on, and before CPython is initialised.
  int (*add)(Hook, void*) = nullptr;
  void (*get)(int, Allocator*) = nullptr;
  void (*set)(int, Allocator*) = nullptr;
  if (Find("PySys_AddAuditHook", &add) && Find("PyMem_GetAllocator", &get) &&
      Find("PyMem_SetAllocator", &set) && Find("PyEval_SaveThread", &g_save_thread) &&
      Find("PyEval_RestoreThread", &g_restore_thread))
    AddHook(add, get, set);
}

}  // namespace gpuprof::inject
