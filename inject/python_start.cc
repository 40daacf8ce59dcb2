// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/python_start.h"

#include <dlfcn.h>
#include <sys/syscall.h>
#include <time.h>

#include <atomic>

#include "inject/control_thread.h"
#include "inject/hooks/locks.h"
#include "inject/lifecycle.h"
#include "inject/raw_syscall.h"
#include "inject/settings.h"
#include "inject/state.h"
#include "inject/text.h"
#include "inject/tool_thread.h"
#include "proto/ticks.h"

extern "C" char** environ;

namespace gpuprof::inject {
namespace {

constexpr uint64_t kLimitNs = 5'000'000'000u;

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

// Returns whether CPython checks its memory: it then refuses the memory that an audit hook takes
// before it is initialised, when it gives that memory back at the end. It does so by -X dev and by
// PYTHONDEVMODE, and by PYTHONMALLOC. An option of the program that looks the same does no harm:
// the first calls are missing.
bool ChecksMemory() {
  for (char* const* entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    for (const char* name : {"PYTHONDEVMODE=", "PYTHONMALLOC="}) {
      if (BeginsWith(*entry, name)) return true;
    }
  }
  char words[4096];
  const size_t bytes = ReadCommandLine(words, sizeof(words));
  bool is_value = false;
  for (size_t at = 0; at < bytes; ++at) {
    const char* const word = words + at;
    if (Equal(word, "-Xdev") || (is_value && Equal(word, "dev"))) return true;
    is_value = Equal(word, "-X");
    while (words[at] != 0) ++at;
  }
  return false;
}

// The session of the capture, whose recording is on, is begun by the control thread, which may wait
// for a thread that enters CPython.
void AwaitTracer() {
  constexpr timespec kLook = {0, 500'000};
  void* const thread = g_save_thread();
  AskForSession();
  const uint64_t until = proto::ReadClockNs(CLOCK_MONOTONIC) + kLimitNs;
  while (SessionIsDue() && proto::ReadClockNs(CLOCK_MONOTONIC) < until)
    raw::Call(SYS_nanosleep, raw::Arg(&kLook), 0);
  g_restore_thread(thread);
}

// An audit hook: CPython calls it at many moments, with its lock. "cpython.run_file",
// "cpython.run_command", "cpython.run_module" and "cpython.run_stdin" are what it does last before
// the program.
int OnAudit(const char* event, void*, void*) {
  if (__builtin_expect(g_has_started.load(std::memory_order_relaxed) != 0, 1)) return 0;
  if (!BeginsWith(event, "cpython.run_") || BeginsWith(event, "cpython.run_startup")) return 0;
  if (g_process.pid == 0 || g_has_started.exchange(1) != 0) return 0;
  // Waits for CPython's lock are not the program's.
  const uint8_t busy = t_thread.busy, tool = t_thread.tool;
  t_thread.busy = 1;
  if (tool == 0) t_thread.tool = kProgramsThread;
  if (IsCapturing()) {
    AwaitTracer();
    if (g_process.session.load(std::memory_order_acquire) != 0) g_process.tracer->await_python();
  } else {
    LoadTracerForWatch();
    if (g_process.tracer != nullptr) g_process.tracer->watch_python();
  }
  t_thread.busy = busy;
  t_thread.tool = tool;
  return 0;
}

}  // namespace

void AwaitPythonStart() noexcept {
  constexpr uint32_t kSources = proto::kSourcePythonCalls | proto::kSourcePythonGc;
  if ((g_settings.sources & kSources) == 0 || !HasPython() || ChecksMemory()) return;
  using Hook = int (*)(const char* event, void* arguments, void* data);
  // From 3.8 on, and before CPython is initialised.
  const auto add =
      reinterpret_cast<int (*)(Hook, void*)>(dlsym(RTLD_DEFAULT, "PySys_AddAuditHook"));
  g_save_thread = reinterpret_cast<void* (*)()>(dlsym(RTLD_DEFAULT, "PyEval_SaveThread"));
  g_restore_thread = reinterpret_cast<void (*)(void*)>(dlsym(RTLD_DEFAULT, "PyEval_RestoreThread"));
  if (add != nullptr && g_save_thread != nullptr && g_restore_thread != nullptr)
    add(OnAudit, nullptr);
}

}  // namespace gpuprof::inject
