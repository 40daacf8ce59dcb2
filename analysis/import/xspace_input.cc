// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See xspace_input.h.

#include "analysis/import/xspace_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "analysis/import/random_bytes.h"
#include "analysis/import/xspace_reader.h"
#include "proto/contract.h"

namespace gpuprof::analysis::import {
namespace {

namespace fs = std::filesystem;
using codec::InputPath;

// A log folder may lie in a folder with all that a user has.
constexpr int kMostDepth = 8;
constexpr size_t kMostEntries = 100'000;

struct Run {
  std::string folder, name;
  std::vector<InputPath> files;
  int64_t modified_ns = 0;
};

bool HasXSpaceName(const std::string& name) {
  return name.ends_with(".xplane.pb") || name.ends_with(".xplane.pb.gz") ||
         name.ends_with(".xplane.pb.zst") || name.ends_with(".xplane.riegeli");
}

bool IsOwnName(const std::string& name) {
  return name == proto::kBundleFile || name.ends_with(proto::kTraceSuffix) ||
         name.ends_with(proto::kRingSuffix);
}

// "2026_11_26_14_30_00", as profilers name runs.
bool IsMoment(std::string_view name) {
  constexpr std::string_view kForm = "0000_00_00_00_00_00";
  if (name.size() < kForm.size()) return false;
  for (size_t i = 0; i < kForm.size(); ++i) {
    const bool is_digit = name[i] >= '0' && name[i] <= '9';
    if (kForm[i] == '0' ? !is_digit : name[i] != '_') return false;
  }
  return true;
}

int64_t ModifiedNs(const InputPath& path) {
  struct stat status {};
  if (!codec::StatInput(path, &status)) return 0;
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

void Sort(std::vector<InputPath>* paths) {
  std::sort(paths->begin(), paths->end(),
            [](const InputPath& x, const InputPath& y) { return x.path < y.path; });
}

// Collects the runs below a folder. Links are not followed: they may lead in a circle.
class RunSearch {
 public:
  RunSearch(const InputPath& path, int most_depth) : most_depth_(most_depth) { Look(path, 0); }
  std::vector<Run>& runs() { return runs_; }

 private:
  void Look(const InputPath& folder, int depth) {
    std::vector<InputPath> below, files;
    std::error_code error;
    for (fs::directory_iterator at(folder.path, error), end; !error && at != end;
         at.increment(error)) {
      if (++entries_ > kMostEntries) break;
      const std::string name = at->path().filename().string();
      if (IsOwnName(name)) return;  // a bundle
      std::error_code unused;
      if (HasXSpaceName(name)) {
        files.push_back(folder.Below(name));
      } else if (!at->is_symlink(unused) && at->is_directory(unused)) {
        below.push_back(folder.Below(name));
      }
    }
    if (!files.empty()) AddRun(folder.path, std::move(files));
    Sort(&below);
    for (const InputPath& each : below)
      if (depth < most_depth_ && IsPossible(each.path, depth)) Look(each, depth + 1);
  }
  // Runs lie in plugins/profile: other folders of plugins have none.
  static bool IsPossible(const std::string& folder, int depth) {
    const fs::path path(folder);
    return depth == 0 || path.parent_path().filename() != "plugins" || path.filename() == "profile";
  }
  void AddRun(const std::string& folder, std::vector<InputPath> files) {
    Sort(&files);
    Run run{folder, fs::path(folder).filename().string(), std::move(files), 0};
    for (const InputPath& file : run.files)
      run.modified_ns = std::max(run.modified_ns, ModifiedNs(file));
    runs_.push_back(std::move(run));
  }

  int most_depth_;
  std::vector<Run> runs_;
  size_t entries_ = 0;
};

// Times of files change when they are copied; names that are moments do not.
const Run& NewestOf(const std::vector<Run>& runs) {
  const bool are_moments =
      std::all_of(runs.begin(), runs.end(), [](const Run& run) { return IsMoment(run.name); });
  return *std::max_element(runs.begin(), runs.end(), [&](const Run& x, const Run& y) {
    if (are_moments && x.name != y.name) return x.name < y.name;
    return std::pair(x.modified_ns, x.name) < std::pair(y.modified_ns, y.name);
  });
}

bool IsXSpaceFile(const InputPath& path) {
  if (HasXSpaceName(path.path)) return true;
  Result<std::unique_ptr<RandomBytes>> file = FileBytesAt::Open(path);
  return file.ok() && (IsRiegeli(**file) || LooksLikeXSpace(**file));
}

// Returns the seconds of a moment that names a run.
int64_t SecondsOf(const std::string& moment) {
  std::tm time{};
  const auto number = [&](size_t at, size_t digits) {
    return std::stoi(moment.substr(at, digits));
  };
  time.tm_year = number(0, 4) - 1900;
  time.tm_mon = number(5, 2) - 1;
  time.tm_mday = number(8, 2);
  time.tm_hour = number(11, 2);
  time.tm_min = number(14, 2);
  time.tm_sec = number(17, 2);
  return timegm(&time);
}

// Returns whether two runs are one session: their names are a few seconds apart, and no host has a
// file in both.
bool IsOfSameSession(const Run& run, const Run& newest) {
  constexpr int64_t kMostSeconds = 5;
  if (!IsMoment(run.name) || !IsMoment(newest.name)) return false;
  if (SecondsOf(newest.name) - SecondsOf(run.name) > kMostSeconds) return false;
  const auto name = [](const InputPath& file) { return fs::path(file.path).filename().string(); };
  return std::none_of(run.files.begin(), run.files.end(), [&](const InputPath& file) {
    return std::any_of(newest.files.begin(), newest.files.end(),
                       [&](const InputPath& other) { return name(file) == name(other); });
  });
}

XSpaceRun NewestBelow(const InputPath& path, int depth) {
  XSpaceRun found;
  RunSearch search(path, depth);
  if (search.runs().empty()) return found;
  const Run& newest = NewestOf(search.runs());
  found.folder = newest.folder;
  for (const InputPath& file : newest.files) found.files.push_back(FileAt(file));
  found.other_runs = search.runs().size() - 1;
  // Hosts of one session name their folders by their own clocks.
  for (const Run& run : search.runs()) {
    if (&run == &newest || !IsOfSameSession(run, newest)) continue;
    for (const InputPath& file : run.files) found.files.push_back(FileAt(file));
    --found.other_runs;
  }
  return found;
}

bool IsZip(const InputPath& path) {
  const Result<std::unique_ptr<RandomBytes>> file = FileBytesAt::Open(path);
  char first[4] = {};
  if (!file.ok()) return false;
  const Result<size_t> got = (*file)->ReadAt(0, first, sizeof first);
  return got.ok() && BeginsAsZip({first, *got});
}

// Members keep no time that is worth a comparison: the last folder is taken for the newest run.
XSpaceRun NewestInZip(const InputPath& path) {
  const Result<std::vector<ZipMember>> members = ListZip(path);
  std::map<std::string, std::vector<ZipMember>> runs;  // by folder
  if (members.ok()) {
    for (const ZipMember& member : *members)
      if (HasXSpaceName(member.name))
        runs[fs::path(member.name).parent_path().string()].push_back(member);
  }
  XSpaceRun found;
  if (runs.empty()) return found;
  const auto& [folder, newest] = *runs.rbegin();
  found.folder = folder;
  for (const ZipMember& member : newest) found.files.push_back(MemberOf(path, member));
  found.other_runs = runs.size() - 1;
  return found;
}

}  // namespace

XSpaceRun FindXSpaceRun(const InputPath& path) {
  XSpaceRun found;
  struct stat status {};
  if (!codec::StatInput(path, &status)) return found;
  if (S_ISDIR(status.st_mode)) return NewestBelow(path, 0);
  if (!S_ISREG(status.st_mode)) return found;
  if (IsXSpaceFile(path)) found.files = {FileAt(path)};
  if (found.files.empty() && IsZip(path)) return NewestInZip(path);
  return found;
}

XSpaceRun FindXSpaceRunBelow(const InputPath& path) {
  struct stat status {};
  const bool is_folder = codec::StatInput(path, &status) && S_ISDIR(status.st_mode);
  return is_folder ? NewestBelow(path, kMostDepth) : XSpaceRun();
}

}  // namespace gpuprof::analysis::import
