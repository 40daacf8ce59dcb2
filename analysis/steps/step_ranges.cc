// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See step_ranges.h.

#include "analysis/steps/step_ranges.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/steps/function_runs.h"
#include "proto/step_names.h"

namespace gpuprof::analysis {
namespace {

// Marks may overlap by one part in so many of their length.
constexpr int64_t kMostOverlap = 100;

struct StepRange {
  Interval span;
  size_t track = 0;
  const std::string* word = nullptr;  // the name without its number; with its domain
  bool has_number = false;
  uint64_t number = 0;
  uint32_t name = 0;     // string id
  bool is_whole = true;  // it ended in the recording
};

proto::NameText TextOf(const std::string& text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}

// Reads each pair of name and domain once.
class StepNames {
 public:
  StepNames(const Process& process, const std::string& wanted)
      : process_(process), wanted_(wanted) {}

  // Fills word and number. False: the range is not a step.
  bool Read(uint32_t name, uint32_t domain, StepRange* range) {
    const auto [at, is_new] = known_.try_emplace(uint64_t{domain} << 32 | name);
    if (is_new) at->second = Make(name, domain == 0 ? "" : process_.String(domain));
    return Use(at->second, range);
  }
  // Does the same for a range of a framework.
  bool ReadOfFramework(uint32_t name, StepRange* range) {
    const auto [at, is_new] = known_.try_emplace(kOfFramework << 32 | name);
    if (is_new) at->second = Make(name, proto::kFrameworkDomain);
    return Use(at->second, range);
  }

 private:
  struct Known {
    bool is_step = false, has_number = false;
    uint64_t number = 0;
    std::string word;
  };
  // In place of the id of a domain.
  static constexpr uint64_t kOfFramework = 0xffffffff;

  static bool Use(const Known& known, StepRange* range) {
    if (!known.is_step) return false;
    range->word = &known.word;
    range->has_number = known.has_number;
    range->number = known.number;
    return true;
  }

  Known Make(uint32_t name, const std::string& domain) const {
    const std::string text = process_.String(name);
    if (text.compare(0, sizeof(proto::kOptimizerStep) - 1, proto::kOptimizerStep) == 0) return {};
    const proto::StepName step = proto::ReadStepName(
        TextOf(text), domain.empty() ? proto::NameText{} : TextOf(domain), wanted_.c_str());
    if (!step.is_step) return {};
    const bool is_named = !domain.empty() && domain != proto::kFrameworkDomain;
    return {true, step.has_number, step.number,
            (is_named ? domain + ":" : "") + text.substr(0, step.word_bytes)};
  }

  const Process& process_;
  const std::string& wanted_;
  std::unordered_map<uint64_t, Known> known_;  // by domain and name; ranges point to the words
};

bool IsIncomplete(uint32_t operation) {
  return (proto::FlagsOf(operation) & proto::kFlagIncomplete) != 0;
}

// Returns the index of a thread's track; `otherwise` if the thread has no track.
size_t TrackOf(const Process& process, int32_t tid, size_t otherwise) {
  if (tid == 0) return otherwise;
  for (size_t i = 0; i < process.tracks.size(); ++i)
    if (!process.tracks[i].is_stream && process.tracks[i].tid == tid) return i;
  return otherwise;
}

void AddRanges(const Process& process, size_t index, StepNames* names,
               std::vector<StepRange>* all) {
  const RangeTable& table = process.tracks[index].range;
  for (size_t row = 0; row < table.rows(); ++row) {
    const proto::RangeKind kind = proto::RangeKindOf(table.operation[row]);
    if (kind != proto::RangeKind::kPushPop && kind != proto::RangeKind::kStartEnd) continue;
    StepRange range;
    if (table.name[row] == 0 || !names->Read(table.name[row], table.domain[row], &range)) continue;
    range.span = {table.end_ns[row] - table.duration_ns[row], table.end_ns[row]};
    range.name = table.name[row];
    range.track = TrackOf(process, table.begin_thread[row], index);
    range.is_whole = !IsIncomplete(table.operation[row]);
    all->push_back(std::move(range));
  }
}

void AddRangesOfFramework(const Process& process, size_t index, StepNames* names,
                          std::vector<StepRange>* all) {
  const OpTable& table = process.tracks[index].op;
  const Column<uint32_t>::Reader operations(table.operation), ids(table.name);
  for (size_t row = 0; row < table.rows(); ++row) {
    const uint32_t operation = operations[row];
    StepRange range;
    if (proto::OpScopeOf(operation) != proto::OpScope::kUser) continue;
    if (!names->ReadOfFramework(ids[row], &range)) continue;
    range.span = {table.end_ns[row] - table.duration_ns[row], table.end_ns[row]};
    range.name = ids[row];
    range.track = index;
    range.is_whole = !IsIncomplete(operation);
    all->push_back(std::move(range));
  }
}

// Marks of TensorFlow's profiler with the number of a step, whatever they are called.
void AddNumberedMarks(const Process& process, size_t index, std::deque<std::string>* words,
                      std::vector<StepRange>* all) {
  const OpTable& table = process.tracks[index].op;
  for (const NumberedMark& mark : NumberedMarksOf(process, index)) {
    StepRange range;
    range.span = {table.end_ns[mark.row] - table.duration_ns[mark.row], table.end_ns[mark.row]};
    range.track = index;
    range.word = &words->emplace_back(process.String(table.name[mark.row]));
    range.has_number = true;
    range.number = mark.number;
    all->push_back(std::move(range));
  }
}

// Leaves the outermost ranges of each thread: a range that begins while a step is open is not a
// step. Times that were rounded may let a range begin a little before the end of the one before:
// such a range is cut. Sorted by begin.
std::vector<StepRange> Outermost(std::vector<StepRange> all) {
  std::stable_sort(all.begin(), all.end(), [](const StepRange& a, const StepRange& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
  });
  std::map<size_t, int64_t> open_until;  // by track
  std::erase_if(all, [&](StepRange& range) {
    const auto [at, is_first] = open_until.try_emplace(range.track, range.span.end);
    if (is_first) return false;
    const int64_t overlap = at->second - range.span.start;
    if (overlap > std::max<int64_t>(range.span.length() / kMostOverlap, 0)) return true;
    range.span.start = std::max(range.span.start, at->second);
    at->second = range.span.end;
    return false;
  });
  return all;
}

bool OverlapAcrossThreads(const std::vector<StepRange>& sorted) {
  int64_t end = std::numeric_limits<int64_t>::min();
  for (const StepRange& range : sorted) {
    if (range.span.start < end) return true;
    end = range.span.end;
  }
  return false;
}

// Gives each range without a number the number behind the last one.
void Number(uint64_t first, std::vector<StepRange>* sorted) {
  const bool by_thread = OverlapAcrossThreads(*sorted);
  std::map<size_t, uint64_t> last;  // by track
  for (StepRange& range : *sorted) {
    uint64_t& before =
        last.try_emplace(by_thread ? range.track : 0, std::max<uint64_t>(first, 1) - 1)
            .first->second;
    if (!range.has_number) range.number = before + 1;
    before = range.number;
  }
}

}  // namespace

std::vector<DetectedSteps> StepsFromRanges(ProcessOps& ops, const StepCapture& capture) {
  const Process& process = ops.process();
  StepNames names(process, capture.range);
  std::deque<std::string> words;
  std::vector<StepRange> ranges;
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    if (process.tracks[i].is_stream) continue;
    AddRanges(process, i, &names, &ranges);
    AddRangesOfFramework(process, i, &names, &ranges);
    AddNumberedMarks(process, i, &words, &ranges);
  }
  ranges = Outermost(std::move(ranges));
  Number(capture.begin == StepCapture::Begin::kRange ? capture.first : 1, &ranges);
  std::map<size_t, DetectedSteps> by_track;
  for (const StepRange& range : ranges) {
    DetectedSteps& steps = by_track[range.track];
    if (steps.marker.empty()) steps.marker = *range.word;
    if (range.is_whole && range.span.length() > 0) {
      steps.steps.push_back({range.span, 0, 0, range.number, range.name});
    } else {
      ++steps.partial;
    }
  }
  std::vector<DetectedSteps> all;
  for (auto& [track, steps] : by_track) {
    steps.method = results::STEP_METHOD_RANGES;
    steps.track = track;
    for (const auto& [other, unused] : by_track)
      if (other != track) steps.rivals.push_back(other);
    all.push_back(std::move(steps));
  }
  return all;
}

}  // namespace gpuprof::analysis
