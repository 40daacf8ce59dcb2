// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Makes the page of a server: the built page with a description of the data, and without the data.

#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "analysis/export/page_manifest.h"

namespace gpuprof::analysis {

Error MakeServedPage(const ReportOptions& options, std::string* page) {
  const size_t place = options.page.rfind(kDataMark);
  if (place == std::string_view::npos) return PageWithoutPlace();
  nlohmann::json passes = nlohmann::json::array();
  if (options.kind == PageKind::kComparison) passes.push_back(kComparisonResult);
  if (options.kind == PageKind::kRecording) {
    for (const PageResult& result : PageResults()) passes.push_back(result.Name());
  }
  nlohmann::json files = nlohmann::json::array();
  for (const ReportFile& file : options.files) {
    OwnFile own;
    if (OpenOwnFile(file.path, &own)) continue;
    files.push_back({{"name", file.name}, {"size", own.status.st_size}});
  }
  nlohmann::json more = {{"http", true},
                         {"passes", std::move(passes)},
                         {"failed", nlohmann::json::array()},
                         {"files", std::move(files)}};
  if (options.kind == PageKind::kList) more["captures"] = true;
  if (!options.list.empty()) more["folder"] = options.list;
  *page = options.page.substr(0, place);
  *page += ManifestBlock(options, options.left_out, more);
  *page += options.page.substr(place);
  return {};
}

}  // namespace gpuprof::analysis
