// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trusted_folder.h.

#include "launcher/base/trusted_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>

#include "launcher/base/read_file.h"
#include "launcher/base/values.h"
#include "proto/file_size_signal.h"

namespace gpuprof::launcher {
namespace {

constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;

// Who owns "/" can exchange every program of the system: root, or in a user namespace the number
// that stands for users that are not mapped.
uid_t OwnerOfRoot() {
  struct stat info;
  return stat("/", &info) == 0 ? info.st_uid : 0;
}

std::string UserName(uid_t uid) { return "user " + std::to_string(uid); }

// Returns who can move what lies in this folder, or empty.
std::string WhoCanMoveIn(const struct stat& folder) {
  if (folder.st_uid != 0 && folder.st_uid != geteuid() && folder.st_uid != OwnerOfRoot())
    return UserName(folder.st_uid);
  if ((folder.st_mode & S_ISVTX) != 0) return "";  // only owners move
  if ((folder.st_mode & S_IWOTH) != 0) return "every user";
  // An ordinary user's group is commonly the user's own, or a team that shares its folders.
  if ((folder.st_mode & S_IWGRP) != 0 && geteuid() == 0 && folder.st_gid != 0)
    return "group " + std::to_string(folder.st_gid);
  return "";
}

int WriteAll(int fd, const std::string& bytes) {
  const proto::NoFileSizeSignal no_signal;
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t written = write(fd, bytes.data() + done, bytes.size() - done);
    if (written < 0 && errno != EINTR) return errno;
    if (written > 0) done += static_cast<size_t>(written);
  }
  return 0;
}

bool IsLink(int above, const std::string& name) {
  struct stat info;
  return fstatat(above, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode);
}

}  // namespace

TrustedFolder::~TrustedFolder() { LetGo(); }

void TrustedFolder::LetGo() {
  for (const auto& [above, name] : made_) close(above);
  made_.clear();
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

// Makes and opens one part of the path. Returns the descriptor, or -1 and errno.
int TrustedFolder::Enter(int above, const std::string& name, bool is_last, Last last,
                         unsigned umask) {
  // Exact while the umask is 0. The owner's rights stay whatever the umask takes.
  const mode_t mode = is_last ? 0700 : (0755 & ~static_cast<mode_t>(umask)) | 0700;
  const int error = mkdirat(above, name.c_str(), mode) == 0 ? 0 : errno;
  if (error == 0) {
    made_.emplace_back(fcntl(above, F_DUPFD_CLOEXEC, 0), name);
  } else if ((is_last && last == Last::kNew) ||
             (error != EEXIST && faccessat(above, name.c_str(), F_OK, 0) != 0)) {
    errno = error;
    return -1;
  }
  const int how = is_last ? O_RDONLY | O_NOFOLLOW : O_PATH;
  const int fd = openat(above, name.c_str(), how | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && is_last && IsLink(above, name)) errno = ELOOP;
  return fd;
}

int TrustedFolder::Make(const std::string& path, Last last) {
  LetGo();
  std::vector<std::string> parts;
  for (const std::string& part : Split(path, '/')) {
    if (!part.empty() && part != ".") parts.push_back(part);
  }
  int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (at < 0) return errno;
  if (parts.empty()) parts.emplace_back(".");
  const mode_t before = umask(0);
  int error = 0;
  for (size_t i = 0; i < parts.size() && error == 0; ++i) {
    const int next = Enter(at, parts[i], i + 1 == parts.size(), last, before);
    error = next < 0 ? errno : 0;
    close(at);
    at = next;
  }
  umask(before);
  fd_ = at;
  return error;
}

int TrustedFolder::Open(const std::string& path) {
  LetGo();
  fd_ = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd_ >= 0) return 0;
  const int error = errno;
  return IsLink(AT_FDCWD, path) ? ELOOP : error;
}

std::string TrustedFolder::WhyForeign(const std::string& path) const {
  struct stat info;
  if (fstat(fd_, &info) != 0)
    return path + " is gone; name another directory with " + words_.option;
  if (info.st_uid == geteuid()) return "";
  return path + " belongs to " + UserName(info.st_uid) + ", who could change " + words_.content +
         "; name a new directory with " + words_.option;
}

std::string TrustedFolder::Claim(const std::string& path) const {
  const std::string why = WhyForeign(path);
  struct stat info;
  if (!why.empty() || fstat(fd_, &info) != 0) return why;
  if ((info.st_mode & kOthersMayWrite) != 0) fchmod(fd_, info.st_mode & 07777 & ~kOthersMayWrite);
  return "";
}

std::string TrustedFolder::Risk() const {
  struct stat info;
  char path[PATH_MAX];
  const std::string link = "/proc/self/fd/" + std::to_string(fd_);
  const ssize_t length = readlink(link.c_str(), path, sizeof path);
  if (length <= 0 || static_cast<size_t>(length) == sizeof path || path[0] != '/') return "";
  const std::string whole(path, static_cast<size_t>(length));
  if (fstat(fd_, &info) == 0 && (info.st_mode & kOthersMayWrite) != 0) {
    return "the file system of " + whole +
           " keeps no permissions, so that other users can change " + words_.content + "; " +
           words_.option + " names a safer place";
  }
  for (size_t end = 0; end != std::string::npos; end = whole.find('/', end + 1)) {
    const std::string above = end == 0 ? "/" : whole.substr(0, end);
    if (above == whole || lstat(above.c_str(), &info) != 0) continue;
    const std::string who = WhoCanMoveIn(info);
    if (!who.empty()) {
      return who + " can move or remove " + words_.content + ", because " + above + " allows it; " +
             words_.option + " names a safer place";
    }
  }
  return "";
}

bool TrustedFolder::IsAt(const std::string& path) const {
  struct stat held, there;
  return fstat(fd_, &held) == 0 && lstat(path.c_str(), &there) == 0 &&
         held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

std::vector<std::string> TrustedFolder::List() const { return ListFolder(fd_); }

int TrustedFolder::Create(const std::string& name) const {
  const int fd =
      openat(fd_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (fd >= 0) fchmod(fd, 0600);  // a strict umask takes rights from the owner
  return fd;
}

int TrustedFolder::Replace(const std::string& name, const std::string& bytes) const {
  const std::string temporary = name + ".new";
  Remove(temporary);
  const int fd = Create(temporary);
  if (fd < 0) return errno;
  int error = WriteAll(fd, bytes);
  if (close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && renameat(fd_, temporary.c_str(), fd_, name.c_str()) != 0) error = errno;
  if (error != 0) Remove(temporary);
  return error;
}

int TrustedFolder::CreateWhole(const std::string& name, const std::string& bytes) const {
  struct stat info;
  char own[64];
  timespec now = {};
  clock_gettime(CLOCK_REALTIME, &now);
  std::snprintf(
      own, sizeof own, "%d-%llx", static_cast<int>(getpid()),
      static_cast<unsigned long long>(now.tv_sec) << 32 | static_cast<uint32_t>(now.tv_nsec));
  const std::string temporary = name + "." + own + ".new";
  const int fd = Create(temporary);
  if (fd < 0) return errno;
  int error = WriteAll(fd, bytes);
  if (error == 0 && fsync(fd) != 0 && errno == EIO) error = EIO;
  if (error == 0) {
    error = linkat(fd_, temporary.c_str(), fd_, name.c_str(), 0) == 0 ? 0 : errno;
    // A server of files may have answered, and the answer was lost.
    if (error != 0 && fstat(fd, &info) == 0 && info.st_nlink == 2) error = 0;
  }
  close(fd);
  Remove(temporary);
  if (error == 0 || error == EEXIST || error == ENOSPC || error == EDQUOT || error == EIO)
    return error;
  // The file system has no further names. Readers see the file grow.
  const int plain = Create(name);
  if (plain < 0) return errno;
  error = WriteAll(plain, bytes);
  if (close(plain) != 0 && error == 0) error = errno;
  return error;
}

void TrustedFolder::Remove(const std::string& name) const { unlinkat(fd_, name.c_str(), 0); }

void TrustedFolder::RemoveMade() {
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
    unlinkat(folder->first, folder->second.c_str(), AT_REMOVEDIR);
    close(folder->first);
  }
  made_.clear();
}

}  // namespace gpuprof::launcher
