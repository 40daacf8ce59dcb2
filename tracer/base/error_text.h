// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What an errno value means, in words, without libc's message catalogue. Any thread.

#pragma once

#include <cerrno>

namespace gpuprof::tracer {

constexpr const char* ErrorText(int error) {
  switch (error) {
    case EACCES:
    case EPERM:
      return "permission denied";
    case EROFS:
      return "read-only file system";
    case ENOSPC:
      return "no space left on the disk";
    case EDQUOT:
      return "disk quota exceeded";
    case EFBIG:
      return "file size limit reached";
    case ENOENT:
      return "the directory does not exist";
    case ENOTDIR:
      return "not a directory";
    case EMFILE:
    case ENFILE:
      return "too many open files";
    case EEXIST:
      return "the file exists";
    case EIO:
      return "input/output error";
    case ENOMEM:
      return "out of memory";
    case EIDRM:
      return "the file was removed";
    case ESTALE:
      return "stale file handle";
  }
  return "input or output failed";
}

}  // namespace gpuprof::tracer
