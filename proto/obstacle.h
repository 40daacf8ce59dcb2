// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What keeps a process from recording. The cause travels as codes from the place where it happened
// to the place that reports it. All sentences about causes come from the tables in this file.
// No heap and no libc: included by freestanding code.

#pragma once

#include <cerrno>
#include <cstdint>

namespace gpuprof::proto {

enum class Obstacle : uint32_t {
  kNone = 0,
  kFile = 1,    // a file of the bundle could not be made
  kWrite = 2,   // the trace could not be written further
  kThread = 3,  // no thread of gpuprof could be made
  kGone = 4,    // the bundle was removed or renamed
};

inline constexpr uint32_t kUnknownUser = ~uint32_t{0};

struct ObstacleFacts {
  Obstacle obstacle = Obstacle::kNone;
  int32_t error = 0;              // errno at the place
  uint32_t user = kUnknownUser;   // effective, of the process
  uint32_t owner = kUnknownUser;  // of the bundle's folder
  uint32_t has_changed_user = 0;  // 1: the program began as another user
  uint32_t was_asked = 0;         // 1: `gpuprof ctl` asked for the capture
};

// One datagram to the launcher, at the abstract address kReportsAddress + NAME. The launcher sets
// kEnvLauncher to NAME.TOKEN.PID: two hexadecimal numbers and its own. Without the token a datagram
// is not believed: other users can see the address.
inline constexpr char kEnvLauncher[] = "GPUPROF_LAUNCHER";
inline constexpr char kReportsAddress[] = "gpuprof-run/";
struct ObstacleReport {
  uint64_t token = 0;
  ObstacleFacts facts;
  int32_t pid = 0;  // in the process's own namespace
  char program[48] = {};
};

// What begins the sentence about a trace that began and cannot be written further: on stderr, and
// in the trace's own note.
inline constexpr char kCannotWrite[] = "the trace cannot be written: ";

struct Cause {
  const char* words;
  const char* remedy;
};

// Returns the cause of an error of a file in the bundle, and what helps.
constexpr Cause FileCause(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return {"permission denied", "name a directory that you may write to with -o DIR"};
    case EROFS:
      return {"the file system is read-only", "name another place with -o DIR"};
    case ENOSPC:
      return {"no space left on the disk", "free some space, or name another disk with -o DIR"};
    case EDQUOT:
      return {"disk quota exceeded", "free some space, or name another place with -o DIR"};
    case EFBIG:
      return {"file size limit reached", "raise the limit on the size of files (ulimit -f)"};
    case EMFILE:
      return {"too many open files in the process", "raise its limit on open files (ulimit -n)"};
    case ENFILE:
      return {"too many open files in the system", "raise the system's limit (fs.file-max)"};
    case ENOENT:
      return {"the directory does not exist for this process",
              "name one that is in its root folder and its mount namespace with -o DIR"};
    case ENOTDIR:
      return {"a part of the path is a file", "name another place with -o DIR"};
    case ENAMETOOLONG:
      return {"the path is too long", "name a shorter path with -o DIR"};
    case EEXIST:
      return {"the file exists", "name a new directory with -o DIR"};
    case EIO:
      return {"input/output error", "check the disk, or name another one with -o DIR"};
    case ENOMEM:
      return {"out of memory", "raise the limit on memory"};
    case EIDRM:
      return {"the file was removed", "leave the bundle alone while the program runs"};
    case ESTALE:
      return {"stale file handle", "leave the bundle alone while the program runs"};
  }
  return {"input or output failed", "name another place with -o DIR"};
}

// Returns the cause of an error of pthread_create, and what helps.
constexpr Cause ThreadCause(int error) {
  switch (error) {
    case EAGAIN:
      return {"no thread could be made, because a limit on processes or threads is reached",
              "raise the limit (ulimit -u, or pids.max of its cgroup)"};
    case ENOMEM:
      return {"no thread could be made, because no memory is left for its stack",
              "raise the limit on memory (ulimit -v)"};
    case EINVAL:
      return {
          "no thread could be made, because the process has left its PID namespace (unshare, "
          "setns)",
          "begin the capture before that; its children can be recorded"};
    case EPERM:
      return {"no thread could be made, because a filter of system calls forbids it",
              "begin the capture before the filter is set"};
  }
  return {"no thread could be made", "'gpuprof doctor' looks for the reason"};
}

constexpr Cause CauseOf(Obstacle obstacle, int error) {
  if (obstacle == Obstacle::kThread) return ThreadCause(error);
  if (obstacle == Obstacle::kGone) {
    return {"its bundle was removed or renamed", "leave the bundle alone while the program runs"};
  }
  return FileCause(error);
}

constexpr bool IsDenied(int error) { return error == EACCES || error == EPERM; }

// Returns whether the process lacks rights that the owner of the bundle has.
constexpr bool IsAnotherUser(const ObstacleFacts& facts) {
  const bool is_file = facts.obstacle == Obstacle::kFile || facts.obstacle == Obstacle::kWrite;
  return is_file && IsDenied(facts.error) && facts.user != kUnknownUser && facts.user != 0 &&
         facts.user != facts.owner;
}

// Appends "CAUSE; REMEDY". `Text` has Add(const char*) and Number(int64_t).
template <typename Text>
void AddCause(const ObstacleFacts& facts, Text* text) {
  if (!IsAnotherUser(facts)) {
    const Cause cause = CauseOf(facts.obstacle, facts.error);
    text->Add(cause.words).Add("; ").Add(cause.remedy);
    return;
  }
  text->Add("user ").Number(facts.user).Add(" may not write into the bundle");
  if (facts.owner != kUnknownUser) text->Add(", which belongs to user ").Number(facts.owner);
  if (facts.obstacle == Obstacle::kWrite) {
    text->Add("; after a change of user only the capture that began before it can be written");
  } else if (facts.has_changed_user != 0) {
    text->Add("; begin the capture before the program changes its user (--capture=now)");
    if (facts.was_asked == 0) text->Add(", or as root with 'gpuprof ctl start'");
  } else {
    text->Add("; start gpuprof itself as user ").Number(facts.user);
  }
}

}  // namespace gpuprof::proto
