// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See facts.h.

#include "launcher/facts.h"

#include <nlohmann/json.hpp>

#include "analysis/analysis.h"

namespace gpuprof::launcher {
namespace {

using nlohmann::json;

uint64_t NumberOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<uint64_t>() : 0;
}

std::string TextOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

json ArrayOf(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : json::array();
}

}  // namespace

BundleFacts FactsOf(const analysis::Trace& trace) {
  BundleFacts facts;
  const json description = json::parse(analysis::DescribeJson(trace), nullptr, false);
  if (!description.is_object()) return facts;
  for (const json& process : ArrayOf(description, "processes")) {
    ++facts.processes;
    facts.events += NumberOf(process, "rows");
  }
  for (const json& loss : ArrayOf(description, "losses"))
    facts.losses.push_back({NumberOf(loss, "count"), TextOf(loss, "name")});
  for (const json& fault : ArrayOf(description, "faults")) {
    facts.faults.push_back(TextOf(fault, "file") + " at byte " +
                           std::to_string(NumberOf(fault, "offset")) + ": " +
                           TextOf(fault, "what"));
  }
  return facts;
}

std::string ReadBundleFacts(const std::string& bundle, BundleFacts* facts) {
  std::shared_ptr<const analysis::Trace> trace;
  analysis::OpenOptions options;
  options.headers_only = true;
  const analysis::Error error = analysis::Open(bundle, options, &trace);
  if (error) return error.message;
  *facts = FactsOf(*trace);
  return "";
}

}  // namespace gpuprof::launcher
