// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls by which a server that root started becomes another user. The trace has to be open by then:
// the other user may not make files in the bundle's folder, but an open file stays writable. The
// call itself stays the program's.

#include <errno.h>
#include <sys/syscall.h>

#include "inject/control_thread.h"
#include "inject/hook_list.h"
#include "inject/lifecycle.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/state.h"

using namespace gpuprof::inject;

namespace {

// A child that was made behind our back has no thread that could open it.
[[gnu::noinline, gnu::cold]] void OpenTrace() {
  const int saved = errno;
  if (raw::GetPid() == g_process.pid && raw::Call(SYS_geteuid) == 0) HastenSession();
  errno = saved;
}

inline void BeforeChange() {
  if (__builtin_expect(SessionIsDue(), 0)) OpenTrace();
}

}  // namespace

extern "C" {

GPUPROF_EXPORT int setuid(uid_t user) {
  BeforeChange();
  return real.setuid(user);
}

GPUPROF_EXPORT int seteuid(uid_t user) {
  BeforeChange();
  return real.seteuid(user);
}

GPUPROF_EXPORT int setreuid(uid_t user, uid_t effective) {
  BeforeChange();
  return real.setreuid(user, effective);
}

GPUPROF_EXPORT int setresuid(uid_t user, uid_t effective, uid_t saved) {
  BeforeChange();
  return real.setresuid(user, effective, saved);
}

}  // extern "C"
