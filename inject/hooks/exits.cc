// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The ways out that run no destructors. (exit(), quick_exit() and return from main are seen by the
// handlers that inject/entry.cc registers; SIGKILL and fatal signals are not seen at all: the rings
// hold what was recorded, and recovery reads them.)

#include <signal.h>

#include "inject/hook_list.h"
#include "inject/lifecycle.h"
#include "inject/real_symbols.h"

using namespace gpuprof;
using namespace gpuprof::inject;

extern "C" {

GPUPROF_EXPORT __attribute__((noreturn)) void _exit(int status) {
  FinishProcess(proto::ExitWay::kUnderscore, status);
  real._exit(status);
  __builtin_unreachable();
}

GPUPROF_EXPORT __attribute__((noreturn)) void _Exit(int status) {
  FinishProcess(proto::ExitWay::kUnderscore, status);
  real._Exit(status);
  __builtin_unreachable();
}

GPUPROF_EXPORT __attribute__((noreturn)) void abort(void) {
  // Something is badly wrong in the program: only note it; and a handler may yet jump out of it,
  // and the process live on.
  NoteExit(proto::ExitWay::kAbort, SIGABRT);
  real.abort();
  __builtin_unreachable();
}

}  // extern "C"
