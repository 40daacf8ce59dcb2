// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See given_files.h. What the process answers is not believed: only a folder of root's that holds a
// bundle of root's gets files.

#include "launcher/control/given_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "launcher/base/read_file.h"
#include "proto/contract.h"
#include "proto/control.h"

namespace gpuprof::launcher {
namespace {

constexpr int kStatusMs = 2'000;
constexpr mode_t kOthersMayWrite = S_IWGRP | S_IWOTH;

// Returns the second number of a line of a status file, the effective user or group.
bool EffectiveOf(const std::string& status, const std::string& key, uint32_t* value) {
  const size_t at = status.find("\n" + key + ":");
  if (at == std::string::npos) return false;
  std::istringstream line(status.substr(at + key.size() + 2));
  uint32_t real = 0;
  return static_cast<bool>(line >> real >> *value);
}

bool IsBundleOfRoot(int folder) {
  struct stat info;
  if (fstat(folder, &info) != 0 || info.st_uid != 0 || (info.st_mode & kOthersMayWrite) != 0)
    return false;
  return fstatat(folder, proto::kBundleFile, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         S_ISREG(info.st_mode) && info.st_uid == 0;
}

}  // namespace

GivenFiles::~GivenFiles() {
  for (const int fd : descriptors_) close(fd);
  if (folder_ >= 0) close(folder_);
}

void GivenFiles::Make(const Endpoint& endpoint) {
  if (geteuid() != 0 || endpoint.wake_up_signal != 0) return;
  const Answer answer = Ask(endpoint, proto::kVerbStatus, kStatusMs);
  const bool is_new = answer.kind == Answer::Kind::kOk && answer.Get(proto::kKeyCaptures) == "0";
  const std::string status =
      ReadFile("/proc/" + std::to_string(answer.peer) + "/status").value_or("");
  uint32_t user = 0, group = 0;
  if (!is_new || !EffectiveOf(status, "Uid", &user) || !EffectiveOf(status, "Gid", &group) ||
      user == 0)
    return;
  folder_ =
      open(answer.Get(proto::kKeyBundle).c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder_ < 0 || !IsBundleOfRoot(folder_)) return;
  char stem[64];
  snprintf(stem, sizeof stem, "p%d-%llx", endpoint.own_pid,
           static_cast<unsigned long long>(endpoint.start_id));
  for (const char* suffix : {proto::kRingSuffix, proto::kTraceSuffix}) {
    const std::string name = std::string(stem) + suffix;
    const int fd =
        openat(folder_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return RemoveUnused();
    names_.push_back(name);
    descriptors_.push_back(fd);
    if (fchmod(fd, 0600) != 0 || fchown(fd, user, group) != 0) return RemoveUnused();
  }
}

void GivenFiles::RemoveUnused() {
  for (size_t i = 0; i < names_.size(); ++i) {
    struct stat info;
    if (fstat(descriptors_[i], &info) == 0 && info.st_size == 0)
      unlinkat(folder_, names_[i].c_str(), 0);
    close(descriptors_[i]);
  }
  names_.clear();
  descriptors_.clear();
}

}  // namespace gpuprof::launcher
