// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Processes: fork and its relatives, exec in all its forms, posix_spawn. vfork is not wrapped (it
// returns twice on a shared stack): in its child, which shares our memory, the exec hooks see
// another pid and keep their hands off.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "inject/hook_list.h"
#include "inject/lifecycle.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"
#include "inject/settings.h"
#include "inject/text.h"

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

// What the system would answer, as far as it can be asked beforehand; 0: nothing speaks against it.
[[gnu::noinline]] int AskForExec(int folder, const char* path, int flags) {
  if (path == nullptr) return EFAULT;
  // With the effective ids, as exec itself; systems before 5.8 cannot be asked so.
  const long answer = raw::Call(SYS_faccessat2, folder, raw::Arg(path), X_OK, flags | AT_EACCESS);
  const bool is_final = answer == -ENOENT || answer == -ENOTDIR || answer == -EACCES ||
                        answer == -ENAMETOOLONG || answer == -ELOOP;
  return is_final ? static_cast<int>(-answer) : 0;
}

// The same for a name that is looked for as execvp does.
[[gnu::noinline]] int AskForExecByName(const char* name) {
  if (name == nullptr) return EFAULT;
  if (*name == 0) return ENOENT;
  if (strchr(name, '/') != nullptr) return AskForExec(AT_FDCWD, name, 0);
  const char* folders = Variable("PATH");
  if (folders == nullptr) return 0;  // libc has folders of its own then
  int refused = ENOENT;
  for (const char* begin = folders;;) {
    const char* end = begin;
    while (*end != 0 && *end != ':') ++end;
    char path[PATH_MAX];
    Text text(path, sizeof(path));
    text.Add(begin, static_cast<size_t>(end - begin)).Add(end == begin ? "" : "/").Add(name);
    const int error = text.cut() ? ENAMETOOLONG : AskForExec(AT_FDCWD, path, 0);
    if (error == 0) return 0;
    if (error == EACCES) refused = EACCES;
    if (*end == 0) return refused;
    begin = end + 1;
  }
}

// Whether the trace has ended for it.
[[gnu::noinline]] bool Leave(const char* path, int refusal) {
  const int saved = errno;
  const bool owner = OwnsImage();
  if (owner && refusal == 0) BeforeExec(path);
  if (owner && refusal != 0) NoteRefusedExec(path, refusal);
  errno = saved;
  return owner && refusal == 0;
}

[[gnu::noinline]] void ComeBack(bool left) {
  const int error = errno;
  if (left) AfterFailedExec(error);
  errno = error;
}

// `refusal` is what the call will surely fail with, as programs that look for one in several places
// expect; 0: it may succeed, and the trace ends before it is too late.
template <typename Call>
int Exec(const char* path, int refusal, Call call) {
  const bool left = Leave(path, refusal);
  const int result = call();
  ComeBack(left);
  return result;
}

// posix_spawn makes its child out of our sight, with this process's table of handlers.
template <typename Call>
int Spawn(pid_t* pid, const char* path, Call call) {
  pid_t child = 0;
  const int result = call(&child);
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
  return Exec(path, AskForExec(AT_FDCWD, path, 0), [=] { return real.execve(path, argv, envp); });
}

GPUPROF_EXPORT int execv(const char* path, char* const argv[]) {
  return Exec(path, AskForExec(AT_FDCWD, path, 0), [=] { return real.execv(path, argv); });
}

GPUPROF_EXPORT int execvp(const char* file, char* const argv[]) {
  return Exec(file, AskForExecByName(file), [=] { return real.execvp(file, argv); });
}

GPUPROF_EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) {
  return Exec(file, AskForExecByName(file), [=] { return real.execvpe(file, argv, envp); });
}

GPUPROF_EXPORT int fexecve(int fd, char* const argv[], char* const envp[]) {
  return Exec("(descriptor)", 0, [=] { return real.fexecve(fd, argv, envp); });
}

GPUPROF_EXPORT int execveat(int folder, const char* path, char* const argv[], char* const envp[],
                            int flags) {
  if (real.execveat == nullptr) {  // older than glibc 2.34
    const long result =
        raw::Call(SYS_execveat, folder, raw::Arg(path), raw::Arg(argv), raw::Arg(envp), flags);
    errno = static_cast<int>(-result);
    return -1;
  }
  return Exec(path, AskForExec(folder, path, flags),
              [=] { return real.execveat(folder, path, argv, envp, flags); });
}

GPUPROF_EXPORT int execl(const char* path, const char* first, ...) {
  GPUPROF_GATHER(first)
  va_end(arguments);
  return Exec(path, AskForExec(AT_FDCWD, path, 0), [=] { return real.execv(path, vector); });
}

GPUPROF_EXPORT int execlp(const char* file, const char* first, ...) {
  GPUPROF_GATHER(first)
  va_end(arguments);
  return Exec(file, AskForExecByName(file), [=] { return real.execvp(file, vector); });
}

GPUPROF_EXPORT int execle(const char* path, const char* first, ...) {
  GPUPROF_GATHER(first)
  char* const* envp = empty ? environ : va_arg(arguments, char* const*);
  va_end(arguments);
  return Exec(path, AskForExec(AT_FDCWD, path, 0), [=] { return real.execve(path, vector, envp); });
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
