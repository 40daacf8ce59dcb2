// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See capture_list.h.

#include "launcher/serve/capture_list.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "launcher/base/read_file.h"
#include "launcher/record/bundle.h"
#include "launcher/serve/page_files.h"
#include "proto/codec/input_path.h"
#include "proto/container.h"
#include "proto/contract.h"

namespace gpuprof::launcher {
namespace {

using analysis::InputPath;

constexpr std::chrono::seconds kPause(1);
constexpr char kWholeName[] = "/";  // no file has this name: the id of the folder itself

int64_t ModifiedNs(const struct stat& status) {
  return int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// Adds a file to the figures of a capture. FNV-1a.
void Count(const std::string& name, const struct stat& status, ServedCapture* capture) {
  for (const char c : name + "\n" + codec::FileState(status) + " ")
    capture->state = (capture->state ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  capture->bytes += static_cast<uint64_t>(status.st_size);
  capture->modified_ns = std::max(capture->modified_ns, ModifiedNs(status));
}

// Adds all files of another tool's recording.
void CountAll(ServedCapture* capture) {
  for (const InputPath& file : capture->foreign.files) {
    struct stat status;
    if (codec::StatInput(file, &status)) Count(file.path, status, capture);
  }
}

bool HasName(const std::vector<std::string>& names, const char* name) {
  return std::binary_search(names.begin(), names.end(), name);
}

bool HasForeignName(const std::string& name) {
  for (const char* end : {".json", ".json.gz", ".json.zst", ".pb", ".pb.gz", ".xplane.pb.zst",
                          ".xplane.riegeli", ".zip"}) {
    if (name.ends_with(end)) return name != proto::kBundleFile;
  }
  return false;
}

bool IsTrace(const std::string& name) { return name.ends_with(proto::kTraceSuffix); }

// Returns why a file cannot be opened, or "".
std::string OpenFault(const InputPath& path) {
  if (access(path.path.c_str(), R_OK) == 0) return "";
  return "It cannot be read: " + std::string(std::strerror(errno)) +
         ". Serve the folder as a user who may read it.";
}

// Returns what is wrong with a file that is named as a trace of gpuprof, or "".
std::string TraceFault(const InputPath& path) {
  const codec::OwnedFile file(codec::OpenInput(path));
  if (file.fd() < 0) return OpenFault(path);
  // Only the last byte differs in files of drafts and in damaged ones. Their reader knows more.
  constexpr size_t kSame = sizeof proto::kFileMagic - 1;
  char magic[kSame] = {};
  if (pread(file.fd(), magic, kSame, sizeof(proto::SkippableHeader)) == ssize_t{kSame} &&
      std::memcmp(magic, proto::kFileMagic, kSame) == 0)
    return "";
  return "It is named .gpt, but is not a trace of gpuprof. Record it again.";
}

}  // namespace

bool IsOneBundle(const std::string& folder) {
  const std::vector<std::string> names = ListFolder(folder);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    ProcessFiles process;
    return name == proto::kBundleFile || IsPartName(name) || ParseProcessFile(name, &process) ||
           (name.starts_with(proto::kSamplerPrefix) && IsTrace(name));
  });
}

bool IsLogFolder(const std::string& folder) {
  struct stat status;
  return stat((folder + "/plugins/profile").c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

CaptureList::CaptureList(std::string folder) : folder_(std::move(folder)) {}

std::shared_ptr<const Captures> CaptureList::Look() {
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (captures_ != nullptr && now < looked_at_ + kPause) return captures_;
  auto captures = std::make_shared<Captures>();
  for (const std::string& name : ListFolder(folder_ + "/")) {
    struct stat status;
    const InputPath path = InputPath(folder_ + "/").Below(name);
    if (name[0] == '.' || !codec::StatInput(path, &status)) continue;
    if (S_ISLNK(status.st_mode)) AddLink(name, path, captures.get());
    if (S_ISDIR(status.st_mode)) AddFolder(name, path, captures.get());
    if (S_ISREG(status.st_mode)) AddFile(name, path, captures.get());
  }
  AddWhole(captures.get());
  known_ = std::move(known_now_);
  known_now_.clear();
  captures_ = std::move(captures);
  looked_at_ = std::chrono::steady_clock::now();
  return captures_;
}

void CaptureList::Add(ServedCapture capture, Captures* captures) {
  const std::string& key = capture.path.path == folder_ ? kWholeName : capture.title;
  capture.id = ids_.emplace(key, ids_.size() + 1).first->second;
  captures->push_back(std::move(capture));
}

// Tells of a link to what would be a recording.
void CaptureList::AddLink(const std::string& title, const InputPath& path, Captures* captures) {
  struct stat target;
  if (stat(path.path.c_str(), &target) != 0) return;
  const bool is_file = S_ISREG(target.st_mode) && (IsTrace(title) || HasForeignName(title));
  const bool is_bundle = S_ISDIR(target.st_mode) && IsOneBundle(path.path);
  if (!is_file && !is_bundle) return;
  ServedCapture capture;
  capture.title = title;
  capture.path = path;
  capture.is_folder = is_bundle;
  capture.fault = "It is a link, which is not followed here. Serve its target.";
  Add(std::move(capture), captures);
}

void CaptureList::AddFile(const std::string& title, const InputPath& path, Captures* captures) {
  ServedCapture capture;
  capture.title = title;
  capture.path = path;
  struct stat status;
  if (!codec::StatInput(path, &status)) return;
  Count("", status, &capture);
  if (IsTrace(title)) {
    capture.fault = TraceFault(path);
    return Add(std::move(capture), captures);
  }
  if (!HasForeignName(title)) return;
  const Known& known = LookAt(path, false, false);
  capture.foreign = known.foreign;
  capture.fault = known.fault;
  if (!capture.foreign.importer.empty() || !capture.fault.empty())
    Add(std::move(capture), captures);
}

void CaptureList::AddFolder(const std::string& title, const InputPath& path, Captures* captures) {
  const std::vector<std::string> names = ListFolder(path.path);
  const bool has_trace = std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return IsTrace(name) || IsPartName(name);
  });
  if (has_trace || HasName(names, proto::kBundleFile))
    return AddBundle(title, path, names, captures);
  const bool is_log = HasName(names, "plugins") && IsLogFolder(path.path);
  if (!is_log && !std::any_of(names.begin(), names.end(), HasForeignName)) return;
  const Known& known = LookAt(path, true, is_log);
  if (known.foreign.importer.empty()) return;
  ServedCapture capture;
  capture.title = title;
  capture.path = path;
  capture.is_folder = true;
  capture.foreign = known.foreign;
  CountAll(&capture);
  Add(std::move(capture), captures);
}

void CaptureList::AddBundle(const std::string& title, const InputPath& path,
                            const std::vector<std::string>& names, Captures* captures) {
  ServedCapture capture;
  capture.title = title;
  capture.path = path;
  capture.is_folder = true;
  std::vector<std::string> snapshots;
  // The files of a job's ranks are of the same recording.
  std::vector<std::string> all = names;
  for (const std::string& part : names) {
    if (!IsPartName(part)) continue;
    for (const std::string& name : ListFolder(path.Below(part).path))
      all.push_back(part + "/" + name);
  }
  for (const std::string& name : all) {
    struct stat status;
    const InputPath file = path.Below(name);
    if (!codec::StatInput(file, &status)) continue;
    if (S_ISDIR(status.st_mode) &&
        name.substr(name.rfind('/') + 1).starts_with(proto::kSnapshotPrefix))
      snapshots.push_back(name);
    if (!S_ISREG(status.st_mode)) continue;
    Count(name, status, &capture);
    if (capture.fault.empty() && IsTrace(name)) capture.fault = OpenFault(file);
  }
  Add(std::move(capture), captures);
  // A snapshot has no snapshots.
  if (title.find('/') != std::string::npos) return;
  for (const std::string& name : snapshots) {
    const std::vector<std::string> inside = ListFolder(path.Below(name).path);
    if (std::any_of(inside.begin(), inside.end(), IsTrace))
      AddBundle(title + "/" + name, path.Below(name), inside, captures);
  }
}

// Adds the files of another tool that lie in the folder itself, as one recording: they may be of
// the ranks of one run.
void CaptureList::AddWhole(Captures* captures) {
  ServedCapture capture;
  size_t count = 0;
  std::string importer;
  for (const ServedCapture& each : *captures) {
    if (each.is_folder) continue;
    if (each.foreign.importer.empty()) return;
    if (!importer.empty() && importer != each.foreign.importer) return;
    importer = each.foreign.importer;
    ++count;
  }
  if (count < 2) return;
  capture.foreign = LookAt(folder_, true, false).foreign;
  if (capture.foreign.importer != importer || capture.foreign.files.size() < 2) return;
  capture.title = LastPart(folder_) + " (" + std::to_string(capture.foreign.files.size()) +
                  " files as one recording)";
  capture.path = folder_;
  capture.is_folder = true;
  CountAll(&capture);
  Add(std::move(capture), captures);
}

// Finds out what a file or a folder of other tools is, unless it is known from the look before.
const CaptureList::Known& CaptureList::LookAt(const InputPath& path, bool is_folder, bool is_deep) {
  struct stat status = {};
  codec::StatInput(path, &status);
  Known known;
  known.status = codec::FileState(status);
  const auto before = known_.find(path.path);
  if (before != known_.end() && before->second.status == known.status && !is_deep) {
    known = before->second;
  } else {
    known.fault = is_folder ? "" : OpenFault(path);
    if (known.fault.empty()) known.foreign = analysis::FindForeign(path, is_deep);
  }
  return known_now_[path.path] = std::move(known);
}

}  // namespace gpuprof::launcher
