// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Findings of an assistant that are kept with a recording: the file findings.json in its folder.
// Pages show them, apart from gpuprof's own. The file may be anybody's, so it is read with limits,
// and what does not fit them is left out. One thread.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analysis.h"

namespace gpuprof::launcher {

inline constexpr char kFindingsFile[] = "findings.json";

// A finding, in words of the assistant.
struct KeptFinding {
  std::string title;
  std::string text;
  std::string severity;  // high, medium, low, info
  std::string author;    // which assistant
  std::string check;     // a command or a question that shows the figures; "": none
  std::vector<std::string> evidence;
  std::optional<std::pair<int64_t, int64_t>> window_ns;  // where it shows
  int64_t added_s = 0;                                   // since 1970
};

// Limits of a file, in bytes unless they count.
struct FindingLimits {
  static constexpr size_t kMostFindings = 200;
  static constexpr size_t kMostFileBytes = size_t{1} << 20;
  static constexpr size_t kMostTitle = 200, kMostText = 4'000, kMostAuthor = 100;
  static constexpr size_t kMostCheck = 500, kMostEvidence = 500, kMostEvidences = 10;
};

// Returns whether a word is a severity.
bool IsSeverity(const std::string& word);

// Reads the findings of a recording. No file: none. Returns "", or cause and fix: then the file is
// not one that gpuprof has written.
std::string ReadKeptFindings(const analysis::InputPath& bundle, std::vector<KeptFinding>* findings);

// Writes the findings in one step: readers see the old or the new file. The recording must be a
// folder of this user. Returns "", or cause and fix.
std::string WriteKeptFindings(const analysis::InputPath& bundle,
                              const std::vector<KeptFinding>& findings);

// Puts the findings of a recording into its page, as an element of JSON. A page without findings
// stays as it is, and so does that of a file that cannot be read.
void PutFindingsIntoPage(const analysis::InputPath& bundle, std::string* page);

}  // namespace gpuprof::launcher
