// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See host_samples.h.

#include "analysis/derived/host_samples.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/derived/processor_shares.h"

namespace gpuprof::analysis {
namespace {

struct SampleRow {
  Interval span;
  int32_t tid;
  HostState state;
  uint32_t stack;
  int32_t holder;
  bool is_native;
  bool is_joined;
};

using StackSums = std::map<std::pair<int32_t, uint32_t>, SampledStack>;

SampledStack& AddTo(const SampleRow& sample, StackSums* sums) {
  SampledStack& sum = (*sums)[{sample.tid, sample.stack}];
  sum.tid = sample.tid;
  sum.stack = sample.stack;
  sum.times.ns[static_cast<size_t>(sample.state)] += sample.span.length();
  ++sum.count;
  return sum;
}

// Calls visit(sample) for each row.
template <typename Visit>
void ForEachSample(const Process& process, const Visit& visit) {
  for (const Track& track : process.tracks) {
    const SampleTable& table = track.sample;
    if (table.rows() == 0) continue;
    const Column<int64_t>::Reader ends(table.end_ns), durations(table.duration_ns);
    const Column<int32_t>::Reader threads(table.thread), holders(table.holder);
    const Column<uint32_t>::Reader states(table.state), stacks(table.stack);
    for (size_t row = 0; row < table.rows(); ++row) {
      const int64_t duration = std::max<int64_t>(durations[row], 0);
      const uint32_t stack = stacks[row];
      visit(SampleRow{{ends[row] - duration, ends[row]},
                      threads[row],
                      StateOfSample(states[row]),
                      stack > 1 ? process.stacks.Canonical(stack) : 0,
                      holders[row],
                      IsNativeSample(states[row]),
                      IsJoinedSample(states[row])});
    }
  }
}

// What one thread's stacks were, by time.
struct Stretch {
  Interval span;
  uint32_t stack;
};
using Stretches = std::vector<Stretch>;

// Returns the stretches of these threads.
std::map<int32_t, Stretches> StretchesOf(const Process& process, const std::set<int32_t>& threads) {
  std::map<int32_t, Stretches> all;
  ForEachSample(process, [&](const SampleRow& sample) {
    if (!sample.is_native && !sample.is_joined && threads.count(sample.tid) != 0)
      all[sample.tid].push_back({sample.span, sample.stack});
  });
  for (auto& [tid, stretches] : all) {
    std::stable_sort(stretches.begin(), stretches.end(), [](const Stretch& a, const Stretch& b) {
      return a.span.start < b.span.start;
    });
  }
  return all;
}

// Calls visit(stack, ns) for the parts of the window in which a stack is known. Returns the rest.
template <typename Visit>
int64_t ForEachPart(const Stretches& stretches, Interval window, const Visit& visit) {
  int64_t rest = window.length();
  auto at =
      std::upper_bound(stretches.begin(), stretches.end(), window.start,
                       [](int64_t time, const Stretch& each) { return time < each.span.end; });
  int64_t from = window.start;
  for (; at != stretches.end() && at->span.start < window.end; ++at) {
    const Interval part{std::max(at->span.start, from), std::min(at->span.end, window.end)};
    if (part.length() <= 0) continue;
    visit(at->stack, part.length());
    rest -= part.length();
    from = part.end;
  }
  return rest;
}

}  // namespace

HostState StateOfSample(uint32_t state) {
  if ((state & proto::kSampleWaitsForGil) != 0) return HostState::kWaitsForGil;
  return (state & proto::kSampleRuns) != 0 ? HostState::kRuns : HostState::kWaits;
}

bool IsJoinedSample(uint32_t state) {
  constexpr uint32_t kBoth = proto::kSampleNative | proto::kSamplePython;
  return (state & kBoth) == kBoth;
}

bool IsNativeSample(uint32_t state) {
  return (state & proto::kSampleNative) != 0 && (state & proto::kSamplePython) == 0;
}

// Calls visit() for the parts of a row of Python: those of joined rows, and the rest.
template <typename Row, typename Visit>
void HostSamples::VisitParts(const Row& sample, const std::vector<Joined>& joined,
                             const Visit& visit) {
  auto at = std::upper_bound(joined.begin(), joined.end(), sample.span.start,
                             [](int64_t time, const Joined& each) { return time < each.end; });
  Row part = sample;
  for (; at != joined.end() && at->end <= sample.span.end; ++at) {
    const int64_t left = sample.span.end - part.span.start;
    part.span.end = part.span.start + std::min(at->duration, left);
    part.stack = at->stack;
    part.is_joined = true;
    if (part.span.length() > 0) visit(part);
    part.span.start = part.span.end;
  }
  part.span.end = sample.span.end;
  part.stack = sample.stack;
  part.is_joined = false;
  if (part.span.length() > 0 || sample.span.length() == 0) visit(part);
}

template <typename Visit>
void HostSamples::ForEachCounted(const Visit& visit) const {
  ForEachSample(*process_, [&](const SampleRow& sample) {
    if (sample.is_joined) return;
    if (sample.is_native) {
      const auto python = python_.find(sample.tid);
      if (python != python_.end() && CoveredLength(python->second, sample.span) > 0) return;
    }
    const auto joined = joined_.find(sample.tid);
    if (joined == joined_.end() || sample.is_native || sample.state != HostState::kRuns)
      return visit(sample);
    VisitParts(sample, joined->second, visit);
  });
}

HostSamples::HostSamples(const Process& process) : process_(&process) {
  std::map<int32_t, std::vector<Interval>> python;
  StackSums native;
  ForEachSample(process, [&](const SampleRow& sample) {
    if (sample.is_native || sample.is_joined) AddTo(sample, &native);
    if (sample.is_joined)
      joined_[sample.tid].push_back({sample.span.end, sample.span.length(), sample.stack});
    if (sample.is_native || sample.is_joined) return;
    // Rows of a thread follow each other, so this stays short.
    std::vector<Interval>& spans = python[sample.tid];
    if (!spans.empty() && sample.span.start <= spans.back().end &&
        sample.span.start >= spans.back().start) {
      spans.back().end = std::max(spans.back().end, sample.span.end);
    } else {
      spans.push_back(sample.span);
    }
  });
  for (auto& [tid, spans] : python) python_[tid] = UnionOf(std::move(spans));
  for (auto& [tid, rows] : joined_) {
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Joined& a, const Joined& b) { return a.end < b.end; });
  }
  StackSums sums;
  std::set<int32_t> threads;
  ProcessorShares shares(process);
  const auto piece_of = [](const SampleRow& row) {
    using Piece = ProcessorShares::Piece;
    if (row.state != HostState::kRuns) return Piece::kRests;
    return row.is_joined ? Piece::kRunsNative : Piece::kRuns;
  };
  ForEachCounted([&](const SampleRow& sample) {
    if (!sample.is_native) shares.Note(sample.tid, sample.span, piece_of(sample));
  });
  ForEachCounted([&](const SampleRow& sample) {
    SampledStack& sum = AddTo(sample, &sums);
    threads.insert(sample.tid);
    // Native code alone was sampled by processor time.
    if (sample.state != HostState::kRuns || sample.is_native) return;
    const double share = shares.ShareOf(sample.tid, sample.span, piece_of(sample));
    const auto ready =
        static_cast<int64_t>(static_cast<double>(sample.span.length()) * (1 - share));
    sum.times.ns[static_cast<size_t>(HostState::kRuns)] -= ready;
    sum.times.ns[static_cast<size_t>(HostState::kReady)] += ready;
  });
  for (auto& [key, sum] : sums) {
    times_ += sum.times;
    count_ += sum.count;
    stacks_.push_back(sum);
  }
  for (auto& [key, sum] : native) native_stacks_.push_back(sum);
  thread_count_ = static_cast<uint32_t>(threads.size());
}

std::vector<GilWait> HostSamples::GilWaits() const {
  std::vector<SampleRow> waits;
  std::set<int32_t> holders;
  ForEachSample(*process_, [&](const SampleRow& sample) {
    if (sample.state != HostState::kWaitsForGil) return;
    waits.push_back(sample);
    if (sample.holder != 0) holders.insert(sample.holder);
  });
  const std::map<int32_t, Stretches> stretches = StretchesOf(*process_, holders);
  std::map<std::tuple<int32_t, uint32_t, int32_t, uint32_t>, int64_t> sums;
  for (const SampleRow& wait : waits) {
    int64_t rest = wait.span.length();
    const auto of_holder = stretches.find(wait.holder);
    if (of_holder != stretches.end()) {
      rest = ForEachPart(of_holder->second, wait.span, [&](uint32_t stack, int64_t ns) {
        sums[{wait.tid, wait.stack, wait.holder, stack}] += ns;
      });
    }
    if (rest > 0) sums[{wait.tid, wait.stack, wait.holder, 0}] += rest;
  }
  std::vector<GilWait> all;
  for (const auto& [key, ns] : sums) {
    const auto& [waiter, waiter_stack, holder, holder_stack] = key;
    all.push_back({waiter, waiter_stack, holder, holder_stack, ns});
  }
  return all;
}

std::vector<Interval> HostSamples::When(HostState state,
                                        const std::function<bool(uint32_t)>& passes) const {
  std::vector<Interval> spans;
  ForEachCounted([&](const SampleRow& sample) {
    if (sample.state == state && passes(sample.stack)) spans.push_back(sample.span);
  });
  return UnionOf(std::move(spans));
}

}  // namespace gpuprof::analysis
