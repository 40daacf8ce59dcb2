// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Processes: fork and its relatives, exec in all its forms, posix_spawn. vfork is not wrapped (it
// returns twice on a shared stack): in its child, which shares our memory, the exec hooks see
// another pid and keep their hands off.
//
// A program that cannot load the preloaded object gets an environment without it, from every
// process that has the hooks, recorded or not (inject/exec_target.h).

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "inject/exec_target.h"
#include "inject/hook_list.h"
#include "inject/lifecycle.h"
#include "inject/own_room.h"
#include "inject/raw_syscall.h"
#include "inject/real_symbols.h"
#include "inject/recorder.h"
#include "inject/settings.h"
#include "inject/signal_sender.h"
#include "inject/text.h"
#include "inject/unrecorded.h"

extern "C" char** environ;

using namespace gpuprof;
using namespace gpuprof::inject;

namespace {

void RecordChild(proto::ProcessEvent event, pid_t child, const char* path,
                 ExecObstacle obstacle = ExecObstacle::kNone) {
  if (!Recording(proto::kSourceThreads)) return;
  Recorder recorder(proto::kSourceThreads);
  if (!recorder.active()) return;
  const proto::Record record = {recorder.Now(),
                                0,
                                static_cast<uint8_t>(proto::RecordKind::kProcess),
                                0,
                                static_cast<uint16_t>(event),
                                static_cast<uint64_t>(child),
                                static_cast<uint64_t>(obstacle)};
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

// The same for a name that is looked for as execvp does. `found` receives the path, "" if it is not
// known.
[[gnu::noinline]] int AskForExecByName(const char* name, char (&found)[PATH_MAX]) {
  Text whole(found, sizeof(found));
  if (name == nullptr) return EFAULT;
  if (*name == 0) return ENOENT;
  if (strchr(name, '/') != nullptr) {
    whole.Add(name);
    return AskForExec(AT_FDCWD, name, 0);
  }
  const char* folders = Variable("PATH");
  if (folders == nullptr) return 0;  // libc has folders of its own then
  int refused = ENOENT;
  for (const char* begin = folders;;) {
    const char* end = begin;
    while (*end != 0 && *end != ':') ++end;
    Text text(found, sizeof(found));
    text.Add(begin, static_cast<size_t>(end - begin)).Add(end == begin ? "" : "/").Add(name);
    const int error = text.cut() ? ENAMETOOLONG : AskForExec(AT_FDCWD, found, 0);
    if (error == 0) return 0;
    found[0] = 0;
    if (error == EACCES) refused = EACCES;
    if (*end == 0) return refused;
    begin = end + 1;
  }
}

// Whether the trace has ended for it.
[[gnu::noinline]] bool Leave(const char* path, int refusal, ExecObstacle obstacle) {
  const int saved = errno;
  const bool owner = OwnsImage();
  if (owner && refusal == 0) BeforeExec(path, static_cast<uint32_t>(obstacle));
  if (owner && refusal != 0) NoteRefusedExec(path, refusal);
  // A child of vfork() that shares this process's memory.
  if (!owner && g_process.pid != 0) NoteChild(raw::GetPid());
  if (!owner && obstacle != ExecObstacle::kNone && g_process.pid != 0)
    RecordChild(proto::ProcessEvent::kSpawn, raw::GetPid(), path, obstacle);
  if (refusal == 0 && obstacle != ExecObstacle::kNone) NoteUnrecorded(path, obstacle);
  errno = saved;
  return owner && refusal == 0;
}

[[gnu::noinline]] void ComeBack(bool left) {
  const int error = errno;
  if (left) AfterFailedExec(error);
  errno = error;
}

// Calls call(envp), with an environment that the target can bear.
template <typename Call>
int WithFitEnvironment(const char* target, ExecObstacle obstacle, char* const* envp, Call call) {
  const bool must_drop = obstacle != ExecObstacle::kNone;
  if (!must_drop && !HasLostObject(target, envp)) return call(envp);
  const EnvironmentSize size = SizeOf(envp);
  char** entries = static_cast<char**>(__builtin_alloca(size.entries * sizeof(char*)));
  char* preload = static_cast<char*>(__builtin_alloca(size.preload_bytes + 1));
  must_drop ? WithoutObject(envp, entries, preload) : WithObject(envp, entries, preload);
  return call(entries);
}

// `refusal` is what the call will surely fail with, as programs that look for one in several places
// expect; 0: it may succeed, and the trace ends before it is too late. `target` is the file; null:
// not known.
template <typename Call>
int Exec(const char* path, const char* target, int refusal, char* const* envp, Call call) {
  const ExecObstacle obstacle = refusal == 0 ? FindObstacle(target, envp) : ExecObstacle::kNone;
  const bool left = Leave(path, refusal, obstacle);
  HandLimitsOn();
  const int result = WithFitEnvironment(target, obstacle, envp, call);
  TakeLimitsBack();
  ComeBack(left);
  return result;
}

// execve in all its forms.
int ExecFile(const char* path, char* const* argv, char* const* envp) {
  return Exec(path, path, AskForExec(AT_FDCWD, path, 0), envp,
              [=](char* const* fit) { return real.execve(path, argv, fit); });
}

int ExecByName(const char* name, char* const* argv, char* const* envp) {
  char found[PATH_MAX];
  const int refusal = AskForExecByName(name, found);
  return Exec(name, found[0] == 0 ? nullptr : found, refusal, envp,
              [=](char* const* fit) { return real.execvpe(name, argv, fit); });
}

// Whether a call failed because there were too many processes, or too little memory.
bool IsShort(int error) { return error == EAGAIN || error == ENOMEM; }

// posix_spawn makes its child out of our sight, with this process's table of handlers.
template <typename Call>
int Spawn(pid_t* pid, const char* path, const char* target, char* const* envp, Call call) {
  pid_t child = 0;
  const ExecObstacle obstacle = FindObstacle(target, envp);
  const auto spawn = [&](char* const* fit) { return call(&child, fit); };
  int result = WithFitEnvironment(target, obstacle, envp, spawn);
  if (IsShort(result) && GiveBack(0)) result = WithFitEnvironment(target, obstacle, envp, spawn);
  if (result != 0) return result;
  if (pid != nullptr) *pid = child;
  NoteChild(child);
  RecordChild(proto::ProcessEvent::kSpawn, child, path, obstacle);
  if (obstacle != ExecObstacle::kNone) NoteUnrecorded(path, obstacle);
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
  pid_t child = real.fork();
  if (child < 0 && IsShort(errno) && GiveBack(0)) child = real.fork();
  if (child == 0) {
    ResumeInChild();
  } else if (child > 0) {
    NoteChild(child);
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
  return ExecFile(path, argv, envp);
}

GPUPROF_EXPORT int execv(const char* path, char* const argv[]) {
  return ExecFile(path, argv, environ);
}

GPUPROF_EXPORT int execvp(const char* file, char* const argv[]) {
  return ExecByName(file, argv, environ);
}

GPUPROF_EXPORT int execvpe(const char* file, char* const argv[], char* const envp[]) {
  return ExecByName(file, argv, envp);
}

GPUPROF_EXPORT int fexecve(int fd, char* const argv[], char* const envp[]) {
  char file[48];
  Text(file, sizeof(file)).Add("/proc/self/fd/").Number(fd);
  return Exec("(descriptor)", file, 0, envp,
              [=](char* const* fit) { return real.fexecve(fd, argv, fit); });
}

GPUPROF_EXPORT int execveat(int folder, const char* path, char* const argv[], char* const envp[],
                            int flags) {
  if (real.execveat == nullptr) {  // older than glibc 2.34
    const long result =
        raw::Call(SYS_execveat, folder, raw::Arg(path), raw::Arg(argv), raw::Arg(envp), flags);
    errno = static_cast<int>(-result);
    return -1;
  }
  const bool is_plain = !IsNull(path) && path[0] == '/';
  return Exec(path, is_plain ? path : nullptr, AskForExec(folder, path, flags), envp,
              [=](char* const* fit) { return real.execveat(folder, path, argv, fit, flags); });
}

GPUPROF_EXPORT int execl(const char* path, const char* first, ...) {
  GPUPROF_GATHER(first)
  va_end(arguments);
  return ExecFile(path, vector, environ);
}

GPUPROF_EXPORT int execlp(const char* file, const char* first, ...) {
  GPUPROF_GATHER(first)
  va_end(arguments);
  return ExecByName(file, vector, environ);
}

GPUPROF_EXPORT int execle(const char* path, const char* first, ...) {
  GPUPROF_GATHER(first)
  char* const* envp = empty ? environ : va_arg(arguments, char* const*);
  va_end(arguments);
  return ExecFile(path, vector, envp);
}

GPUPROF_EXPORT int posix_spawn(pid_t* pid, const char* path,
                               const posix_spawn_file_actions_t* actions,
                               const posix_spawnattr_t* attributes, char* const argv[],
                               char* const envp[]) {
  return Spawn(pid, path, path, envp, [=](pid_t* child, char* const* fit) {
    return real.posix_spawn(child, path, actions, attributes, argv, fit);
  });
}

GPUPROF_EXPORT int posix_spawnp(pid_t* pid, const char* file,
                                const posix_spawn_file_actions_t* actions,
                                const posix_spawnattr_t* attributes, char* const argv[],
                                char* const envp[]) {
  char found[PATH_MAX];
  AskForExecByName(file, found);
  return Spawn(pid, file, found[0] == 0 ? nullptr : found, envp,
               [=](pid_t* child, char* const* fit) {
                 return real.posix_spawnp(child, file, actions, attributes, argv, fit);
               });
}

}  // extern "C"
