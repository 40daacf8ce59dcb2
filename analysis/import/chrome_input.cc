// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See chrome_input.h.

#include "analysis/import/chrome_input.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <utility>

#include "analysis/import/inflating_source.h"
#include "proto/codec/input_path.h"
#include "proto/contract.h"

namespace gpuprof::analysis::import {
namespace {

namespace fs = std::filesystem;
using codec::InputPath;

// The events may stand behind tables of devices.
constexpr size_t kBeginning = 64 << 10;
// A folder may be the one with all that a user has, and an archive may hold it.
constexpr size_t kMostLooks = 4096;
constexpr int kMostDepth = 2;

bool HasChromeName(const std::string& name) {
  return name.ends_with(".json") || name.ends_with(".json.gz") || name.ends_with(".json.zst");
}

bool IsOwnName(const std::string& name) {
  return name == proto::kBundleFile || name.ends_with(proto::kTraceSuffix) ||
         name.ends_with(proto::kRingSuffix);
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    names.push_back(at->path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

// Reads the first bytes of a file as they are.
std::string FirstBytes(const InputPath& path) {
  const codec::OwnedFile file(codec::OpenInput(path));
  if (file.fd() < 0) return "";
  char bytes[4096];
  const ssize_t n = pread(file.fd(), bytes, sizeof bytes, 0);
  return n <= 0 ? "" : std::string(bytes, static_cast<size_t>(n));
}

// Returns whether a text begins as JSON, or is compressed as JSON can be.
bool BeginsAsJson(std::string_view text) {
  if (InflatingSource::IsCompressed(text)) return true;
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return false;
  // Text in UTF-16 without a mark begins alike.
  return first + 1 >= text.size() || text[first + 1] != '\0';
}

bool IsTraceText(std::string_view text) {
  if (!BeginsAsJson(text)) return false;
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  return has("\"traceEvents\"") || has("\"ph\"") ||
         (has("\"schemaVersion\"") && has("\"deviceProperties\""));
}

std::vector<ForeignFile> TracesInZip(const InputPath& path) {
  const Result<std::vector<ZipMember>> members = ListZip(path);
  if (!members.ok()) return {};
  std::vector<ForeignFile> traces;
  size_t looks = 0;
  for (const ZipMember& member : *members) {
    if (members->size() != 1 && !HasChromeName(member.name)) continue;
    ForeignFile file = MemberOf(path, member);
    Error error;
    const std::string text = BeginningOf(file, kBeginning, &error);
    // A member that cannot be read is a fault of the recording.
    if (error || IsTraceText(text)) traces.push_back(std::move(file));
    if (++looks == kMostLooks) break;
  }
  return traces;
}

// Collects the traces in folders below a folder. Links are not followed.
class TraceSearch {
 public:
  explicit TraceSearch(InputPath folder) : root_(std::move(folder)) { Look("", 0); }
  std::vector<ForeignFile>& traces() { return traces_; }

 private:
  void Look(const std::string& below, int depth) {
    const std::vector<std::string> names = NamesIn(root_.Below(below).path);
    if (std::any_of(names.begin(), names.end(), IsOwnName)) return;  // a bundle
    for (const std::string& name : names) {
      const InputPath path = root_.Below(below + name);
      struct stat status {};
      if (!codec::StatInput(path, &status)) continue;
      if (S_ISDIR(status.st_mode) && depth < kMostDepth) Look(below + name + "/", depth + 1);
      if (!S_ISREG(status.st_mode) || !HasChromeName(name)) continue;
      if (++looks_ > kMostLooks) return;
      ForeignFile file = FileAt(path);
      file.shown = below + name;
      if (LooksLikeTrace(file)) traces_.push_back(std::move(file));
    }
  }

  InputPath root_;
  std::vector<ForeignFile> traces_;
  size_t looks_ = 0;
};

}  // namespace

bool LooksLikeTrace(const ForeignFile& file) { return IsTraceText(BeginningOf(file, kBeginning)); }

std::vector<ForeignFile> ChromeFiles(const InputPath& path) {
  struct stat status {};
  if (!codec::StatInput(path, &status)) return {};
  if (S_ISREG(status.st_mode)) {
    const std::string bytes = FirstBytes(path);
    if (BeginsAsZip(bytes)) return TracesInZip(path);
    if (BeginsAsJson(bytes)) return {FileAt(path)};
    return {};
  }
  if (!S_ISDIR(status.st_mode)) return {};
  const std::vector<std::string> names = NamesIn(path.path);
  if (std::any_of(names.begin(), names.end(), IsOwnName)) return {};
  std::vector<ForeignFile> files;
  for (const std::string& name : names) {
    if (HasChromeName(name)) files.push_back(FileAt(path.Below(name)));
  }
  return files;
}

std::vector<ForeignFile> ChromeFilesBelow(const InputPath& path) {
  struct stat status {};
  if (!codec::StatInput(path, &status) || !S_ISDIR(status.st_mode)) return {};
  return std::move(TraceSearch(path).traces());
}

}  // namespace gpuprof::analysis::import
