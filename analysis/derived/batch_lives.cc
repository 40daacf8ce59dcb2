// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See batch_lives.h.

#include "analysis/derived/batch_lives.h"

#include <algorithm>
#include <cstddef>
#include <optional>

namespace gpuprof::analysis {
namespace {

// A batch is taken a moment after it was handed over; clocks of two processes differ by less.
constexpr int64_t kSlackNs = 1'000'000;

// Finds when work on a batch began that is ready at `ready`, and not before `from`. `given`: a
// worker that was idle may have been given it then. 0: not known.
int64_t BeginOf(const LoaderWorker& worker, int64_t from, int64_t ready, int64_t given) {
  auto at = std::lower_bound(
      worker.stretches.begin(), worker.stretches.end(), ready,
      [](const LoaderStretch& each, int64_t time) { return each.span.start < time; });
  while (at != worker.stretches.begin()) {
    --at;
    if (at->span.end <= from) break;
    if (at->work != LoaderWork::kIdle) continue;
    if (at->span.end < ready) return at->span.end;
    // The work was too short to be sampled.
    return given >= from && given < ready ? given : 0;
  }
  return from;
}

class EpochLives {
 public:
  EpochLives(const LoaderRecord& record, size_t begin, size_t end)
      : record_(record), begin_(begin), end_(end) {}

  void AddTo(std::vector<BatchLife>* lives) const {
    const std::vector<LoaderRecord::Next>& nexts = record_.nexts;
    const Interval span = {nexts[begin_].begin_ns, nexts[end_ - 1].span.end};
    // Workers are begun one after the other, in the order in which batches are dealt out.
    std::vector<const LoaderWorker*> workers;
    for (const LoaderWorker& worker : record_.workers) {
      const bool is_there =
          worker.life.start < nexts[begin_].span.end && worker.life.end > nexts[begin_].span.end;
      if (is_there) workers.push_back(&worker);
    }
    std::stable_sort(
        workers.begin(), workers.end(),
        [](const LoaderWorker* a, const LoaderWorker* b) { return a->life.start < b->life.start; });
    for (size_t i = 0; i < workers.size(); ++i)
      AddWorker(*workers[i], i, workers.size(), span, lives);
  }

 private:
  void AddWorker(const LoaderWorker& worker, size_t first, size_t workers, Interval span,
                 std::vector<BatchLife>* lives) const {
    std::vector<size_t> batches;
    for (size_t i = begin_ + first; i < end_; i += workers) batches.push_back(i);
    auto from = std::lower_bound(worker.puts_ns.begin(), worker.puts_ns.end(), span.start);
    auto to = std::upper_bound(from, worker.puts_ns.end(), span.end);
    const auto count = static_cast<size_t>(to - from);
    size_t skipped = 0;  // batches whose wait is not there
    if (count == batches.size() + 1) {
      // One more: it said that it goes on with another epoch, or that it has no more samples.
      if (worker.life.start < span.start)
        ++from;
      else
        --to;
    } else if (count + 1 == batches.size()) {
      skipped = 1;  // the thread began when its first batch was there already
    } else if (count != batches.size()) {
      return;
    }
    std::vector<BatchLife> mine;
    int64_t last = std::max(worker.life.start, span.start);
    for (size_t i = skipped; i < batches.size(); ++i, ++from) {
      if (*from > record_.nexts[batches[i]].span.end + kSlackNs) return;
      BatchLife& life = mine.emplace_back();
      life.batch = batches[i];
      life.pid = worker.pid;
      life.ready_ns = *from;
      // A loader usually gives a worker its next batch when the one two before it is taken.
      const int64_t given = i < 2 ? 0 : record_.nexts[batches[i - 2]].span.end;
      if (i > skipped) life.begin_ns = BeginOf(worker, last, *from, given);
      last = *from;
    }
    lives->insert(lives->end(), mine.begin(), mine.end());
  }

  const LoaderRecord& record_;
  size_t begin_, end_;
};

}  // namespace

std::vector<BatchLife> LivesOf(const LoaderRecord& record) {
  std::vector<BatchLife> lives;
  const std::vector<LoaderRecord::Next>& nexts = record.nexts;
  for (size_t begin = 0, end; begin < nexts.size(); begin = end) {
    for (end = begin + 1; end < nexts.size() && !nexts[end].is_first;) ++end;
    EpochLives(record, begin, end).AddTo(&lives);
  }
  std::sort(lives.begin(), lives.end(),
            [](const BatchLife& a, const BatchLife& b) { return a.batch < b.batch; });
  return lives;
}

}  // namespace gpuprof::analysis
