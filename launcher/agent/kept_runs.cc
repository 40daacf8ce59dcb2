// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See kept_runs.h.

#include "launcher/agent/kept_runs.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/base/read_file.h"
#include "launcher/base/values.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {
namespace {

constexpr uint64_t kMostRuns = 1'000'000;

// Returns -1 if the folder is a link, or not there.
int OpenFolder(const std::string& runs, const std::string& name) {
  const codec::OwnedFile above(open(runs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return openat(above.fd(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

}  // namespace

std::string ParseKeepLimit(std::string_view text, KeepLimit* limit) {
  *limit = {};
  const bool is_number = text.find_first_not_of("0123456789") == std::string_view::npos;
  const std::string error =
      is_number ? ParseCount(text, kMostRuns, &limit->runs) : ParseSize(text, &limit->bytes);
  if (!error.empty()) return error + "; write a number of runs, or a size such as 10GiB";
  if (limit->runs == 0 && limit->bytes == 0)
    return "0 would keep no run; leave --logdir out for that";
  return "";
}

// XProf writes what it has computed next to the trace, by the trace's host or for all hosts.
bool KeptRuns::IsOwn(std::string_view file) const {
  return file.starts_with(own_prefix_) || file.starts_with("ALL_HOSTS.") ||
         file == "cache_version.txt";
}

uint64_t KeptRuns::BytesOf(const Run& run) const {
  const codec::OwnedFile folder(OpenFolder(run.runs, run.name));
  uint64_t bytes = 0;
  for (const std::string& file : ListFolder(folder.fd())) {
    struct stat status;
    if (IsOwn(file) && fstatat(folder.fd(), file.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      bytes += static_cast<uint64_t>(status.st_size);
  }
  return bytes;
}

void KeptRuns::Remove(const Run& run) const {
  const codec::OwnedFile folder(OpenFolder(run.runs, run.name));
  if (folder.fd() < 0) return;
  for (const std::string& file : ListFolder(folder.fd())) {
    if (IsOwn(file)) unlinkat(folder.fd(), file.c_str(), 0);
  }
  rmdir((run.runs + "/" + run.name).c_str());
}

void KeptRuns::Add(const std::string& runs, const std::string& name) {
  if (limit_.runs == 0 && limit_.bytes == 0) return;
  Run run = {runs, name, 0};
  run.bytes = BytesOf(run);
  bytes_ += run.bytes;
  kept_.push_back(std::move(run));
  while (kept_.size() > 1 && ((limit_.runs != 0 && kept_.size() > limit_.runs) ||
                              (limit_.bytes != 0 && bytes_ > limit_.bytes))) {
    Remove(kept_.front());
    bytes_ -= kept_.front().bytes;
    kept_.pop_front();
  }
}

}  // namespace gpuprof::launcher
