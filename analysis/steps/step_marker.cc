// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_marker.h.

#include "analysis/steps/step_marker.h"

#include <regex>
#include <utility>

namespace gpuprof::analysis {

struct StepMarker::Compiled {
  std::regex expression;
};

StepMarker::StepMarker(std::unique_ptr<Compiled> compiled) : compiled_(std::move(compiled)) {}
StepMarker::~StepMarker() = default;

std::shared_ptr<const StepMarker> StepMarker::Of(const std::string& pattern, std::string* reason) {
  auto compiled = std::make_unique<Compiled>();
  try {
    compiled->expression.assign(pattern, std::regex::ECMAScript | std::regex::optimize);
  } catch (const std::regex_error& error) {
    *reason = error.what();
    return nullptr;
  }
  return std::shared_ptr<const StepMarker>(new StepMarker(std::move(compiled)));
}

bool StepMarker::Matches(const std::string& text) const {
  return std::regex_search(text, compiled_->expression);
}

}  // namespace gpuprof::analysis
