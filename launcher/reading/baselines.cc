// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See baselines.h.

#include "launcher/reading/baselines.h"

#include <errno.h>
#include <fcntl.h>
#include <google/protobuf/message.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "launcher/base/nearest.h"
#include "launcher/reading/reading.h"
#include "proto/codec/open_regular.h"

namespace gpuprof::launcher {
namespace {

constexpr char kSuffix[] = ".baseline";
constexpr size_t kMostNameBytes = 100;
constexpr off_t kMostBytes = off_t{64} << 20;
constexpr FolderWords kWords = {"the baselines", "--baseline-dir DIR"};

std::string DefaultFolder() {
  const char* data = getenv("XDG_DATA_HOME");
  // The specification of the variable says that relative paths do not count.
  if (data != nullptr && data[0] == '/') return std::string(data) + "/gpuprof/baselines";
  const char* home = getenv("HOME");
  if (home == nullptr || home[0] != '/') return "";
  return std::string(home) + "/.local/share/gpuprof/baselines";
}

std::string Absolute(const std::string& path) {
  char here[PATH_MAX];
  if (path[0] == '/' || getcwd(here, sizeof here) == nullptr) return path;
  return std::string(here) + "/" + path;
}

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
         c == '_' || c == '-' || c == '+';
}

std::string Cannot(const std::string& path, const char* what, int error) {
  return path + " cannot be " + what + ": " + strerror(error);
}

}  // namespace

std::string CheckBaselineName(std::string_view name) {
  const std::string rule =
      "names of baselines have letters, digits and . _ - +, begin with a letter or digit, and have "
      "at most 100 characters";
  const bool is_good = !name.empty() && name.size() <= kMostNameBytes &&
                       std::all_of(name.begin(), name.end(), IsNameCharacter) && name[0] != '.' &&
                       name[0] != '-' && name[0] != '+' && name[0] != '_';
  return is_good ? "" : "'" + std::string(name) + "' is not a name for a baseline; " + rule;
}

BaselineFolder::BaselineFolder(const std::string& folder) : folder_(kWords) {
  path_ = folder.empty() ? DefaultFolder() : Absolute(folder);
  while (path_.size() > 1 && path_.back() == '/') path_.pop_back();
}

std::string BaselineFolder::FileOf(const std::string& name) const {
  return path_ + "/" + name + kSuffix;
}

std::string BaselineFolder::OpenToRead() {
  if (path_.empty()) return "HOME is not set; name a folder with --baseline-dir DIR";
  const int error = folder_.Open(path_);
  if (error == ENOENT) return "";
  if (error == ELOOP) return path_ + " is a link; name the folder itself with --baseline-dir DIR";
  if (error != 0) return Cannot(path_, "read", error);
  is_open_ = true;
  return folder_.WhyForeign(path_);
}

std::string BaselineFolder::OpenToWrite() {
  if (path_.empty()) return "HOME is not set; name a folder with --baseline-dir DIR";
  const int error = folder_.Make(path_, TrustedFolder::Last::kAny);
  std::string fault;
  if (error == ELOOP) {
    fault = path_ + " is a link; name the folder itself with --baseline-dir DIR";
  } else if (error != 0) {
    fault = Cannot(path_, "made", error) + "; name another folder with --baseline-dir DIR";
  } else {
    fault = folder_.Claim(path_);
  }
  is_open_ = fault.empty();
  if (!fault.empty()) folder_.RemoveMade();
  return fault;
}

std::string BaselineFolder::Unknown(const std::string& name) const {
  const std::vector<std::string> names = Names();
  if (names.empty())
    return "there is no baseline in " + path_ + "; save one with 'gpuprof baseline save " + name +
           " BUNDLE'";
  return "there is no baseline '" + name + "' in " + path_ +
         "; 'gpuprof baseline list' shows all." + DidYouMean(name, names);
}

std::string BaselineFolder::Read(const std::string& name, std::string* bytes) const {
  const std::string path = FileOf(name);
  if (!is_open_) return Unknown(name);
  struct stat info;
  const codec::OwnedFile file(
      codec::OpenRegular(folder_.fd(), (name + kSuffix).c_str(), O_RDONLY | O_NOFOLLOW, &info));
  if (file.fd() < 0 && errno == ENOENT) return Unknown(name);
  if (file.fd() < 0) return path + " cannot be read: " + codec::OpenErrorText(errno);
  if (info.st_size > kMostBytes) return path + " is too large for a baseline; remove it";
  bytes->resize(static_cast<size_t>(info.st_size));
  for (size_t done = 0; done < bytes->size();) {
    const ssize_t got = read(file.fd(), bytes->data() + done, bytes->size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Cannot(path, "read", errno);
    if (got == 0) bytes->resize(done);
    done += static_cast<size_t>(got);
  }
  return "";
}

std::string BaselineFolder::Save(const std::string& name, const std::string& bytes,
                                 bool may_replace) const {
  struct stat info;
  if (!may_replace &&
      fstatat(folder_.fd(), (name + kSuffix).c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
    return "a baseline '" + name + "' exists already; --replace saves over it";
  const int error = folder_.Replace(name + kSuffix, bytes);
  return error == 0 ? "" : Cannot(FileOf(name), "written", error);
}

std::string BaselineFolder::Remove(const std::string& name) const {
  if (!is_open_) return Unknown(name);
  if (unlinkat(folder_.fd(), (name + kSuffix).c_str(), 0) == 0) return "";
  return errno == ENOENT ? Unknown(name) : Cannot(FileOf(name), "removed", errno);
}

std::vector<std::string> BaselineFolder::Names() const {
  std::vector<std::string> names;
  if (!is_open_) return names;
  for (std::string name : folder_.List()) {
    if (!name.ends_with(kSuffix)) continue;
    name.resize(name.size() - (sizeof kSuffix - 1));
    if (CheckBaselineName(name).empty()) names.push_back(std::move(name));
  }
  return names;
}

int ReadBaseline(const BaselineFolder& folder, const std::string& name,
                 std::unique_ptr<google::protobuf::Message>* baseline) {
  std::string bytes;
  const std::string fault = folder.Read(name, &bytes);
  if (fault.empty()) return ExitOf(analysis::ParseBaseline(bytes, folder.FileOf(name), baseline));
  Say(fault);
  return kExitUnreadable;
}

}  // namespace gpuprof::launcher
