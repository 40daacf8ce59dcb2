// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See program_runs.h.

#include "analysis/steps/program_runs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "proto/jax_names.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kLeastCalls = 3;

// The first call of a function compiles it, and counts for no more than another one.
int64_t UsualTime(std::vector<int64_t> values) {
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Names of the process that are calls of compiled functions.
class ProgramCalls {
 public:
  explicit ProgramCalls(const Process& process) {
    for (const auto& [id, text] : process.strings)
      if (const std::string_view name = CalledProgram(text); !name.empty()) names_[id] = name;
  }
  bool empty() const { return names_.empty(); }
  // Null: the mark is no call.
  const std::string_view* Find(uint32_t id) const {
    const auto found = names_.find(id);
    return found == names_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<uint32_t, std::string_view> names_;
};

// Outermost calls of a thread, in order of time.
Marks OutermostCalls(ProcessOps& ops, size_t track, const ProgramCalls& calls) {
  const OpTable& table = ops.process().tracks[track].op;
  Marks marks;
  for (size_t row = 0; row < table.rows(); ++row) {
    if (calls.Find(table.name[row]) == nullptr) continue;
    const int64_t end = table.end_ns[row];
    marks.push_back({{end - std::max<int64_t>(table.duration_ns[row], 0), end}, table.name[row]});
  }
  std::stable_sort(marks.begin(), marks.end(), [](const Mark& a, const Mark& b) {
    return a.span.start != b.span.start ? a.span.start < b.span.start : a.span.end > b.span.end;
  });
  int64_t end = std::numeric_limits<int64_t>::min();
  std::erase_if(marks, [&](const Mark& mark) {
    if (mark.span.start < end) return true;
    end = mark.span.end;
    return false;
  });
  return marks;
}

bool IsResultWait(std::string_view mark) {
  return mark.ends_with("Buffer::Await") || mark.ends_with("::BlockHostUntilReady");
}

// Returns when the last program was compiled.
int64_t EndOfCompiling(const Process& process) {
  std::unordered_set<uint32_t> names;
  for (const auto& [id, text] : process.strings)
    if (text.starts_with("backend_compile")) names.insert(id);
  int64_t end = std::numeric_limits<int64_t>::min();
  for (const Track& track : process.tracks) {
    const OpTable& table = track.op;
    for (size_t row = 0; !names.empty() && row < table.rows(); ++row)
      if (names.count(table.name[row]) != 0) end = std::max(end, table.end_ns[row]);
  }
  return end;
}

struct CallGroup {
  Marks runs;
  std::vector<int64_t> times;  // until the next call, of calls that began after some moment
};

// Returns the name of the group that most time goes to; "": no group has enough calls.
std::string_view Busiest(const std::map<std::string_view, CallGroup>& groups, int64_t* most) {
  std::string_view best;
  for (const auto& [name, group] : groups) {
    if (group.times.size() < kLeastCalls) continue;
    const int64_t time = UsualTime(group.times) * static_cast<int64_t>(group.times.size());
    if (time <= *most) continue;
    *most = time;
    best = name;
  }
  return best;
}

// Adds the calls of a thread. Those that began after `since` have a time.
std::map<std::string_view, CallGroup> GroupsOf(const Marks& marks, const ProgramCalls& calls,
                                               int64_t since) {
  std::map<std::string_view, CallGroup> groups;
  for (size_t i = 0; i < marks.size(); ++i) {
    const Interval& span = marks[i].span;
    CallGroup& group = groups[*calls.Find(marks[i].name)];
    group.runs.push_back(marks[i]);
    const int64_t next = i + 1 < marks.size() ? marks[i + 1].span.start : span.end;
    if (span.start >= since) group.times.push_back(next - span.start);
  }
  return groups;
}

}  // namespace

std::string_view CalledProgram(std::string_view mark) {
  for (const std::string_view call : {"PjitFunction(", "PmapFunction(", "ParallelFunction("}) {
    if (!mark.starts_with(call) || !mark.ends_with(')')) continue;
    return mark.substr(call.size(), mark.size() - call.size() - 1);
  }
  return {};
}

std::string NoStepsOfJax() {
  return "No steps were found: no function that JAX compiled was called three times while it was "
         "recorded. To have steps, put the step into "
         "jax.profiler.StepTraceAnnotation(\"step\", step_num=n). Or name the operation or range "
         "that starts a step with --step-marker REGEX: `gpuprof stats ops` lists the names.";
}

// What a program does before its last program is compiled is hardly its loop. But it may be all.
ProgramRuns MainProgram(ProcessOps& ops) {
  ProgramRuns best;
  const ProgramCalls calls(ops.process());
  if (calls.empty()) return best;
  const int64_t compiled = EndOfCompiling(ops.process());
  for (const int64_t since : {compiled, std::numeric_limits<int64_t>::min()}) {
    int64_t most = 0;
    for (size_t track = 0; track < ops.process().tracks.size(); ++track) {
      auto groups = GroupsOf(OutermostCalls(ops, track, calls), calls, since);
      const std::string_view name = Busiest(groups, &most);
      if (!name.empty()) best = {track, std::string(name), std::move(groups[name].runs)};
    }
    if (!best.runs.empty()) break;
  }
  return best;
}

std::vector<Interval> ResultWaits(const Process& process, size_t track) {
  std::vector<uint32_t> names;
  for (const auto& [id, text] : process.strings)
    if (IsResultWait(text)) names.push_back(id);
  const OpTable& table = process.tracks[track].op;
  std::vector<Interval> waits;
  for (size_t row = 0; !names.empty() && row < table.rows(); ++row) {
    if (std::find(names.begin(), names.end(), table.name[row]) == names.end()) continue;
    waits.push_back({table.end_ns[row] - table.duration_ns[row], table.end_ns[row]});
  }
  return UnionOf(std::move(waits));
}

std::vector<Interval> ProgramWork(const Process& process, size_t track) {
  std::vector<Interval> work;
  if (ProgramCalls(process).empty()) return work;
  std::unordered_set<uint32_t> waits;
  for (const auto& [id, text] : process.strings)
    if (IsResultWait(text) || text.ends_with("(wait for completion)")) waits.insert(id);
  for (size_t i = 0; i < process.tracks.size(); ++i) {
    const OpTable& table = process.tracks[i].op;
    for (size_t row = 0; i != track && row < table.rows(); ++row) {
      if (proto::OpScopeOf(table.operation[row]) != proto::OpScope::kTraceMe ||
          waits.count(table.name[row]) != 0)
        continue;
      work.push_back({table.end_ns[row] - table.duration_ns[row], table.end_ns[row]});
    }
  }
  return UnionOf(std::move(work));
}

std::vector<Interval> UnrecordedTimes(const Process& process) {
  std::vector<Interval> times;
  for (const Track& track : process.tracks) {
    const RangeTable& ranges = track.range;
    for (size_t row = 0; row < ranges.rows(); ++row) {
      if (ranges.domain[row] == 0 || process.String(ranges.domain[row]) != proto::kRecorderDomain ||
          process.String(ranges.name[row]) != proto::kJaxGap)
        continue;
      times.push_back({ranges.end_ns[row] - ranges.duration_ns[row], ranges.end_ns[row]});
    }
  }
  return UnionOf(std::move(times));
}

}  // namespace gpuprof::analysis
