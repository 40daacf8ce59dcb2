// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See open_regular.h. A descriptor made with O_PATH names a file without opening it. The file is
// then opened by this descriptor, so that nobody can put another file in its place.

#include "proto/codec/open_regular.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace gpuprof::codec {
namespace {

static_assert(kNotRegular == EINVAL && kForeignName == EMLINK);

constexpr uint64_t kConfigFs = 0x62656570;  // linux/magic.h lacks it

// Files of these file systems look regular and are the kernel's: /proc, /sys and what is below.
bool IsOfKernel(int fd) {
  constexpr uint64_t kKernel[] = {
      PROC_SUPER_MAGIC, SYSFS_MAGIC,        DEBUGFS_MAGIC,       TRACEFS_MAGIC,
      SECURITYFS_MAGIC, CGROUP_SUPER_MAGIC, CGROUP2_SUPER_MAGIC, BPF_FS_MAGIC,
      SELINUX_MAGIC,    SMACK_MAGIC,        EFIVARFS_MAGIC,      PSTOREFS_MAGIC,
      BINFMTFS_MAGIC,   NSFS_MAGIC,         DEVPTS_SUPER_MAGIC,  kConfigFs,
  };
  struct statfs system;
  if (fstatfs(fd, &system) != 0) return true;
  const auto type = static_cast<uint32_t>(system.f_type);
  return std::find(std::begin(kKernel), std::end(kKernel), type) != std::end(kKernel);
}

int Fail(int error) {
  errno = error;
  return -1;
}

// Opens the file that `found` names. Without /proc it is opened by its path; what was put in its
// place since is told by its device and inode.
int OpenFound(int found, int folder, const char* path, int flags) {
  const std::string link = "/proc/self/fd/" + std::to_string(found);
  const int fd = open(link.c_str(), flags & ~O_NOFOLLOW);
  if (fd >= 0 || errno != ENOENT) return fd;
  return openat(folder, path, flags);
}

}  // namespace

int OpenRegular(int folder, const char* path, int flags, struct stat* status) {
  const OwnedFile found(openat(folder, path, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW)));
  if (found.fd() < 0) return -1;
  struct stat seen;
  if (fstat(found.fd(), &seen) != 0) return -1;
  if (S_ISLNK(seen.st_mode)) return Fail(ELOOP);
  if (!S_ISREG(seen.st_mode) || IsOfKernel(found.fd())) return Fail(kNotRegular);
  OwnedFile file(OpenFound(found.fd(), folder, path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat opened;
  if (file.fd() < 0 || fstat(file.fd(), &opened) != 0) return -1;
  if (opened.st_dev != seen.st_dev || opened.st_ino != seen.st_ino) return Fail(ESTALE);
  if (status != nullptr) *status = opened;
  return file.Release();
}

std::string OpenErrorText(int error) {
  switch (error) {
    case kNotRegular:
      return "not a regular file";
    case kForeignName:
      return "a further name of another user's file; copy the file itself";
    case ELOOP:
      return "a symbolic link, which is not followed here; copy the file itself";
    default:
      return std::strerror(error);
  }
}

OwnedFile& OwnedFile::operator=(OwnedFile&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

int OwnedFile::Release() { return std::exchange(fd_, -1); }

void OwnedFile::Close() {
  if (fd_ < 0) return;
  const int error = errno;
  close(fd_);
  errno = error;
  fd_ = -1;
}

}  // namespace gpuprof::codec
