// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// FindForeign: what Open would read of another tool's files, without reading them. For lists of
// many files, so each one costs a look at its beginning.

#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/import/byte_source.h"
#include "analysis/import/chrome_import.h"
#include "analysis/import/inflating_source.h"
#include "analysis/import/xspace_input.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis {
namespace {

// The events may stand behind tables of devices.
constexpr size_t kBeginning = 64 << 10;
// So many files of a folder are looked at: in a folder of traces, the first is one.
constexpr size_t kMostLooks = 8;

// Returns whether the text begins as a trace. Settings and tables of other programs are JSON, too.
bool LooksLikeTrace(const InputPath& path) {
  const Result<std::unique_ptr<import::FileSource>> file = import::FileSource::Open(path);
  if (!file.ok()) return false;
  import::InflatingSource source(file->get(), path.path);
  std::string text(kBeginning, '\0');
  size_t size = 0;
  while (size < text.size()) {
    const Result<size_t> got = source.Read(text.data() + size, text.size() - size);
    if (!got.ok() || *got == 0) break;
    size += *got;
  }
  text.resize(size);
  const auto has = [&](std::string_view word) { return text.find(word) != std::string::npos; };
  return has("\"traceEvents\"") || has("\"ph\"") ||
         (has("\"schemaVersion\"") && has("\"deviceProperties\""));
}

bool IsFolder(const InputPath& path) {
  struct stat status;
  return codec::StatInput(path, &status) && S_ISDIR(status.st_mode);
}

}  // namespace

ForeignInput FindForeign(const InputPath& path, bool is_deep) {
  import::XSpaceRun run = import::FindXSpaceRun(path);
  if (run.files.empty() && import::IsChromeInput(path)) {
    std::vector<InputPath> files = import::ChromeFiles(path);
    const size_t looks = std::min(files.size(), kMostLooks);
    const auto end = files.begin() + static_cast<std::ptrdiff_t>(looks);
    if (std::any_of(files.begin(), end, LooksLikeTrace))
      return {import::kChromeImporter, std::move(files)};
  }
  if (run.files.empty() && is_deep && IsFolder(path)) run = import::FindXSpaceRunBelow(path);
  if (run.files.empty()) return {};
  return {kXSpaceImporter, std::move(run.files)};
}

}  // namespace gpuprof::analysis
