// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "launcher/attach/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <vector>

#include "launcher/base/read_file.h"
#include "launcher/record/bundle.h"
#include "proto/codec/open_regular.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

// Where programs may write, and run what they wrote.
constexpr const char* kPlaces[] = {"tmp", "dev/shm", "var/tmp", "run"};
constexpr size_t kPartBytes = 1 << 20;

// Opens a folder below `root`. Links are followed as a process in that root would follow them.
int OpenBelow(int root, const char* path) {
  open_how how = {};
  how.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(syscall(SYS_openat2, root, path, &how, sizeof how));
}

bool Copy(int from, int to) {
  std::vector<char> part(kPartBytes);
  for (;;) {
    const ssize_t got = read(from, part.data(), part.size());
    if (got == 0) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    for (ssize_t at = 0; at < got;) {
      const ssize_t put = write(to, part.data() + at, static_cast<size_t>(got - at));
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      at += put;
    }
  }
}

// Copies one of our own files to a new file.
bool CopyInto(int folder, const char* name, const std::string& path, uid_t user) {
  const int from = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const int to = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  const bool done = from >= 0 && to >= 0 && Copy(from, to) && fchmod(to, 0500) == 0 &&
                    (user == geteuid() || fchown(to, user, static_cast<gid_t>(-1)) == 0);
  if (from >= 0) close(from);
  if (to >= 0) close(to);
  return done;
}

// Makes a folder of the process's user that no one else can enter.
int MakeFolder(int above, const char* name, uid_t user) {
  if (mkdirat(above, name, 0700) != 0) return -1;
  const int folder = openat(above, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder >= 0 && fchmod(folder, 0700) == 0 &&
      (user == geteuid() || fchown(folder, user, static_cast<gid_t>(-1)) == 0))
    return folder;
  const int error = errno;
  if (folder >= 0) close(folder);
  unlinkat(above, name, AT_REMOVEDIR);
  errno = error;
  return -1;
}

bool IsTrace(const std::string& name) {
  ProcessFiles process;
  return ParseProcessFile(name, &process) || name == proto::kUnrecordedFile;
}

}  // namespace

Stage::~Stage() { Remove(); }

std::string Stage::Make(int32_t pid, uid_t user, const std::string& inject,
                        const std::string& tracer) {
  const std::string path = "/proc/" + std::to_string(pid) + "/root";
  const int root = open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (root < 0) return "its file system cannot be entered: " + std::string(strerror(errno));
  std::string fault;
  for (const char* place : kPlaces) {
    const std::string error = MakeIn(root, place, user, inject, tracer);
    if (error.empty()) break;
    fault += (fault.empty() ? "" : ", ") + ("/" + std::string(place)) + " " + error;
    Remove();
  }
  close(root);
  if (is_made()) return "";
  return "its file system has no place for gpuprof's objects (" + fault +
         "); mount a volume with gpuprof at the path that it has here";
}

std::string Stage::MakeIn(int root, const std::string& place, uid_t user, const std::string& inject,
                          const std::string& tracer) {
  place_ = OpenBelow(root, place.c_str());
  if (place_ < 0) return errno == ENOENT ? "is missing" : strerror(errno);
  struct statvfs system;
  if (fstatvfs(place_, &system) != 0) return strerror(errno);
  if ((system.f_flag & ST_NOEXEC) != 0) return "is mounted noexec";
  if ((system.f_flag & ST_RDONLY) != 0) return "is read-only";
  const std::string name = "gpuprof-" + RandomLetters();
  folder_ = MakeFolder(place_, name.c_str(), user);
  if (folder_ < 0) return strerror(errno);
  name_ = name;
  traces_ = MakeFolder(folder_, "bundle", user);
  if (traces_ < 0 || !CopyInto(folder_, proto::kInjectObject, inject, user) ||
      !CopyInto(folder_, proto::kTracerObject, tracer, user))
    return strerror(errno);
  const std::string path = "/" + place + "/" + name;
  inject_ = path + "/" + proto::kInjectObject;
  tracer_ = path + "/" + proto::kTracerObject;
  bundle_ = path + "/bundle";
  return "";
}

std::string Stage::TakeOut(const TrustedFolder& folder) {
  std::string failed;
  for (const std::string& name : ListFolder(traces_)) {
    if (!IsTrace(name)) continue;
    const codec::OwnedFile from(codec::OpenRegular(traces_, name.c_str(), O_RDONLY | O_NOFOLLOW));
    const codec::OwnedFile to(from.fd() >= 0 ? folder.Create(name) : -1);
    const bool done = to.fd() >= 0 && Copy(from.fd(), to.fd());
    if (!done) failed += (failed.empty() ? "" : ", ") + name;
    if (done) unlinkat(traces_, name.c_str(), 0);
  }
  return failed.empty() ? "" : failed + " could not be taken out of the process's file system";
}

void Stage::Remove() {
  if (folder_ >= 0) {
    if (traces_ >= 0) {
      for (const std::string& name : ListFolder(traces_)) unlinkat(traces_, name.c_str(), 0);
      unlinkat(folder_, "bundle", AT_REMOVEDIR);
    }
    unlinkat(folder_, proto::kInjectObject, 0);
    unlinkat(folder_, proto::kTracerObject, 0);
    unlinkat(place_, name_.c_str(), AT_REMOVEDIR);
  }
  for (int* fd : {&traces_, &folder_, &place_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
}

}  // namespace gpuprof::launcher
