// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// FindForeign: what Open would read of another tool's files, without reading them. For lists of
// many files, so each one costs a look at its beginning.

#include <sys/stat.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/import/importers.h"

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
  for (const import::Importer& importer : import::Importers()) {
    const import::Recording found = importer.find(path);
    const size_t looks = std::min(found.files.size(), kMostLooks);
    const auto end = found.files.begin() + static_cast<std::ptrdiff_t>(looks);
    const bool is_known = importer.looks == nullptr
                              ? !found.files.empty()
                              : std::any_of(found.files.begin(), end, importer.looks);
    if (is_known) return {std::string(importer.name), PathsOf(found.files)};
  }
  if (!is_deep || !IsFolder(path)) return {};
  for (const import::Importer& importer : import::Importers()) {
    if (!importer.is_below_first) continue;
    const import::Recording found = importer.find_below(path);
    if (!found.files.empty()) return {std::string(importer.name), PathsOf(found.files)};
  }
  return {};
}

}  // namespace gpuprof::analysis
