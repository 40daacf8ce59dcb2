// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See log_folder.h.

#include "launcher/agent/log_folder.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher/base/output_folder.h"

namespace gpuprof::launcher {
namespace {

constexpr size_t kMostNameBytes = 64;

bool IsSameFolder(const std::string& one, const std::string& other) {
  struct stat first, second;
  return stat(one.c_str(), &first) == 0 && stat(other.c_str(), &second) == 0 &&
         first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

bool CopyTo(const std::string& path, const CapturedTrace& trace, OutputFolder* folder) {
  Body body;
  body.AddFile(trace.file, trace.bytes);
  std::string room(256 << 10, '\0');
  for (;;) {
    const int64_t got = body.Take(room.data(), room.size());
    if (got <= 0) return got == 0;
    if (!folder->Write(path, {room.data(), static_cast<size_t>(got)})) return false;
  }
}

}  // namespace

std::string FileNamePart(std::string_view text) {
  std::string name;
  for (const char c : text.substr(0, kMostNameBytes)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    name += is_plain ? c : '_';
  }
  return name.find_first_not_of('.') == std::string::npos ? "" : name;
}

std::string RunNameNow() {
  const time_t now = time(nullptr);
  tm utc = {};
  char name[64] = "run";
  if (gmtime_r(&now, &utc) != nullptr) strftime(name, sizeof name, "%Y_%m_%d_%H_%M_%S", &utc);
  return name;
}

LogFolder::LogFolder(std::string folder, std::string host, KeepLimit keep)
    : folder_(std::move(folder)), prefix_(FileNamePart(host) + "."), kept_(keep, prefix_) {}

std::string LogFolder::Keep(const ProfileRequest& request, const std::vector<CapturedTrace>& traces,
                            std::string* fault) {
  if (folder_.empty() || traces.empty()) return "";
  const std::string runs = folder_ + "/plugins/profile";
  if (!request.repository_root.empty() &&
      (request.repository_root == runs || IsSameFolder(request.repository_root, runs)))
    return "";
  std::string run = FileNamePart(request.session_id);
  if (run.empty()) run = RunNameNow();
  // Two captures of one second have one name.
  std::string unique = run;
  struct stat status;
  for (int number = 2; lstat((runs + "/" + unique).c_str(), &status) == 0; ++number)
    unique = run + "-" + std::to_string(number);
  OutputFolder folder(folder_);
  for (const CapturedTrace& trace : traces) {
    const std::string path = "plugins/profile/" + unique + "/" + prefix_ + trace.name;
    if (!CopyTo(path, trace, &folder)) break;
  }
  *fault = folder.Finish();
  if (!fault->empty()) return "";
  kept_.Add(runs, unique);
  return runs + "/" + unique;
}

}  // namespace gpuprof::launcher
