// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Every nanosecond of a step lies in exactly one category: random loops against a classification of
// each single nanosecond. Optimizer steps with a closure have tests of their own.

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "analysis/steps/step_summary.h"
#include "analysis/steps/step_timeline.h"
#include "tests/unit/analysis/trace_builder.h"

namespace gpuprof::analysis {
namespace {

using test::ProcessBuilder;
using test::TrackBuilder;

enum class What { kFunction, kUser, kBackward, kOptimizer, kZeroGrad, kLoader, kAutograd };

struct Span {
  int64_t start, end;
  What what;
};

void Add(const Span& span, TrackBuilder* track) {
  switch (span.what) {
    case What::kFunction:
      track->Op("aten::mul", span.start, span.end);
      break;
    case What::kUser:
      track->User("my range", span.start, span.end);
      break;
    case What::kBackward:
      track->Backward("MulBackward0", span.start, span.end);
      break;
    case What::kAutograd:
      track->Op("autograd::engine::evaluate_function: MulBackward0", span.start, span.end);
      break;
    case What::kOptimizer:
      track->Optimizer(span.start, span.end);
      break;
    case What::kZeroGrad:
      track->User("Optimizer.zero_grad#SGD.zero_grad", span.start, span.end);
      break;
    case What::kLoader:
      track->Loader(span.start, span.end);
      break;
  }
}

class RandomLoop {
 public:
  explicit RandomLoop(uint32_t seed) : random_(seed) {}

  int64_t Upto(int64_t most) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(most + 1));
  }

  // Properly nested spans within [start, end).
  void Nest(int64_t start, int64_t end, int depth, bool in_optimizer = false) {
    int64_t at = start + Upto(8);
    while (at < end) {
      const int64_t stop = std::min(end, at + Upto(30));
      auto what = static_cast<What>(random_() % 7);
      const bool is_backward = what == What::kBackward || what == What::kAutograd;
      if (in_optimizer && is_backward) what = What::kFunction;
      spans_.push_back({at, stop, what});
      if (depth < 4 && stop - at > 2)
        Nest(at, stop, depth + 1, in_optimizer || what == What::kOptimizer);
      at = stop + Upto(10);
    }
  }

  std::vector<Interval> Scattered(int64_t end) {
    std::vector<Interval> out;
    for (int64_t at = Upto(20); at < end; at += Upto(30) + 1) {
      const int64_t stop = at + Upto(25);
      out.push_back({at, stop});
      at = stop;
    }
    return out;
  }

  const std::vector<Span>& spans() const { return spans_; }

 private:
  std::mt19937 random_;
  std::vector<Span> spans_;
};

bool Covers(const std::vector<Interval>& spans, int64_t time) {
  for (const Interval& span : spans) {
    if (span.start <= time && time < span.end) return true;
  }
  return false;
}

// What the operations alone say of one nanosecond: spans are listed outermost first.
Category OfOperations(const std::vector<Span>& spans, int64_t time) {
  Category found = Category::kOther;
  for (const Span& span : spans) {
    if (time < span.start || time >= span.end) continue;
    switch (span.what) {
      case What::kLoader:
        found = Category::kInput;
        break;
      case What::kOptimizer:
      case What::kZeroGrad:
        found = Category::kOptimizer;
        break;
      case What::kBackward:
      case What::kAutograd:
        found = Category::kBackward;
        break;
      case What::kFunction:
        if (found == Category::kOther) found = Category::kForward;
        break;
      case What::kUser:
        break;
    }
  }
  return found;
}

// Fills what nothing claims, in runs, if `before` and `after` the run accept.
template <typename Accept>
void FillRuns(Category category, const Accept& accept, std::vector<Category>* all) {
  for (size_t begin = 0; begin < all->size();) {
    size_t end = begin;
    while (end < all->size() && (*all)[end] == Category::kOther) ++end;
    if (end > begin && accept(begin, end))
      std::fill(all->begin() + static_cast<ptrdiff_t>(begin),
                all->begin() + static_cast<ptrdiff_t>(end), category);
    begin = end + 1;
  }
}

// The definition, rule by rule.
std::vector<Category> Definition(const std::vector<Span>& spans,
                                 const std::vector<Interval>& elsewhere,
                                 const std::vector<Interval>& contended,
                                 const std::vector<Interval>& blocked, int64_t length) {
  std::vector<Category> all;
  for (int64_t time = 0; time < length; ++time) all.push_back(OfOperations(spans, time));
  const auto claim = [&](const std::vector<Interval>& where, Category category) {
    for (int64_t time = 0; time < length; ++time) {
      Category& now = all[static_cast<size_t>(time)];
      if (now == Category::kOther && Covers(where, time)) now = category;
    }
  };
  std::set<size_t> gradient;
  claim(elsewhere, Category::kBackward);
  // Between two spans elsewhere, where nothing at all is known.
  const std::vector<Interval> joined = UnionOf(elsewhere);
  for (size_t i = 1; i < joined.size(); ++i) {
    const auto begin = all.begin() + joined[i - 1].end, end = all.begin() + joined[i].start;
    if (std::all_of(begin, end, [](Category c) { return c == Category::kOther; }))
      std::fill(begin, end, Category::kBackward);
  }
  // Work on gradients: forward between a backward pass and the optimizer.
  for (size_t at = 0; at < all.size(); ++at) {
    if (all[at] != Category::kForward) continue;
    const auto silent = [](Category c) { return c == Category::kForward || c == Category::kOther; };
    size_t before = at, after = at;
    while (before > 0 && (silent(all[before]) || gradient.count(before) != 0)) --before;
    while (after + 1 < all.size() && silent(all[after])) ++after;
    if (all[before] == Category::kBackward && all[after] == Category::kOptimizer)
      gradient.insert(at);
  }
  for (const size_t at : gradient) all[at] = Category::kOptimizer;
  claim(contended, Category::kLockWait);
  claim(blocked, Category::kBlocked);
  const auto is_wait = [](Category c) {
    return c == Category::kLockWait || c == Category::kBlocked;
  };
  FillRuns(
      Category::kBackward,
      [&](size_t begin, size_t end) {
        while (begin > 0 && (is_wait(all[begin - 1]) || all[begin - 1] == Category::kOther))
          --begin;
        while (end < all.size() && (is_wait(all[end]) || all[end] == Category::kOther)) ++end;
        return begin > 0 && end < all.size() && all[begin - 1] == Category::kBackward &&
               all[end] == Category::kBackward;
      },
      &all);
  return all;
}

TEST(StepBreakdown, AgreesWithTheDefinitionOnEachNanosecond) {
  constexpr int64_t kEnd = 400;
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    RandomLoop loop(seed);
    loop.Nest(0, kEnd, 0);
    const bool has_optimizer =
        std::any_of(loop.spans().begin(), loop.spans().end(),
                    [](const Span& s) { return s.what == What::kOptimizer; });
    // A backward pass elsewhere would make a closure of an optimizer step.
    const std::vector<Interval> elsewhere =
        has_optimizer ? std::vector<Interval>() : loop.Scattered(kEnd);
    const std::vector<Interval> contended = loop.Scattered(kEnd), blocked = loop.Scattered(kEnd);
    ProcessBuilder builder(1);
    TrackBuilder& track = builder.Thread(1);
    for (const Span& span : loop.spans()) Add(span, &track);
    for (const Interval& i : elsewhere) builder.Thread(2).Backward("AddBackward0", i.start, i.end);
    for (const Interval& i : contended) track.Wait(proto::WaitKind::kMutex, 1, 2, i.start, i.end);
    for (const Interval& i : blocked) track.Wait(proto::WaitKind::kCondition, 1, 2, i.start, i.end);
    const Process process = builder.Build();
    ProcessOps ops(process);
    const CategoryTimeline timeline = StepTimeline(ops, 0);
    const std::vector<Category> truth =
        Definition(loop.spans(), elsewhere, contended, blocked, kEnd);
    for (int64_t window = 0; window < kEnd; window += 37) {
      const Interval span{window, std::min(window + 37, kEnd)};
      CategoryTimes expected{};
      for (int64_t t = span.start; t < span.end; ++t)
        ++expected[static_cast<size_t>(truth[static_cast<size_t>(t)])];
      ASSERT_EQ(timeline.Split(span), expected) << "seed " << seed << " window " << window;
    }
  }
}

// Whatever the rows, also where they do not nest: steps are filled exactly and do not overlap.
TEST(StepBreakdown, CategoriesSumUpToTheStepAndStepsDoNotOverlap) {
  size_t steps_seen = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    RandomLoop loop(seed);
    loop.Nest(0, 3000, 1);
    ProcessBuilder builder(1);
    TrackBuilder& track = builder.Thread(1);
    for (const Span& span : loop.spans()) Add(span, &track);
    for (const Interval& i : loop.Scattered(3000)) {
      track.Wait(proto::WaitKind::kRwlockWrite, 1, 2, i.start, i.end);
    }
    if (seed % 2 == 0) {
      for (const Interval& i : loop.Scattered(3000)) track.Op("aten::add", i.start, i.end);
    }
    const Process process = builder.Build();
    ProcessOps ops(process);
    const std::vector<StepAnalysis> all = AnalyseSteps(ops, nullptr);
    const StepAnalysis& steps = all.front();
    int64_t end = std::numeric_limits<int64_t>::min();
    for (const Step& step : steps.steps) {
      ++steps_seen;
      int64_t sum = 0;
      for (const int64_t time : step.times) {
        ASSERT_GE(time, 0);
        sum += time;
      }
      ASSERT_EQ(sum, step.span.length());
      ASSERT_GE(step.span.start, end);
      end = step.span.end;
    }
    int64_t total = 0;
    for (const StepTimes& times : steps.summary.categories) total += times.total_ns;
    ASSERT_EQ(total, steps.summary.lengths.total_ns);
  }
  EXPECT_GT(steps_seen, 1000u);
}

}  // namespace
}  // namespace gpuprof::analysis
