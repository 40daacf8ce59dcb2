// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See facts.h.

#include "launcher/facts.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "analysis/analysis.h"
#include "proto/obstacle.h"

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

void AddLoss(std::vector<LossWords>* losses, uint64_t count, const std::string& words) {
  for (LossWords& loss : *losses) {
    if (loss.words != words) continue;
    loss.count += count;
    return;
  }
  losses->push_back({count, words});
}

}  // namespace

BundleFacts ParseFacts(const std::string& text) {
  BundleFacts facts;
  const json description = json::parse(text, nullptr, false);
  if (!description.is_object()) return facts;
  facts.events = NumberOf(description, "count");
  uint64_t unnamed = NumberOf(description, "lost_count");
  for (const json& process : ArrayOf(description, "processes")) {
    ++facts.processes;
    facts.activity_missing_ns =
        std::max(facts.activity_missing_ns, NumberOf(process, "activity_missing_ns"));
    facts.lost_threads += NumberOf(process, "damaged_rings") + NumberOf(process, "rings_outside");
    for (const json& capture : ArrayOf(process, "captures")) {
      for (const char* trigger : {"start_trigger", "stop_trigger"})
        facts.signal_switches += TextOf(capture, trigger) == "signal" ? 1 : 0;
    }
    for (const json& note : ArrayOf(process, "notes")) {
      const std::string words = TextOf(note, "text");
      if (!words.starts_with(proto::kCannotWrite)) continue;
      const std::string cause = words.substr(std::string_view(proto::kCannotWrite).size());
      std::vector<std::string>& causes = facts.write_causes;
      if (std::find(causes.begin(), causes.end(), cause) == causes.end()) causes.push_back(cause);
    }
    for (const json& loss : ArrayOf(process, "losses")) {
      const uint64_t count = NumberOf(loss, "count");
      AddLoss(&facts.losses, count, TextOf(loss, "name"));
      unnamed -= std::min(unnamed, count);
    }
  }
  // Health is written now and then; of what was lost since then blocks tell, and those losses are
  // of full rings.
  if (unnamed > 0) AddLoss(&facts.losses, unnamed, "ring_full");
  for (const json& fault : ArrayOf(description, "faults")) {
    facts.faults.push_back(TextOf(fault, "file") + " at byte " +
                           std::to_string(NumberOf(fault, "offset")) + ": " +
                           TextOf(fault, "what"));
  }
  return facts;
}

BundleFacts FactsOf(const analysis::Trace& trace) {
  return ParseFacts(analysis::DescribeJson(trace));
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
