// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "tracer/disk_room.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "proto/contract.h"

namespace gpuprof::tracer {
namespace {

bool IsRing(const char* name) {
  const size_t bytes = strlen(name), suffix = sizeof(proto::kRingSuffix) - 1;
  return bytes >= suffix && strcmp(name + bytes - suffix, proto::kRingSuffix) == 0;
}

// Without rings, which go with their processes. fstatat is a function since glibc 2.33 only.
uint64_t BytesOfFiles(const char* bundle) {
  DIR* folder = opendir(bundle);
  if (folder == nullptr) return 0;
  uint64_t bytes = 0;
  while (const dirent* entry = readdir(folder)) {
    struct stat status;
    if (!IsRing(entry->d_name) &&
        syscall(SYS_newfstatat, dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode))
      bytes += static_cast<uint64_t>(status.st_blocks) * 512;
  }
  closedir(folder);
  return bytes;
}

}  // namespace

uint64_t FreeBytesToKeep(uint64_t disk_bytes) {
  constexpr uint64_t kGiB = 1u << 30;
  if (disk_bytes < kGiB) return 0;
  return std::min(std::max(disk_bytes / 100, kGiB), disk_bytes / 16);
}

DiskRoom LookAtDisk(const char* bundle, uint64_t keep_free, uint64_t bundle_limit) {
  struct statvfs disk;
  if (keep_free != 0 && statvfs(bundle, &disk) == 0) {
    const uint64_t all = uint64_t{disk.f_blocks} * disk.f_frsize;
    const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
    const uint64_t kept = keep_free == kAutoKeepFree ? FreeBytesToKeep(all) : keep_free;
    if (all != 0 && free < kept) return DiskRoom::kKeepFree;
  }
  if (bundle_limit != 0 && BytesOfFiles(bundle) > bundle_limit) return DiskRoom::kBundleLimit;
  return DiskRoom::kEnough;
}

}  // namespace gpuprof::tracer
