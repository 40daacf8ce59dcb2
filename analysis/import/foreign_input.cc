// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// FindForeign: what Open would read of another tool's files, without reading them. For lists of
// many files, so each one costs a look at its beginning.

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/import/chrome_import.h"
#include "analysis/import/chrome_input.h"
#include "analysis/import/xspace_input.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {
namespace {

// So many files of a folder are looked at: in a folder of traces, the first is one.
constexpr size_t kMostLooks = 8;

bool IsFolder(const InputPath& path) {
  struct stat status;
  return codec::StatInput(path, &status) && S_ISDIR(status.st_mode);
}

// Members of an archive are that one file.
std::vector<InputPath> PathsOf(const std::vector<import::ForeignFile>& files) {
  std::vector<InputPath> paths;
  for (const import::ForeignFile& file : files)
    if (paths.empty() || paths.back().path != file.path.path) paths.push_back(file.path);
  return paths;
}

}  // namespace

ForeignInput FindForeign(const InputPath& path, bool is_deep) {
  import::XSpaceRun run = import::FindXSpaceRun(path);
  if (run.files.empty()) {
    const std::vector<import::ForeignFile> files = import::ChromeFiles(path);
    const size_t looks = std::min(files.size(), kMostLooks);
    const auto end = files.begin() + static_cast<std::ptrdiff_t>(looks);
    if (std::any_of(files.begin(), end, import::LooksLikeTrace))
      return {import::kChromeImporter, PathsOf(files)};
  }
  if (run.files.empty() && is_deep && IsFolder(path)) run = import::FindXSpaceRunBelow(path);
  if (run.files.empty()) return {};
  return {kXSpaceImporter, PathsOf(run.files)};
}

}  // namespace gpuprof::analysis
