// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Opens files that others may have made or named: traces, rings, segments, manifests, modules and
// their debug files. A name may lead to a pipe, a device or a file of the kernel. Opening one of
// these may wait for ever or act on the machine, so each file is looked at before it is opened.
//
// For readers outside the recorded process. Any thread. Never waits for the other end of a pipe.

#pragma once

#include <sys/stat.h>

#include <string>

namespace gpuprof::codec {

// Opens the regular file `path`, relative to the folder open as `folder` (or AT_FDCWD), and returns
// its descriptor. `flags`: O_RDONLY or O_RDWR; with O_NOFOLLOW a link is refused. -1: errno says
// why. kNotRegular: the path leads to something else than a regular file on a disk.
int OpenRegular(int folder, const char* path, int flags, struct stat* status = nullptr);

inline constexpr int kNotRegular = 22;   // EINVAL, which opening a path does not give
inline constexpr int kForeignName = 31;  // EMLINK, likewise: see input_path.h

// Returns the words for an errno value of OpenRegular.
std::string OpenErrorText(int error);

// A descriptor that is closed with its owner.
class OwnedFile {
 public:
  explicit OwnedFile(int fd = -1) : fd_(fd) {}
  ~OwnedFile() { Close(); }
  OwnedFile(OwnedFile&& other) noexcept : fd_(other.fd_) { other.fd_ = -1; }
  OwnedFile& operator=(OwnedFile&& other) noexcept;
  int fd() const { return fd_; }
  // Gives the descriptor away.
  int Release();
  void Close();

 private:
  int fd_;
};

}  // namespace gpuprof::codec
