// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Exports a trace in a test, and finds events of the file.

#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/analysis.h"
#include "analysis/model/trace.h"

namespace gpuprof::analysis::test {

using Json = nlohmann::json;

struct Exported {
  std::string text;
  ExportReport report;
  Json json;
  std::vector<Json> events;

  std::vector<Json> Of(const std::string& category) const {
    std::vector<Json> found;
    for (const Json& event : events) {
      if (event.value("cat", "") == category) found.push_back(event);
    }
    return found;
  }
  std::vector<Json> Named(const std::string& name) const {
    std::vector<Json> found;
    for (const Json& event : events) {
      if (event.value("name", "") == name) found.push_back(event);
    }
    return found;
  }
};

inline Exported Export(const Trace& trace, const ExportOptions& options = {}) {
  Exported exported;
  const auto sink = [](void* context, std::string_view text) {
    *static_cast<std::string*>(context) += text;
    return true;
  };
  const Error error = ExportChrome(trace, options, sink, &exported.text, &exported.report);
  EXPECT_FALSE(error) << error.message;
  exported.json = Json::parse(exported.text);
  for (const Json& event : exported.json["traceEvents"]) exported.events.push_back(event);
  EXPECT_EQ(exported.report.events, exported.events.size());
  return exported;
}

}  // namespace gpuprof::analysis::test
