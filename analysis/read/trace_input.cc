// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See trace_input.h.

#include "analysis/read/trace_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace gpuprof::analysis {
namespace {

constexpr uint64_t kSmallBytes = 64 * 1024;

// Whether so many files are open that the next ones had better be closed in between.
bool IsAmongTheLast(int fd) {
  const long most = sysconf(_SC_OPEN_MAX);
  return most > 0 && fd > most / 2;
}

}  // namespace

Error TraceInput::Open(const codec::InputPath& path) {
  struct stat status;
  codec::OwnedFile file(codec::OpenInput(path, &status));
  if (file.fd() < 0) return OpenError(path.path, errno);
  path_ = path;
  bytes_ = static_cast<uint64_t>(status.st_size);
  device_ = status.st_dev;
  inode_ = status.st_ino;
  if (bytes_ <= kSmallBytes) {
    Result<FileBytes> whole = ReadOpenFile(file.fd(), path.path, bytes_);
    if (!whole.ok()) return whole.error();
    small_ = std::move(whole->data);
    bytes_ = whole->bytes;
  } else if (!IsAmongTheLast(file.fd())) {
    file_ = std::make_shared<const codec::OwnedFile>(std::move(file));
  }
  return {};
}

void TraceInput::Show(InputView* view) const {
  view->file = file_;
  if (small_ != nullptr) return view->bytes.Use(small_.get(), bytes_);
  if (file_ == nullptr) {
    struct stat status;
    codec::OwnedFile file(codec::OpenInput(path_, &status));
    const bool is_same = file.fd() >= 0 && status.st_dev == device_ && status.st_ino == inode_;
    view->file =
        std::make_shared<const codec::OwnedFile>(is_same ? std::move(file) : codec::OwnedFile());
  }
  // If the file is gone, the view is empty.
  view->bytes.Use(view->file->fd(), bytes_);
}

}  // namespace gpuprof::analysis
