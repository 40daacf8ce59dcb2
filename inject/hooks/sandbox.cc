// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Calls that shut a program into a sandbox, or that need a process with a single thread. gpuprof's
// threads end first (inject/departure.h). The system call itself stays the program's: it is made
// with the program's arguments, and its result is the program's.

#include <errno.h>
#include <linux/prctl.h>
#include <linux/sched.h>
#include <linux/seccomp.h>

#include "inject/control_thread.h"
#include "inject/departure.h"
#include "inject/hook_list.h"
#include "inject/hooks/blocking.h"
#include "inject/lifecycle.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/state.h"

using namespace gpuprof::inject;

namespace {

[[gnu::noinline, gnu::cold]] void BeforeFilter() {
  const int saved = errno;
  DepartForFilter();
  errno = saved;
}

[[gnu::noinline, gnu::cold]] void BeforeNamespaces() {
  const int saved = errno;
  DepartIfAlone();
  errno = saved;
}

[[gnu::noinline, gnu::cold]] void BeforeLessRights() {
  const int saved = errno;
  DepartForRights();
  errno = saved;
}

// Whether this gives rights up for the calling thread alone.
bool GivesUp(long option) {
  return option == PR_SET_NO_NEW_PRIVS || option == PR_CAPBSET_DROP || option == PR_SET_SECUREBITS;
}

// Who asks for no filter only asks whether there are filters.
void NotePrctl(long option, unsigned long mode, unsigned long filter) {
  const bool is_probe = mode == SECCOMP_MODE_FILTER && filter == 0;
  // Who may not read the counter cannot be recorded either.
  if (__builtin_expect((option == PR_SET_SECCOMP && !is_probe) || option == PR_SET_TSC, 0))
    BeforeFilter();
  if (__builtin_expect(GivesUp(option), 0)) BeforeLessRights();
}

// System calls by which a thread becomes another user or gives rights up. libc's functions of the
// first kind change all threads of the process, gpuprof's too.
bool GivesUpRights(long number) {
  constexpr long kNumbers[] = {SYS_capset,
                               SYS_setuid,
                               SYS_setgid,
                               SYS_setreuid,
                               SYS_setregid,
                               SYS_setresuid,
                               SYS_setresgid,
                               SYS_setgroups,
                               SYS_setfsuid,
                               SYS_setfsgid,
                               SYS_landlock_restrict_self};
  for (const long known : kNumbers) {
    if (number == known) return true;
  }
  return false;
}

void NoteSeccomp(long operation, long filter) {
  if (operation == SECCOMP_SET_MODE_STRICT || (operation == SECCOMP_SET_MODE_FILTER && filter != 0))
    BeforeFilter();
}

// Other namespaces do not ask for a single thread. Threads share a root folder, as namespaces of
// mounts must not; unshare() unshares the root folder itself.
constexpr long kAlone = CLONE_NEWUSER | CLONE_THREAD | CLONE_SIGHAND | CLONE_VM;

// Afterwards the kernel gives the process no thread. The one that writes the trace has to be there.
void BeforeOtherPids() {
  if (SessionIsDue() && raw::GetPid() == g_process.pid) HastenSession();
}

void NoteNamespaces(long flags) {
  if ((flags & CLONE_NEWPID) != 0) BeforeOtherPids();
  if ((flags & kAlone) != 0) BeforeNamespaces();
}

}  // namespace

extern "C" {

// Not variadic: what is there is handed on by a jump, so that a system call that returns on another
// stack finds no frame of ours on it.
GPUPROF_EXPORT int prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                         unsigned long d) {
  NotePrctl(option, a, b);
  return real.prctl(option, a, b, c, d);
}

// unistd.h declares it as variadic.
GPUPROF_EXPORT long Syscall(long number, long a, long b, long c, long d, long e,
                            long f) asm("syscall");
GPUPROF_EXPORT long Syscall(long number, long a, long b, long c, long d, long e, long f) {
  if (__builtin_expect(number == SYS_seccomp, 0)) NoteSeccomp(a, c);
  if (__builtin_expect(number == SYS_prctl, 0))
    NotePrctl(a, static_cast<unsigned long>(b), static_cast<unsigned long>(c));
  if (__builtin_expect(number == SYS_unshare, 0)) NoteNamespaces(a);
  if (__builtin_expect(GivesUpRights(number), 0)) BeforeLessRights();
  if (IsFutexWait(number, b)) {
    return WaitOnFutex(__builtin_return_address(0), __builtin_frame_address(0), a, b, c, d, e, f);
  }
  return real.syscall(number, a, b, c, d, e, f);
}

// sys/capability.h belongs to libcap.
GPUPROF_EXPORT int capset(void* header, const void* data) {
  if (real.capset == nullptr) {
    errno = ENOSYS;
    return -1;
  }
  BeforeLessRights();
  return real.capset(header, data);
}

GPUPROF_EXPORT int unshare(int flags) {
  NoteNamespaces(flags);
  return real.unshare(flags);
}

GPUPROF_EXPORT int setns(int fd, int type) {
  if (type == 0 || (type & CLONE_NEWPID) != 0) BeforeOtherPids();
  if (type == 0 || (type & (CLONE_NEWUSER | CLONE_NEWNS)) != 0) BeforeNamespaces();
  return real.setns(fd, type);
}

}  // extern "C"
