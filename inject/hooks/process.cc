// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Processes: fork and its relatives, exec in all its forms, posix_spawn. vfork is not wrapped (it
// returns twice on a shared stack): in its child, which shares our memory, the exec hooks see
// another pid and keep their hands off.

#include <errno.h>
#include <stdarg.h>

#include "inject/hook_list.h"
#include "inject/hooks/signals.h"
#include "inject/lifecycle.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"

extern "C" char** environ;

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

void RecordChild(proto::ProcessEvent event, pid_t child, const char* path) {
  if (!Recording(proto::kSourceThreads)) return;
  Recorder recorder(proto::kSourceThreads);
  if (!recorder.active()) return;
  const proto::Record record = {recorder.Now(),
                                0,
                                static_cast<uint8_t>(proto::RecordKind::kProcess),
                                0,
                                static_cast<uint16_t>(event),
                                static_cast<uint64_t>(child),
                                0};
  if (path != nullptr) {
    recorder.WriteWithText(path, record);
  } else {
    recorder.Write(record);
  }
}

// Only in the process whose image goes away, not in a vfork child that shares its parent's memory.
bool OwnsImage() { return g_process.pid != 0 && raw::GetPid() == g_process.pid; }

template <typename Call>
int Exec(const char* path, Call call) {
  const bool owner = OwnsImage();
  const int saved = errno;
  if (owner) BeforeExec(path);
  const bool ignored = BeforeExecSignal();
  errno = saved;
  const int result = call();
  const int error = errno;
  if (ignored) AfterExecSignal();
  if (owner) AfterFailedExec(error);
  errno = error;
  return result;
}

// posix_spawn makes its child out of our sight, with this process's table of handlers. The signal
// is truly ignored meanwhile, in programs that ignore it; a toggle in that moment is lost.
template <typename Call>
int Spawn(pid_t* pid, const char* path, Call call) {
  const int saved = errno;
  const bool ignored = BeforeExecSignal();
  errno = saved;
  pid_t child = 0;
  const int result = call(&child);
  const int error = errno;
  if (ignored) AfterExecSignal();
  errno = error;
  if (result != 0) return result;
  if (pid != nullptr) *pid = child;
  RecordChild(proto::ProcessEvent::kSpawn, child, path);
  return 0;
}

// The arguments of execl and its kin as a vector. The caller provides room for `count` + 1
// pointers.
size_t CountArguments(va_list arguments) {
  size_t count = 1;  // the first is a named parameter
  va_list walk;
  va_copy(walk, arguments);
  while (va_arg(walk, char*) != nullptr) ++count;
  va_end(walk);
  return count;
}

// The declarations promise a first argument; some programs pass none.
bool IsNull(const char* pointer) {
  asm volatile("" : "+r"(pointer));
  return pointer == nullptr;
}

void CollectArguments(const char* first, va_list arguments, char** vector) {
  size_t i = 0;
  vector[i++] = const_cast<char*>(first);
  while ((vector[i] = va_arg(arguments, char*)) != nullptr) ++i;
}

}  // namespace

// The variadic forms gather their arguments on the stack, as libc does.
#define GPUPROF_GATHER(first)                                                         \
  va_list arguments;                                                                  \
  va_start(arguments, first);                                                         \
  const bool empty = IsNull(first);                                                   \
  char** vector = static_cast<char**>(                                                \
      __builtin_alloca((empty ? 1 : CountArguments(arguments) + 1) * sizeof(char*))); \
  if (empty) {                                                                        \
    vector[0] = nullptr;                                                              \
  } else {                                                                            \
    CollectArguments(first, arguments, vector);                                       \
  }

extern "C" {

GPUPROF_EXPORT pid_t fork(void) {
  const pid_t child = real.fork();
  if (child == 0) {
    ResumeInChild();
  } else if (child > 0) {
    RecordChild(proto::ProcessEvent::kFork, child, nullptr);
  }
  return child;
}

GPUPROF_EXPORT int daemon(int no_chdir, int no_close) {
  const int result = real.daemon(no_chdir, no_close);
  if (result == 0) ResumeInChild();
  return result;
}

GPUPROF_EXPORT int execve(const char* path, char* const argv[], char* const envp[]) {
  return Exec(path, [=] { return real.execve(path, argv, envp); });
}

GPUPROF_EXPORT int execv(const char* path, char* const argv[]) {
  return Exec(path, [=] { return real.execv(path, argv); });
}

GPUPROF_EXPORT int execvp(const char* file, char* const argv[]) {
  return Exec(file, [=] { return real.execvp(file, argv); });
}

GPUPROF_EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) {
  return Exec(file, [=] { return real.execvpe(file, argv, envp); });
}

GPUPROF_EXPORT int fexecve(int fd, char* const argv[], char* const envp[]) {
  return Exec("(descriptor)", [=] { return real.fexecve(fd, argv, envp); });
}

GPUPROF_EXPORT int execveat(int folder, const char* path, char* const argv[], char* const envp[],
                            int flags) {
  if (real.execveat == nullptr) {  // older than glibc 2.34
    const long result =
        raw::Call(SYS_execveat, folder, raw::Arg(path), raw::Arg(argv), raw::Arg(envp), flags);
    errno = static_cast<int>(-result);
    return -1;
  }
  return Exec(path, [=] { return real.execveat(folder, path, argv, envp, flags); });
}

GPUPROF_EXPORT int execl(const char* path, const char* first, ...) {
  GPUPROF_GATHER(first)
  va_end(arguments);
  return Exec(path, [=] { return real.execv(path, vector); });
}

GPUPROF_EXPORT int execlp(const char* file, const char* first, ...) {
  GPUPROF_GATHER(first)
  va_end(arguments);
  return Exec(file, [=] { return real.execvp(file, vector); });
}

GPUPROF_EXPORT int execle(const char* path, const char* first, ...) {
  GPUPROF_GATHER(first)
  char* const* envp = empty ? environ : va_arg(arguments, char* const*);
  va_end(arguments);
  return Exec(path, [=] { return real.execve(path, vector, envp); });
}

GPUPROF_EXPORT int posix_spawn(pid_t* pid, const char* path,
                               const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const argv[],
                               char* const envp[]) {
  return Spawn(pid, path, [=](pid_t* child) {
    return real.posix_spawn(child, path, actions, attributes, argv, envp);
  });
}

GPUPROF_EXPORT int posix_spawnp(pid_t* pid, const char* file,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const argv[],
                                char* const envp[]) {
  return Spawn(pid, file, [=](pid_t* child) {
    return real.posix_spawnp(child, file, actions, attributes, argv, envp);
  });
}

}  // extern "C"
