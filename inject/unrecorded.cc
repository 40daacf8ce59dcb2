// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "inject/unrecorded.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#include "inject/raw_syscall.h"
#include "inject/settings.h"
#include "inject/text.h"
#include "proto/contract.h"

namespace gpuprof::inject {
namespace {

// A program that starts such programs for ever does not fill the disk.
constexpr long kMostBytes = 1 << 20;
constexpr size_t kMostPathBytes = 1024;

// The wire format of a Bundle with one unrecorded_program (proto/bundle.proto): keys of fields 18,
// 1 and 2, with lengths.
class Entry {
 public:
  Entry(const char* path, size_t path_bytes, proto::ExecObstacle obstacle) {
    const size_t inside = 1 + BytesOf(path_bytes) + path_bytes + 2;
    Put(18 << 3 | 2);
    Put(inside);
    Put(1 << 3 | 2);
    Put(path_bytes);
    __builtin_memcpy(bytes_ + size_, path, path_bytes);
    size_ += path_bytes;
    Put(2 << 3);
    Put(static_cast<size_t>(obstacle));
  }
  const char* bytes() const { return bytes_; }
  long size() const { return static_cast<long>(size_); }

 private:
  static size_t BytesOf(size_t value) { return value < 128 ? 1 : 2; }
  void Put(size_t value) {
    for (; value >= 128; value >>= 7) bytes_[size_++] = static_cast<char>(value | 128);
    bytes_[size_++] = static_cast<char>(value);
  }

  char bytes_[kMostPathBytes + 16];
  size_t size_ = 0;
};

// -1: there is no bundle that this user may write. A link or a file of another user is not used.
long OpenFile() {
  const char* bundle = Variable(proto::kEnvBundle);
  if (bundle == nullptr || bundle[0] != '/') return -1;
  char path[PATH_MAX];
  Text text(path, sizeof(path));
  text.Add(bundle).Add("/").Add(proto::kUnrecordedFile);
  if (text.cut()) return -1;
  constexpr int kFlags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
  const long fd = raw::Call(SYS_openat, AT_FDCWD, raw::Arg(path), kFlags, 0600);
  if (raw::IsError(fd)) return -1;
  struct stat status;
  const bool is_fit = raw::Call(SYS_fstat, fd, raw::Arg(&status)) == 0 && S_ISREG(status.st_mode) &&
                      status.st_size < kMostBytes &&
                      status.st_uid == static_cast<uid_t>(raw::Call(SYS_geteuid));
  if (is_fit) return fd;
  raw::Call(SYS_close, fd);
  return -1;
}

}  // namespace

void NoteUnrecorded(const char* path, proto::ExecObstacle obstacle) noexcept {
  char own[kMostPathBytes];
  if (path == nullptr) {
    const long n =
        raw::Call(SYS_readlink, raw::Arg("/proc/self/exe"), raw::Arg(own), sizeof(own) - 1);
    own[n > 0 ? n : 0] = 0;
    path = own;
  }
  const long fd = OpenFile();
  if (fd < 0) return;
  size_t bytes = Length(path);
  if (bytes > kMostPathBytes) bytes = kMostPathBytes;
  // One call of write: what several processes append does not mix.
  const Entry entry(path, bytes, obstacle);
  raw::Call(SYS_write, fd, raw::Arg(entry.bytes()), entry.size());
  raw::Call(SYS_close, fd);
}

}  // namespace gpuprof::inject
