// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/real_pages.h"

#include <errno.h>

#include "inject/raw_syscall.h"
#include "proto/file_size_signal.h"
#include "proto/ring.h"

namespace gpuprof::inject {
namespace {

constexpr int kMostInterruptions = 1000;
constexpr int kPopulateWrite = 23;  // MADV_POPULATE_WRITE, since Linux 5.14

int WriteZeros(long fd, uint64_t offset, uint64_t bytes) {
  static char zeros[proto::kPageBytes];  // not constant: it would be part of the file
  for (uint64_t done = 0; done < bytes; done += sizeof(zeros)) {
    if (raw::Call(SYS_pwrite64, fd, raw::Arg(zeros), sizeof(zeros),
                  static_cast<long>(offset + done)) != static_cast<long>(sizeof(zeros)))
      return ENOSPC;
  }
  return 0;
}

}  // namespace

int AllocatePages(long fd, uint64_t offset, uint64_t bytes) noexcept {
  const proto::NoFileSizeSignal no_signal;
  // On tmpfs a signal ends it early and undoes it, and a program that samples itself gets many:
  // smaller steps get through between two of them.
  uint64_t step = bytes;
  uint64_t done = 0;
  for (int interrupted = 0; done < bytes;) {
    if (step > bytes - done) step = bytes - done;
    const long result =
        raw::Call(SYS_fallocate, fd, 0, static_cast<long>(offset + done), static_cast<long>(step));
    if (result == 0) {
      done += step;
    } else if (result == -EINTR && ++interrupted < kMostInterruptions) {
      if (step > proto::kPageBytes) step = step / 2 / proto::kPageBytes * proto::kPageBytes;
      if (step == 0) step = proto::kPageBytes;
    } else if (result == -EOPNOTSUPP || result == -ENOSYS) {
      return WriteZeros(fd, offset, bytes);
    } else {
      return static_cast<int>(-result);
    }
  }
  return 0;
}

bool PopulatePages(const void* address, uint64_t bytes) noexcept {
  long result = -EINTR;
  // Each call gets further: the pages before are real already.
  for (int tries = 0; tries < kMostInterruptions && (result == -EINTR || result == -EAGAIN);
       ++tries)
    result = raw::Call(SYS_madvise, raw::Arg(address), static_cast<long>(bytes), kPopulateWrite);
  return result == 0;
}

}  // namespace gpuprof::inject
