// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The way of data into the steps: workers of loaders, reads of files, iterators of tf.data. See
// host_facts.h.

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/advice/facts/host_facts.h"
#include "analysis/derived/leaf_spans.h"
#include "analysis/passes/host/input_sources.h"
#include "analysis/passes/host/thread_usage.h"
#include "analysis/steps/interval.h"
#include "analysis/steps/statistics.h"

namespace gpuprof::analysis {
namespace {

std::vector<Interval> ReadsOf(const Track& track) {
  std::vector<Interval> spans;
  const FileReadTable& table = track.file_read;
  for (size_t i = 0; i < table.rows(); ++i)
    spans.push_back({table.end_ns[i] - table.duration_ns[i], table.end_ns[i]});
  return UnionOf(std::move(spans));
}

std::vector<Interval> WaitsOf(const Track& track) {
  std::vector<Interval> spans;
  const WaitTable& table = track.wait;
  for (size_t i = 0; i < table.rows(); ++i)
    spans.push_back({table.end_ns[i] - table.duration_ns[i], table.end_ns[i]});
  return UnionOf(std::move(spans));
}

// Adds up how long loading took, and how much of it passed in reads of files.
class Loading {
 public:
  explicit Loading(InputFacts* facts) : facts_(facts) {}

  // Takes the time of a thread within disjoint windows.
  void Add(const Process& process, const Track& track, const std::vector<Interval>& windows) {
    has_reads_ |= track.file_read.rows() != 0;
    const std::vector<Interval> reads = ReadsOf(track);
    for (const Interval& window : windows) {
      loading_ns_ += window.length();
      read_ns_ += CoveredLength(reads, window);
    }
    for (size_t i = 0; i < track.file_read.rows(); ++i) {
      const FileReadTable& table = track.file_read;
      const int64_t start = table.end_ns[i] - table.duration_ns[i];
      const bool is_in = std::any_of(windows.begin(), windows.end(), [&](const Interval& each) {
        return start >= each.start && start < each.end;
      });
      if (!is_in || table.duration_ns[i] <= facts_->longest_read.duration_ns) continue;
      facts_->longest_read.name = table.path[i] == 0 ? "a file" : process.String(table.path[i]);
      facts_->longest_read.start_ns = start;
      facts_->longest_read.duration_ns = table.duration_ns[i];
      facts_->longest_read.tid = track.tid;
      facts_->longest_read.pid = process.pid;
      facts_->longest_read.host = process.host;
    }
  }

  void Finish() {
    if (has_reads_ && loading_ns_ > 0) facts_->read_ratio = Ratio(read_ns_, loading_ns_);
  }

 private:
  InputFacts* facts_;
  bool has_reads_ = false;
  int64_t loading_ns_ = 0, read_ns_ = 0;
};

// Compares the processor time of workers.
void CompareWorkers(PassContext& context, const std::vector<size_t>& workers, Interval window,
                    InputFacts* facts) {
  constexpr size_t kFewWorkers = 3;
  double sum = 0, most = 0;
  size_t measured = 0;
  for (const size_t index : workers) {
    const auto use = UseOf(context.process(index), window);
    if (!use) continue;
    ++measured;
    sum += use->busy;
    if (use->busy <= most) continue;
    most = use->busy;
    facts->hottest_pid = context.process(index).pid;
  }
  if (measured >= kFewWorkers && sum > 0)
    facts->hottest_ratio = most * static_cast<double>(measured) / sum;
}

// Returns the time of the loader's next batch on the thread of the steps.
std::vector<Interval> LoaderSpans(PassContext& context, size_t index, const StepAnalysis& steps) {
  const OpTable& ops = context.process(index).tracks[steps.detected.track].op;
  std::vector<Interval> spans;
  for (size_t i = 0; i < ops.rows(); ++i) {
    if (context.ops(index).name_kind(ops.name[i]) == NameKind::kLoaderNext)
      spans.push_back({ops.end_ns[i] - ops.duration_ns[i], ops.end_ns[i]});
  }
  return Intersection(UnionOf(std::move(spans)), UnionOf(steps.Counted()));
}

// Finds the longest time of the loader's next batch.
void FindLongestLoad(const StepAnalysis& steps, int32_t tid, const std::vector<Interval>& spans,
                     Instance* longest) {
  for (const Interval& span : spans) {
    if (span.length() <= longest->duration_ns) continue;
    longest->start_ns = span.start;
    longest->duration_ns = span.length();
    longest->tid = tid;
  }
  for (const Step& step : steps.steps) {
    const int64_t in_step = longest->start_ns - step.span.start;
    if (longest->duration_ns != 0 && in_step >= 0 && in_step < step.span.length())
      longest->step = step.number;
  }
}

// Compares how fast files were read in the first and the last third of the steps.
void CompareThirds(PassContext& context, const std::vector<Interval>& steps, ReadFacts* reads) {
  constexpr size_t kFewSteps = 9;
  constexpr double kMiB = 1024.0 * 1024;
  if (steps.size() < kFewSteps) return;
  const size_t third = steps.size() / 3;
  const Interval first = {steps.front().start, steps[third - 1].end};
  const Interval last = {steps[steps.size() - third].start, steps.back().end};
  std::array<double, 2> ns{}, bytes{};
  for (const size_t index : context.selected()) {
    for (const Track& track : context.process(index).tracks) {
      const FileReadTable& table = track.file_read;
      for (size_t i = 0; i < table.rows(); ++i) {
        const int64_t at = table.end_ns[i];
        const int which = at >= first.start && at < first.end ? 0
                          : at >= last.start && at < last.end ? 1
                                                              : -1;
        if (which < 0 || table.bytes[i] <= 0) continue;
        ns[static_cast<size_t>(which)] += static_cast<double>(table.duration_ns[i]);
        bytes[static_cast<size_t>(which)] += static_cast<double>(table.bytes[i]);
      }
    }
  }
  if (bytes[0] < kMiB || bytes[1] < kMiB) return;
  reads->first_ns_per_mib = ns[0] / (bytes[0] / kMiB);
  reads->last_ns_per_mib = ns[1] / (bytes[1] / kMiB);
  int64_t sum = 0;
  for (size_t i = steps.size() - third; i < steps.size(); ++i) sum += steps[i].length();
  reads->last_step_ns = sum / static_cast<int64_t>(third);
}

}  // namespace

void FillInputFacts(PassContext& context, size_t leading, InputFacts* facts) {
  facts->loader = LoaderAccount(context, leading);
  const StepAnalysis& steps = context.steps(leading);
  const std::vector<Interval> counted = steps.Counted();
  if (counted.empty()) return;
  const Interval window = {counted.front().start, counted.back().end};
  std::vector<size_t> workers;
  Loading loading(facts);
  for (const size_t index : context.selected()) {
    if (context.role(index) != results::PROCESS_ROLE_LOADER_WORKER) continue;
    workers.push_back(index);
    for (const Track& track : context.process(index).tracks) {
      const Interval life = LifeOf(track).span;
      const Interval within = {std::max(life.start, window.start), std::min(life.end, window.end)};
      if (!track.tool && !track.is_stream && within.length() > 0)
        loading.Add(context.process(index), track, {within});
    }
  }
  const Track& main = context.process(leading).tracks[steps.detected.track];
  const std::vector<Interval> spans = LoaderSpans(context, leading, steps);
  FindLongestLoad(steps, main.tid, spans, &facts->longest_load);
  if (workers.empty()) {
    loading.Add(context.process(leading), main, spans);
  } else {
    CompareWorkers(context, workers, window, facts);
    if (main.wait.rows() != 0) {
      const std::vector<Interval> waits = WaitsOf(main);
      int64_t busy = 0;
      size_t with_wait = 0;
      for (const Interval& span : spans) {
        const int64_t waited = CoveredLength(waits, span);
        busy += span.length() - waited;
        with_wait += waited > 0 ? 1 : 0;
      }
      // A loader with workers waits for them, if only a moment: else its waits were not recorded.
      if (2 * with_wait > spans.size())
        facts->main_thread_ns = busy / static_cast<int64_t>(counted.size());
    }
  }
  loading.Finish();
  CompareThirds(context, counted, &facts->reads);
}

}  // namespace gpuprof::analysis
