// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/base/tool_thread.h"

#include <pthread.h>
#include <signal.h>

namespace gpuprof::tracer {

int StartToolThread(const Host& host, ToolThread* thread, void* argument) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  pthread_attr_t attributes;
  pthread_t handle;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, thread->stack_bytes);
  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  const auto stack = static_cast<int64_t>(thread->stack_bytes + proto::kPageBytes);
  if (!thread->has_stack) host.note_mapped(stack);
  host.note_thread(1);
  const int error = pthread_create(&handle, &attributes, thread->main, argument);
  if (error != 0) {
    host.note_thread(-1);
    if (!thread->has_stack) host.note_mapped(-stack);
  }
  thread->has_stack = thread->has_stack || error == 0;
  pthread_attr_destroy(&attributes);
  pthread_sigmask(SIG_SETMASK, &old, nullptr);
  return error;
}

}  // namespace gpuprof::tracer
