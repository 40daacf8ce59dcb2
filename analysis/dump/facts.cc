// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// FactsOf: the few figures of a recording that the command itself speaks of.

#include <algorithm>

#include "analysis/analysis.h"
#include "analysis/dump/info.h"
#include "analysis/model/names.h"
#include "proto/obstacle.h"

namespace gpuprof::analysis {
namespace {

void AddOnce(const std::string& text, std::vector<std::string>* texts) {
  if (std::find(texts->begin(), texts->end(), text) == texts->end()) texts->push_back(text);
}

void AddCounts(uint64_t count, uint32_t kind, std::vector<LossFact>* losses) {
  const std::string_view known = LossKindName(kind);
  const std::string name = known.empty() ? std::to_string(kind) : std::string(known);
  const auto found = std::find_if(losses->begin(), losses->end(),
                                  [&](const LossFact& loss) { return loss.name == name; });
  found == losses->end() ? losses->push_back({count, name}) : void(found->count += count);
}

}  // namespace

BundleFacts FactsOf(const Trace& trace) {
  BundleFacts facts;
  facts.processes = trace.processes.size();
  uint64_t unnamed = 0;
  for (const Process& process : trace.processes) {
    const proto::Health& health = process.health;
    facts.events += process.rows;
    facts.activity_missing_ns = std::max(facts.activity_missing_ns, health.activity_missing_ns());
    facts.lost_threads += uint64_t{health.damaged_rings()} + health.rings_outside();
    unnamed += LostRecords(process);
    for (const CaptureWindow& window : process.captures) {
      facts.signal_switches += window.start_trigger == "signal" ? 1 : 0;
      facts.signal_switches += window.stop_trigger == "signal" ? 1 : 0;
    }
    for (const proto::Note& note : health.note()) {
      if (note.text().starts_with(proto::kCannotWrite))
        AddOnce(note.text().substr(sizeof proto::kCannotWrite - 1), &facts.write_causes);
    }
  }
  for (const Process& process : trace.processes) {
    for (const proto::Loss& loss : process.health.loss()) {
      if (loss.count() == 0) continue;
      AddCounts(loss.count(), static_cast<uint32_t>(loss.kind()), &facts.losses);
      unnamed -= std::min(unnamed, loss.count());
    }
  }
  // Health is written now and then; of what was lost since then blocks tell, and those losses are
  // of full rings.
  if (unnamed > 0) AddCounts(unnamed, proto::LOSS_RING_FULL, &facts.losses);
  for (const InputFault& fault : trace.faults)
    facts.faults.push_back(fault.file + " at byte " + std::to_string(fault.offset) + ": " +
                           fault.what);
  return facts;
}

}  // namespace gpuprof::analysis
