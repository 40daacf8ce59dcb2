// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The regular expression of --step-marker, compiled. The library that compiles it stays out of this
// header. A third of the analysis includes the header, and the library takes a second to parse.

#pragma once

#include <memory>
#include <string>

namespace gpuprof::analysis {

class StepMarker {
 public:
  // Returns null, and says why in `reason`, if the pattern is not a regular expression.
  static std::shared_ptr<const StepMarker> Of(const std::string& pattern, std::string* reason);
  StepMarker(const StepMarker&) = delete;
  StepMarker& operator=(const StepMarker&) = delete;
  ~StepMarker();

  // Returns whether a part of the text matches.
  bool Matches(const std::string& text) const;

 private:
  struct Compiled;
  explicit StepMarker(std::unique_ptr<Compiled> compiled);
  std::unique_ptr<Compiled> compiled_;
};

}  // namespace gpuprof::analysis
