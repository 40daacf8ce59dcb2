// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See token_file.h.

#include "launcher/agent/token_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "analysis/analysis.h"
#include "proto/codec/input_path.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostBytes = 256, kFewestBytes = 16;

bool IsPlain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.' || c == '~' || c == '+' || c == '/' || c == '=';
}

}  // namespace

std::string ReadTokenFile(const std::string& path, std::string* token) {
  const std::string name = "the file of the token, " + analysis::ShellWord(path) + ", ";
  struct stat status = {};
  const codec::OwnedFile file(codec::OpenInput(path, &status));
  if (file.fd() < 0) return name + "cannot be read: " + codec::OpenErrorText(errno);
  if (status.st_uid != geteuid() && status.st_uid != 0)
    return name + "belongs to another user; name a file of your own";
  if ((status.st_mode & (S_IRGRP | S_IWGRP | S_IROTH | S_IWOTH)) != 0)
    return name + "is open to other users; make it yours alone: chmod 600";
  char bytes[kMostBytes + 2];
  const ssize_t size = pread(file.fd(), bytes, sizeof bytes, 0);
  std::string text(bytes, size < 0 ? 0 : static_cast<size_t>(size));
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  for (const char c : text) {
    if (!IsPlain(c)) return name + "holds more than one word of letters and digits";
  }
  if (text.size() < kFewestBytes || text.size() > kMostBytes) {
    return name + "must hold " + std::to_string(kFewestBytes) + " to " +
           std::to_string(kMostBytes) + " letters and digits; 'openssl rand -hex 32' prints some";
  }
  *token = text;
  return "";
}

}  // namespace gpuprof::launcher
