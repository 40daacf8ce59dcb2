// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_db.h.

#include "analysis/xprof/step_db.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace gpuprof::analysis::xprof {
namespace {

using Spans = std::vector<Span>;

Spans SpansOf(const StepDb& db) {
  Spans spans;
  for (const Step& step : db.steps) {
    const StepInfo& info = step.cores.begin()->second;
    spans.push_back({info.begin_ps, info.duration_ps});
  }
  return spans;
}

uint64_t WholeTime(const Spans& spans) {
  uint64_t first = UINT64_MAX, last = 0;
  for (const Span& span : spans) {
    if (span.duration == 0) continue;
    first = std::min(first, span.begin);
    last = std::max(last, span.end());
  }
  return first < last ? last - first : 0;
}

// Where the steps of a host lie in those of the chief.
struct Alignment {
  uint32_t first = 0, chief_first = 0, steps = 0;
};

Alignment Align(const Spans& own, const Spans& chief) {
  if (own.empty() || chief.empty()) return {};
  const auto size = static_cast<int64_t>(own.size());
  const auto chief_size = static_cast<int64_t>(chief.size());
  // Time in common, by how much the numbers of steps differ.
  std::vector<uint64_t> common(own.size() + chief.size() - 1);
  for (int64_t i = 0, c = 0; i < size && c < chief_size;) {
    const Span &mine = own[static_cast<size_t>(i)], &theirs = chief[static_cast<size_t>(c)];
    if (mine.duration == 0) {
      ++i;
      continue;
    }
    if (theirs.duration == 0) {
      ++c;
      continue;
    }
    const uint64_t begin = std::max(mine.begin, theirs.begin);
    const uint64_t end = std::min(mine.end(), theirs.end());
    if (begin < end) common[static_cast<size_t>(c - i + size - 1)] += end - begin;
    const bool is_mine_first = mine.end() <= theirs.end(), is_theirs = theirs.end() <= mine.end();
    i += is_mine_first ? 1 : 0;
    c += is_theirs ? 1 : 0;
  }
  int64_t best = 0;
  const auto value = [&](int64_t shift) { return common[static_cast<size_t>(shift + size - 1)]; };
  for (int64_t shift = 1; shift < chief_size; ++shift)
    if (value(shift) > value(best)) best = shift;
  for (int64_t shift = -1; shift > -size; --shift)
    if (value(shift) > value(best)) best = shift;
  Alignment found;
  found.first = static_cast<uint32_t>(best >= 0 ? 0 : -best);
  found.chief_first = static_cast<uint32_t>(best >= 0 ? best : 0);
  found.steps = static_cast<uint32_t>(
      std::min(size - int64_t{found.first}, chief_size - int64_t{found.chief_first}));
  return found;
}

}  // namespace

StepDb MakeStepDb(const StepEvents& swept, bool has_device) {
  StepDb db;
  for (const auto& [group, details] : swept) {
    const Span time = details.Time();
    StepInfo info;
    uint64_t sum = 0;
    for (const StepSpan& part : details.spans) {
      const uint64_t overlap = time.Overlap(part.span);
      info.time_ps[part.type] += overlap;
      sum += overlap;
    }
    if (sum < time.duration) info.time_ps[StepTime::kUnknown] += time.duration - sum;
    const bool is_complete = has_device ? info.time_ps.contains(StepTime::kDeviceCompute16) ||
                                              info.time_ps.contains(StepTime::kDeviceCompute32)
                                        : info.time_ps.contains(StepTime::kHostCompute);
    if (!is_complete || time.duration == 0) continue;
    info.number = static_cast<uint32_t>(group);
    info.name = details.name;
    info.begin_ps = time.begin;
    info.duration_ps = time.duration;
    db.steps.emplace_back().cores.emplace(kCore, std::move(info));
  }
  return db;
}

StepDb CommonSteps(const std::map<uint32_t, const StepDb*>& hosts) {
  StepDb common;
  if (hosts.empty()) return common;
  std::map<uint32_t, Spans> spans;
  uint32_t chief = hosts.begin()->first;
  uint64_t least = UINT64_MAX;
  for (const auto& [host, db] : hosts) {
    spans[host] = SpansOf(*db);
    const uint64_t time = WholeTime(spans[host]);
    if (time < least) {
      least = time;
      chief = host;
    }
  }
  if (spans[chief].empty()) return common;
  std::map<uint32_t, Alignment> alignments;
  uint32_t first = 0, end = UINT32_MAX;
  for (const auto& [host, own] : spans) {
    const auto all = static_cast<uint32_t>(own.size());
    const Alignment found = host == chief ? Alignment{0, 0, all} : Align(own, spans[chief]);
    first = std::max(first, found.chief_first);
    end = std::min(end, found.chief_first + found.steps);
    alignments[host] = found;
  }
  if (first > end) {
    common.has_no_common_step = true;
    return common;
  }
  common.steps.resize(end - first);
  for (const auto& [host, db] : hosts) {
    const Alignment& alignment = alignments[host];
    for (uint32_t i = 0; i < common.steps.size(); ++i) {
      StepInfo info =
          db->steps[alignment.first + first - alignment.chief_first + i].cores.begin()->second;
      info.number = i;
      common.steps[i].cores.emplace(host * kCoresOfHost + kCore, std::move(info));
    }
  }
  return common;
}

}  // namespace gpuprof::analysis::xprof
