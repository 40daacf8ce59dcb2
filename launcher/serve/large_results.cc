// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See large_results.h.

#include "launcher/serve/large_results.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "launcher/base/text.h"
#include "launcher/serve/page_order.h"

namespace gpuprof::launcher {
namespace {

constexpr std::chrono::milliseconds kTurnLook(100);
constexpr double kManySeconds = 100;

PageLimits& CurrentLimits() {
  static PageLimits limits;
  return limits;
}

double SecondsNow() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string AboutSeconds(double seconds) {
  if (seconds > kManySeconds)
    return Plural(static_cast<uint64_t>(std::ceil(seconds / 60)), "minute", "minutes");
  return std::to_string(static_cast<uint64_t>(std::ceil(seconds))) + " s";
}

// Returns "84 million rows", or "1,234 rows" for few.
std::string RowsInWords(uint64_t rows) {
  constexpr uint64_t kMillion = 1'000'000;
  if (rows < 2 * kMillion) return FormatCount(rows) + " rows";
  return FormatCount((rows + kMillion / 2) / kMillion) + " million rows";
}

std::string PassOf(const std::string& name) { return "'" + name.substr(0, name.find('@')) + "'"; }

}  // namespace

void SetPageLimits(const PageLimits& limits) { CurrentLimits() = limits; }

LargeResults::LargeResults() : limits_(CurrentLimits()) {}

std::string LargeResults::WhyNot(const std::string& name, const analysis::PageNeed& need) const {
  const uint64_t free = limits_.free_memory();
  if (need.memory_bytes <= free) return "";
  analysis::ResultName wanted;
  analysis::ReadResultName(name, &wanted);
  return "This page needs " + FormatCount(need.rows) + " rows of the recording. They take about " +
         FormatBytes(need.memory_bytes) + " of memory, and " + FormatBytes(free) +
         " are free. On a machine with more memory, this command reads them: " +
         analysis::CommandOf(wanted.pass, wanted.options);
}

PageAnswer LargeResults::Compute(const PlacedInput& input, const std::string& name,
                                 const analysis::PageNeed& need,
                                 const std::function<bool()>& is_wanted) {
  PageAnswer answer;
  Turn turn{name};
  {
    std::unique_lock lock(mutex_);
    turns_.push_back(&turn);
    while (turns_.front() != &turn) {
      changed_.wait_for(lock, kTurnLook);
      lock.unlock();
      const bool is_wanted_still = is_wanted();
      lock.lock();
      if (is_wanted_still) continue;
      answer.fault = "No client waited for this page any more.";
      break;
    }
    turn.begin_s = SecondsNow();
  }
  // What is free may have changed since the result was asked for.
  if (answer.fault.empty()) answer.fault = WhyNot(name, need);
  if (answer.fault.empty()) answer = RunPageOrder(input, name, is_wanted);
  const std::lock_guard lock(mutex_);
  turns_.erase(std::find(turns_.begin(), turns_.end(), &turn));
  changed_.notify_all();
  return answer;
}

std::string LargeResults::WordsOf(const std::string& name, const analysis::PageNeed& need) const {
  const std::string rows = RowsInWords(need.rows), time = AboutSeconds(need.seconds);
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(turns_.begin(), turns_.end(),
                                  [&](const Turn* each) { return each->name == name; });
  if (found != turns_.end() && (*found)->begin_s == 0) {
    return "Waiting until " + PassOf(turns_.front()->name) + " is done. Then " + rows + " for " +
           PassOf(name) + " are read; this takes about " + time + ".";
  }
  std::string words =
      "Reading " + rows + " for " + PassOf(name) + "; this takes about " + time + ".";
  const double begin_s = found == turns_.end() ? 0 : (*found)->begin_s;
  const double past = begin_s == 0 ? 0 : SecondsNow() - begin_s;
  if (past >= 1) words += " " + AboutSeconds(std::floor(past)) + " have passed.";
  return words;
}

PageResults::Ways WaysOf(const PlacedInput& input, LargeResults* large, std::mutex* turn) {
  PageResults::Ways ways;
  const std::shared_ptr<analysis::PageInput> kept = OpenForPages(input);
  ways.compute = [kept, large, turn](const std::string& name) {
    std::unique_lock<std::mutex> lock;
    if (turn != nullptr) lock = std::unique_lock(*turn);
    return ComputeResult(kept.get(), name, *large);
  };
  ways.compute_large = [input, large](const std::string& name, const analysis::PageNeed& need,
                                      const std::function<bool()>& is_wanted) {
    return large->Compute(input, name, need, is_wanted);
  };
  ways.look_at = [kept, large](const std::string& name) {
    return LookAtResult(kept.get(), name, *large);
  };
  ways.words_of = [large](const std::string& name, const analysis::PageNeed& need) {
    return large->WordsOf(name, need);
  };
  return ways;
}

}  // namespace gpuprof::launcher
