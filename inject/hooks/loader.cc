// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Libraries that are unloaded: the next one often comes to lie at the same place, and only the time
// tells whose a program counter there is. dlopen is not wrapped: what it does depends on who calls
// it; and a library that lies where another was did not before that one had gone.
//
// dlmopen loads a library into a namespace of its own, with a libc of its own that has no hooks:
// the trace says that such libraries are not recorded.

#include <dlfcn.h>
#include <errno.h>

#include "inject/cupti_functions.h"
#include "inject/hook_list.h"
#include "inject/real_symbols.h"
#include "inject/state.h"

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

// Without the guard: nothing in there is hooked, it may wait, and a signal handler that comes
// meanwhile may be recorded, call dlclose, or jump away. Our own threads, and handlers that
// interrupted us elsewhere, are left alone.
[[gnu::noinline]] void NoteModules() {
  if (t_thread.busy != 0) return;
  const int saved = errno;
  g_process.tracer->modules_changed();
  errno = saved;
}

// Once a process has a ring file, the count lives there.
void CountNamespace() {
  g_namespaces.fetch_add(1, std::memory_order_relaxed);
  proto::RingFileHeader* file = g_process.ring_file;
  if (file != nullptr) file->namespaces.store(g_namespaces.load(std::memory_order_relaxed));
}

bool HasSession() { return g_process.session.load(std::memory_order_acquire) != 0; }

}  // namespace

extern "C" {

GPUPROF_EXPORT int dlclose(void* handle) {
  if (HasSession()) NoteModules();
  const int result = real.dlclose(handle);
  ForgetCuptiFunctions();
  if (HasSession()) NoteModules();
  return result;
}

// The real function looks at its return address, for the caller's own search path: the compiler
// must leave this frame by a jump (checked by tests/checks/injected_objects.py).
GPUPROF_EXPORT __attribute__((optimize("optimize-sibling-calls"))) void* dlmopen(long space,
                                                                                 const char* path,
                                                                                 int mode) {
  if (space == LM_ID_NEWLM) CountNamespace();
  return real.dlmopen(space, path, mode);
}

}  // extern "C"
