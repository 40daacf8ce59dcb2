// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Hooks of the calls that set and tell the program's limits (inject/own_room.h), and of calls that
// lock memory: what gpuprof maps would count too.

#include <errno.h>

#include "inject/hook_list.h"
#include "inject/own_room.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/state.h"

using namespace gpuprof::inject;

namespace {

bool IsOwn(pid_t pid) { return pid == 0 || pid == g_process.pid; }

// A call that locks memory fails if all of it together is too much.
template <typename Call>
int Lock(Call call) {
  const int result = call();
  const bool is_full = result != 0 && (errno == ENOMEM || errno == EAGAIN);
  return is_full && GiveBack(1) ? call() : result;
}

// errno is set as libc would set it.
int SetByPrlimit(int resource, const rlimit* limit) {
  return real.prlimit(0, resource, limit, nullptr);
}

int Prlimit(pid_t pid, int resource, const rlimit* limit, rlimit* old) {
  if (!IsOwn(pid) || !IsManagedResource(resource)) return real.prlimit(pid, resource, limit, old);
  if (old != nullptr || limit == nullptr) {
    rlimit before;
    const int result = real.prlimit(pid, resource, nullptr, &before);
    if (result != 0) return result;
    ShowLimit(resource, &before);
    // The program's pointers may be the same.
    const rlimit wanted = limit != nullptr ? *limit : before;
    if (limit != nullptr) {
      const int set = SetLimit(resource, &wanted, SetByPrlimit);
      if (set != 0) return set;
    }
    if (old != nullptr) *old = before;
    return 0;
  }
  return SetLimit(resource, limit, SetByPrlimit);
}

}  // namespace

extern "C" {

// The headers declare them with types of their own, of the same layout.
#define GPUPROF_LIMIT_HOOK(name, parameters)            \
  GPUPROF_EXPORT int Hook_##name parameters asm(#name); \
  GPUPROF_EXPORT int Hook_##name parameters

GPUPROF_LIMIT_HOOK(setrlimit, (int resource, const rlimit* limit)) {
  if (!IsManagedResource(resource)) return real.setrlimit(resource, limit);
  return SetLimit(resource, limit, real.setrlimit);
}

GPUPROF_LIMIT_HOOK(setrlimit64, (int resource, const rlimit* limit)) {
  if (!IsManagedResource(resource)) return real.setrlimit64(resource, limit);
  return SetLimit(resource, limit, real.setrlimit64);
}

GPUPROF_LIMIT_HOOK(getrlimit, (int resource, rlimit* limit)) {
  const int result = real.getrlimit(resource, limit);
  if (result == 0) ShowLimit(resource, limit);
  return result;
}

GPUPROF_LIMIT_HOOK(getrlimit64, (int resource, rlimit* limit)) {
  const int result = real.getrlimit64(resource, limit);
  if (result == 0) ShowLimit(resource, limit);
  return result;
}

GPUPROF_LIMIT_HOOK(prlimit, (pid_t pid, int resource, const rlimit* limit, rlimit* old)) {
  return Prlimit(pid, resource, limit, old);
}

GPUPROF_LIMIT_HOOK(prlimit64, (pid_t pid, int resource, const rlimit* limit, rlimit* old)) {
  return Prlimit(pid, resource, limit, old);
}

GPUPROF_EXPORT int mlock(const void* address, size_t bytes) {
  return Lock([=] { return real.mlock(address, bytes); });
}

GPUPROF_EXPORT int mlockall(int flags) {
  return Lock([=] { return real.mlockall(flags); });
}

}  // extern "C"
