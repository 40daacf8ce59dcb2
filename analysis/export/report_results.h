// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The results in a report, as elements of the page: those of the whole recording, then those of its
// parts. One thread.

#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/export/page_manifest.h"
#include "analysis/export/page_parts.h"
#include "analysis/export/wanted_steps.h"
#include "analysis/model/trace.h"
#include "analysis/passes/session.h"

namespace gpuprof::analysis {

class ReportResults {
 public:
  explicit ReportResults(const Trace& trace) : trace_(trace), session_(trace) {}

  // Runs a pass on the whole recording. The page says why a result is missing.
  void Add(const PageResult& wanted);
  // Adds JSON as the result of this name.
  void Keep(const std::string& name, const std::string& json);
  // Adds all results of parts, until the elements would have more than `room` bytes together. Call
  // it when all passes have run: they find the steps.
  void AddParts(uint64_t room);

  // Returns the steps that matter, by the results of the passes `steps` and `advise`.
  std::vector<WantedStep> Steps() const { return WantedSteps(steps_, advice_); }
  // Returns the elements of the page.
  const std::string& elements() const { return elements_; }
  uint64_t failed_count() const { return failed_.size(); }
  // Returns how many parts found no room.
  uint64_t left_out_parts() const { return left_out_parts_; }
  // Returns what the manifest says of the results.
  nlohmann::json Members() const;

 private:
  void AddPart(const PagePart& part, uint64_t end);
  void Fail(const std::string& name, const std::string& reason);

  const Trace& trace_;
  Session session_;
  results::Steps steps_;
  results::Advice advice_;
  std::vector<std::string> passes_;
  nlohmann::json failed_ = nlohmann::json::array();
  nlohmann::json parts_ = nlohmann::json::array();
  std::string elements_;
  uint64_t left_out_parts_ = 0;
};

}  // namespace gpuprof::analysis
