// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See temporary_folder.h.

#include "launcher/base/temporary_folder.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "launcher/base/read_file.h"

namespace gpuprof::launcher {
namespace {

std::string Pattern() {
  const char* parent = std::getenv("TMPDIR");
  return std::string(parent != nullptr && *parent != 0 ? parent : "/tmp") +
         "/gpuprof-report-XXXXXX";
}

std::string Fault(const char* what) {
  return std::string("a temporary ") + what + " cannot be made: " + std::strerror(errno) +
         "; name another place in TMPDIR";
}

}  // namespace

std::string TemporaryFolder::Make() {
  std::string path = Pattern();
  if (mkdtemp(path.data()) == nullptr) return Fault("folder");
  path_ = path;
  return "";
}

std::string MakeUnnamedFile(codec::OwnedFile* file) {
  std::string path = Pattern();
  *file = codec::OwnedFile(mkostemp(path.data(), O_CLOEXEC));
  if (file->fd() < 0) return Fault("file");
  unlink(path.c_str());
  return "";
}

void TemporaryFolder::Remove() {
  if (path_.empty()) return;
  for (const std::string& name : ListFolder(path_)) unlink((path_ + "/" + name).c_str());
  rmdir(path_.c_str());
  path_.clear();
}

}  // namespace gpuprof::launcher
