// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// What a report and a served page share: which results pages show, and the element that describes
// the data. viewer/src/data/source.ts reads that element. Pure.

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analysis.h"

namespace gpuprof::analysis {

// The built page has its data before this mark.
inline constexpr std::string_view kDataMark = "<!--gpuprof:data-->";
Error PageWithoutPlace();

// A result that pages show. An empty key is the pass's own choice.
struct PageResult {
  std::string_view pass, by;
  // Returns the name in the page: PASS or PASS:KEY.
  std::string Name() const;
};
std::vector<PageResult> PageResults();

// Returns the element with what every page says of itself, and with `more`. `left_out`: a sentence
// for people, or empty.
std::string ManifestBlock(const ReportOptions& options, std::string_view left_out,
                          const nlohmann::json& more);

}  // namespace gpuprof::analysis
