// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What fuzzers of files share: a folder in memory for the length of the run.

#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/fuzz/check.h"

namespace gpuprof::fuzz {

// Removed when the fuzzer ends by itself; what it leaves when it fails is evidence.
class Folder {
 public:
  Folder() {
    path_ = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    path_ += "/gpuprof-fuzz-XXXXXX";
    Check(mkdtemp(path_.data()) != nullptr);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

inline void WriteFile(const std::string& path, const void* bytes, size_t size) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  Check(fd >= 0 && write(fd, bytes, size) == static_cast<ssize_t>(size));
  close(fd);
}

inline std::vector<uint8_t> ReadFile(const std::string& path) {
  std::vector<uint8_t> bytes;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return bytes;
  bytes.resize(static_cast<size_t>(lseek(fd, 0, SEEK_END)));
  Check(pread(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  close(fd);
  return bytes;
}

}  // namespace gpuprof::fuzz
