// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See iterations.h.

#include "analysis/steps/iterations.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "analysis/steps/op_tree.h"

namespace gpuprof::analysis {
namespace {

using proto::IterationName;
using proto::IterationPhase;

struct IterationMark {
  Interval span;
  const IterationName* says = nullptr;
};

bool TellsItself(const IterationName& name) {
  return name.is_iteration && name.phase != IterationPhase::kUnknown;
}

// Returns the outermost ranges of a thread that tell a phase, by time.
std::vector<IterationMark> MarksOf(const Process& process, size_t index,
                                   std::unordered_map<uint32_t, IterationName>* names) {
  std::vector<IterationMark> all;
  const auto add = [&](uint32_t id, int64_t end, int64_t length) {
    const auto [at, is_new] = names->try_emplace(id);
    if (is_new && id != 0) {
      const std::string& text = process.String(id);
      at->second = proto::ReadIterationName(text.data(), static_cast<uint32_t>(text.size()));
    }
    if (TellsItself(at->second)) all.push_back({{end - length, end}, &at->second});
  };
  const Track& track = process.tracks[index];
  for (size_t row = 0; row < track.op.rows(); ++row)
    if (IsUserRange(track.op, row))
      add(track.op.name[row], track.op.end_ns[row], track.op.duration_ns[row]);
  const RangeTable& ranges = track.range;
  for (size_t row = 0; row < ranges.rows(); ++row) {
    if (proto::RangeKindOf(ranges.operation[row]) == proto::RangeKind::kPushPop)
      add(ranges.name[row], ranges.end_ns[row], ranges.duration_ns[row]);
  }
  std::stable_sort(all.begin(), all.end(), [](const IterationMark& a, const IterationMark& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
  });
  std::vector<IterationMark> outermost;
  for (const IterationMark& mark : all)
    if (outermost.empty() || mark.span.start >= outermost.back().span.end)
      outermost.push_back(mark);
  return outermost;
}

// Leaves of what is told what another range says, too.
void Agree(const IterationName& other, IterationName* told) {
  for (uint64_t IterationName::*number :
       {&IterationName::requests, &IterationName::prefill_requests,
        &IterationName::decode_requests})
    if (told->*number != other.*number) told->*number = IterationName::kUntold;
  // Each range computes anew, so its tokens are not those of the other.
  for (uint64_t IterationName::*number :
       {&IterationName::tokens, &IterationName::prefill_tokens, &IterationName::decode_tokens,
        &IterationName::cached_tokens})
    told->*number = IterationName::kUntold;
  if (told->phase != other.phase) told->phase = IterationPhase::kUnknown;
}

}  // namespace

IterationName IterationOf(const Process& process, const Step& step) {
  if (step.name == 0) return {};
  const auto found = process.strings.find(step.name);
  if (found == process.strings.end()) return {};
  const std::string& name = found->second;
  return proto::ReadIterationName(name.data(), static_cast<uint32_t>(name.size()));
}

std::vector<IterationName> IterationsOf(const Process& process, const StepAnalysis& steps) {
  std::vector<IterationName> all;
  all.reserve(steps.steps.size());
  for (const Step& step : steps.steps) all.push_back(IterationOf(process, step));
  if (std::all_of(all.begin(), all.end(), TellsItself)) return all;
  std::unordered_map<uint32_t, IterationName> names;
  const std::vector<IterationMark> marks = MarksOf(process, steps.detected.track, &names);
  size_t next = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    const Interval span = steps.steps[i].span;
    while (next < marks.size() && marks[next].span.start < span.start) ++next;
    bool is_first = !TellsItself(all[i]);
    const bool wants = is_first;
    for (; next < marks.size() && marks[next].span.start < span.end; ++next) {
      if (!wants || marks[next].span.end > span.end) continue;
      if (!is_first) {
        Agree(*marks[next].says, &all[i]);
        continue;
      }
      const uint64_t number = all[i].number;
      all[i] = *marks[next].says;
      if (number != IterationName::kUntold) all[i].number = number;
      is_first = false;
    }
  }
  return all;
}

bool AddTold(uint64_t number, uint64_t* sum) {
  if (number == IterationName::kUntold || *sum + number < *sum) return false;
  *sum += number;
  return true;
}

std::map<proto::IterationPhase, PhaseIterations> IterationsByPhase(const Process& process,
                                                                   const StepAnalysis& steps) {
  std::map<proto::IterationPhase, PhaseIterations> phases;
  const std::vector<IterationName> names = IterationsOf(process, steps);
  for (size_t i = 0; i < steps.steps.size(); ++i) {
    const Step& step = steps.steps[i];
    if (step.is_warmup) continue;
    const IterationName& name = names[i];
    if (!name.is_iteration) continue;
    PhaseIterations& phase = phases[name.phase];
    phase.steps.push_back(i);
    phase.lengths.push_back(step.span.length());
    const bool is_followed =
        i + 1 < steps.steps.size() && steps.steps[i + 1].capture == step.capture;
    if (is_followed)
      phase.gaps.push_back(std::max<int64_t>(steps.steps[i + 1].span.start - step.span.end, 0));
    phase.tells_requests = phase.tells_requests && AddTold(name.requests, &phase.requests);
    phase.tells_tokens = phase.tells_tokens && AddTold(name.tokens, &phase.tokens);
  }
  return phases;
}

}  // namespace gpuprof::analysis
