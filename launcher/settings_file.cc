// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See settings_file.h.

#include "launcher/settings_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "launcher/values.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostBytes = 64 * 1024;

bool IsTrustedOwner(const struct stat& info) {
  return info.st_uid == 0 || info.st_uid == geteuid();
}

std::string CannotBeRead(const std::string& path, int error) {
  return path + " cannot be read (" + strerror(error) + "); make it readable or remove it";
}

// Returns the words of a file that is another user's, or that another user can write.
std::string WhyForeign(const std::string& path, const struct stat& info) {
  if (!IsTrustedOwner(info)) {
    return path + " is not obeyed: it belongs to user " + std::to_string(info.st_uid) +
           "; copy it to a directory of your own, or give the options on the command line";
  }
  return "";
}

// Returns the words of a file of this user's that cannot be obeyed.
std::string FaultOf(const std::string& path, const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return CannotBeRead(path, EISDIR);
  if (!S_ISREG(info.st_mode)) return path + " is not a regular file; replace or remove it";
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    char mode[16];
    std::snprintf(mode, sizeof mode, "%o", info.st_mode & 07777);
    return path + " can be written by other users (mode " + mode + "); run: chmod go-w " + path;
  }
  if (info.st_size > static_cast<off_t>(kMostBytes))
    return path + " is larger than 64 KiB; shorten or remove it";
  return "";
}

// Returns the errno, or 0. The file may grow meanwhile.
int ReadSome(int fd, std::string* text) {
  char buffer[4096];
  while (text->size() <= kMostBytes) {
    const ssize_t got = read(fd, buffer, sizeof buffer);
    if (got == 0) return 0;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    text->append(buffer, static_cast<size_t>(got));
  }
  return EFBIG;
}

bool HasParentPart(const std::string& path) {
  for (const std::string& part : Split(path, '/')) {
    if (part == "..") return true;
  }
  return false;
}

bool IsBelowHere(const std::string& path) {
  if (path.empty() || HasParentPart(path)) return false;
  if (path[0] != '/') return true;
  char here[PATH_MAX];
  return getcwd(here, sizeof here) != nullptr && path.starts_with(std::string(here) + "/");
}

}  // namespace

SettingsText ReadTrustedSettings(const std::string& path) {
  SettingsText read;
  struct stat info;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY);
  if (fd < 0) {
    const int error = errno;
    if (error == ENOENT) return read;
    if (lstat(path.c_str(), &info) == 0) read.passed_over = WhyForeign(path, info);
    if (!read.passed_over.empty()) return read;
    read.fault = error == ELOOP ? path + " is a link; replace it by the file, or remove it"
                                : CannotBeRead(path, error);
    return read;
  }
  if (fstat(fd, &info) != 0) {
    read.fault = CannotBeRead(path, errno);
  } else {
    read.passed_over = WhyForeign(path, info);
    if (read.passed_over.empty()) read.fault = FaultOf(path, info);
  }
  if (read.fault.empty() && read.passed_over.empty()) {
    const int error = ReadSome(fd, &read.text);
    if (error != 0) read.fault = CannotBeRead(path, error);
  }
  close(fd);
  return read;
}

std::string FaultOfFileValue(const std::string& key, const std::string& value) {
  if (key == "gpu-log") {
    return "this file may not name files to write; give --gpu-log on the command line";
  }
  if (key == "output" && !IsBelowHere(value)) {
    return "'" + value + "' is not below the working directory; give -o on the command line";
  }
  if (key == "baseline-dir" && !IsBelowHere(value)) {
    return "'" + value +
           "' is not below the working directory; give --baseline-dir on the command line";
  }
  int number = 0;
  if (key == "signal" && ParseSignal(value, &number).empty() && number != 0 && number != SIGUSR1 &&
      number != SIGUSR2 && number < SIGRTMIN) {
    return "from this file the signal is USR1, USR2, a real-time signal or none; give --signal on "
           "the command line";
  }
  return "";
}

}  // namespace gpuprof::launcher
