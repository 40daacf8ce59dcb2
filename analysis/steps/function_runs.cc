// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See function_runs.h.

#include "analysis/steps/function_runs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace gpuprof::analysis {
namespace {

// Names of functions that take the next element of a dataset.
constexpr std::string_view kNextElement = "IteratorGetNext";
constexpr std::string_view kGradient = "gradient_tape/";

// Returns 0 if no string of the process says this.
uint32_t IdOf(const Process& process, std::string_view text) {
  for (const auto& [id, string] : process.strings)
    if (string == text) return id;
  return 0;
}

size_t FirstValueAt(const OpValueTable& values, int64_t time) {
  size_t low = 0, high = values.rows();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (values.time_ns[middle] < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

Interval SpanOf(const OpTable& table, size_t row) {
  return {table.end_ns[row] - std::max<int64_t>(table.duration_ns[row], 0), table.end_ns[row]};
}

void SortByStart(Marks* marks) {
  std::stable_sort(marks->begin(), marks->end(),
                   [](const Mark& a, const Mark& b) { return a.span.start < b.span.start; });
}

// Calls use(row, name of the operation, whether it is a function) for what a thread executed.
template <typename Use>
void ForEachExecution(ProcessOps& ops, size_t index, const Use& use) {
  const Process& process = ops.process();
  const Track& track = process.tracks[index];
  if (track.op_value.rows() == 0) return;
  const uint32_t name_key = IdOf(process, "eager_op"), function_key = IdOf(process, "is_func");
  const uint32_t execution = IdOf(process, "EagerExecute");
  if (name_key == 0 || execution == 0) return;
  for (size_t row = 0; row < track.op.rows(); ++row) {
    if (track.op.name[row] != execution || !IsTraceMe(track.op, row)) continue;
    const auto name = ValueOf(track, row, name_key);
    if (!name || name->text == 0) continue;
    const auto is_function = ValueOf(track, row, function_key);
    use(row, name->text, is_function && is_function->number == 1);
  }
}

// When functions anywhere in the process waited for an element, in order of begin.
std::vector<Interval> AsyncElements(ProcessOps& ops) {
  const Process& process = ops.process();
  std::vector<Interval> waits;
  const uint32_t start_name = IdOf(process, "ExecutorState::ProcessAsync::Start");
  const uint32_t done_name = IdOf(process, "ExecutorState::ProcessAsync::Done");
  if (start_name == 0 || done_name == 0) return waits;
  const uint32_t kind_key = IdOf(process, "kernel_type");
  const uint32_t from_key = IdOf(process, "_p"), to_key = IdOf(process, "_c");
  // Numbers are given anew after a while.
  std::vector<std::pair<int64_t, int64_t>> begins;
  std::unordered_map<int64_t, std::vector<int64_t>> ends;
  for (const Track& track : process.tracks) {
    for (size_t row = 0; row < track.op.rows(); ++row) {
      const uint32_t name = track.op.name[row];
      const bool is_start = name == start_name;
      if ((!is_start && name != done_name) || !IsTraceMe(track.op, row)) continue;
      const auto type = ValueOf(track, row, kind_key);
      if (!type || !process.String(type->text).starts_with(kNextElement)) continue;
      const auto number = ValueOf(track, row, is_start ? from_key : to_key);
      if (!number || number->text != 0) continue;
      const Interval span = SpanOf(track.op, row);
      if (is_start) {
        begins.push_back({span.start, number->number});
      } else {
        ends[number->number].push_back(span.start);
      }
    }
  }
  for (auto& [number, times] : ends) std::sort(times.begin(), times.end());
  std::sort(begins.begin(), begins.end());
  for (const auto& [begin, number] : begins) {
    const auto found = ends.find(number);
    if (found == ends.end()) continue;
    const auto end = std::lower_bound(found->second.begin(), found->second.end(), begin);
    if (end != found->second.end()) waits.push_back({begin, *end});
  }
  return waits;
}

// A function: its name, and all of its runs on the thread.
struct Group {
  uint32_t name = 0;
  Marks runs;
  int64_t total_ns = 0;
  bool has_gradients = false;
  bool is_without_gradients = false;  // its operations were seen, and none is a gradient's
};

// Finds operations by their names within runs of functions.
class NamedWork {
 public:
  explicit NamedWork(const Process& process) : process_(process) {}
  void Want(uint32_t id) { ids_.insert(id); }

  // Looks at some of the last runs: the first had few marks.
  bool AnyIn(const Marks& runs) const {
    constexpr size_t kLooks = 3;
    const size_t first = runs.size() > kLooks ? runs.size() - kLooks : 0;
    for (size_t i = first; !ids_.empty() && i < runs.size(); ++i)
      if (AnyWithin(runs[i].span)) return true;
    return false;
  }

 private:
  bool AnyWithin(Interval span) const {
    for (const Track& track : process_.tracks) {
      const OpTable& table = track.op;
      const auto first = std::lower_bound(table.end_ns.begin(), table.end_ns.end(), span.start);
      for (auto row = static_cast<size_t>(first - table.end_ns.begin());
           row < table.rows() && table.end_ns[row] <= span.end; ++row)
        if (ids_.count(table.name[row]) != 0) return true;
    }
    return false;
  }

  const Process& process_;
  std::unordered_set<uint32_t> ids_;
};

// What is seen of a function's runs. Operations have marks only after a while.
struct Evidence {
  explicit Evidence(const Process& process) : operations(process), gradients(process) {
    for (const auto& [id, text] : process.strings) {
      if (text.find(kGradient) != std::string::npos) gradients.Want(id);
      if (text == "ExecutorState::Process") operations.Want(id);
    }
  }
  NamedWork operations, gradients;
};

int64_t UsualOf(std::vector<int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns whether each run gave a result, which Keras then takes out of its container. Empty: the
// program does not do so.
std::vector<bool> GaveResults(ProcessOps& ops, const FunctionRuns& function) {
  std::vector<int64_t> takes;
  ForEachExecution(ops, function.track, [&](size_t row, uint32_t name, bool is_function) {
    if (!is_function && ops.process().String(name).starts_with("Optional"))
      takes.push_back(SpanOf(ops.process().tracks[function.track].op, row).start);
  });
  std::sort(takes.begin(), takes.end());
  std::vector<bool> gave(function.runs.size());
  size_t count = 0;
  for (size_t i = 0; i < gave.size(); ++i) {
    const auto take = std::lower_bound(takes.begin(), takes.end(), function.runs[i].span.end);
    const bool is_last = i + 1 == gave.size();
    gave[i] = take != takes.end() && (is_last || *take < function.runs[i + 1].span.start);
    count += gave[i];
  }
  return count * 2 > gave.size() ? gave : std::vector<bool>();
}

// Leaves out runs that found the dataset at its end: they give no result, or next to nothing
// follows what they waited for.
void DropRunsAtEnd(const std::vector<Interval>& waits, const std::vector<bool>& gave,
                   FunctionRuns* out) {
  constexpr int64_t kPart = 8;
  std::vector<int64_t> work;
  out->batches.assign(out->runs.size(), 0);
  for (size_t i = 0; i < out->runs.size(); ++i) {
    const Interval& run = out->runs[i].span;
    auto wait = std::lower_bound(waits.begin(), waits.end(), run.start,
                                 [](const Interval& w, int64_t t) { return w.start < t; });
    int64_t last = run.start;
    for (; wait != waits.end() && wait->start < run.end; ++wait) {
      ++out->batches[i];
      last = std::max(last, std::min(wait->end, run.end));
    }
    work.push_back(run.end - last);
  }
  const int64_t usual = UsualOf(work);
  Marks kept;
  std::vector<uint32_t> batches;
  for (size_t i = 0; i < out->runs.size(); ++i) {
    const bool is_empty = gave.empty() ? work[i] < usual / kPart : !gave[i];
    if (out->batches[i] != 0 && is_empty) {
      ++out->at_end;
      out->other_runs.push_back(out->runs[i].span);
      continue;
    }
    kept.push_back(out->runs[i]);
    batches.push_back(out->batches[i]);
  }
  out->runs = std::move(kept);
  out->batches = std::move(batches);
}

}  // namespace

std::optional<OpValue> ValueOf(const Track& track, size_t row, uint32_t name) {
  const OpValueTable& values = track.op_value;
  const int64_t time = track.op.end_ns[row];
  for (size_t at = FirstValueAt(values, time); at < values.rows() && values.time_ns[at] == time;
       ++at) {
    if (values.name[at] == name) return OpValue{values.value[at], values.text[at]};
  }
  return std::nullopt;
}

std::vector<NumberedMark> NumberedMarksOf(const Process& process, size_t index) {
  std::vector<NumberedMark> marks;
  const Track& track = process.tracks[index];
  const OpValueTable& values = track.op_value;
  const uint32_t key = values.rows() == 0 ? 0 : IdOf(process, "step_num");
  for (size_t i = 0; key != 0 && i < values.rows(); ++i) {
    if (values.name[i] != key || values.text[i] != 0 || values.value[i] < 0) continue;
    const auto ends = track.op.end_ns.begin();
    const auto found = std::lower_bound(ends, track.op.end_ns.end(), values.time_ns[i]);
    const auto row = static_cast<size_t>(found - ends);
    if (row < track.op.rows() && track.op.end_ns[row] == values.time_ns[i] &&
        IsTraceMe(track.op, row))
      marks.push_back({row, static_cast<uint64_t>(values.value[i])});
  }
  return marks;
}

std::string_view FunctionWord(std::string_view name) {
  for (const std::string_view prefix : {"__inference_", "__forward_", "__backward_"}) {
    if (!name.starts_with(prefix)) continue;
    name.remove_prefix(prefix.size());
    break;
  }
  size_t end = name.size();
  while (end != 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  return end > 1 && end != name.size() && name[end - 1] == '_' ? name.substr(0, end - 1) : name;
}

std::string NoStepsOfTensorFlow() {
  return "No steps were found: no function (tf.function, Keras) ran while TensorFlow was recorded, "
         "and no dataset was read. To have steps, put an NVTX range called `step` around each. Or "
         "name the operation or range that starts a step with --step-marker REGEX: `gpuprof stats "
         "ops` lists the names.";
}

FunctionRuns MainFunction(ProcessOps& ops) {
  const Process& process = ops.process();
  FunctionRuns best;
  int64_t most = 0;
  std::vector<Group> best_groups;
  std::vector<Interval> all_runs;
  for (size_t index = 0; index < process.tracks.size(); ++index) {
    std::map<uint32_t, Group> by_name;
    ForEachExecution(ops, index, [&](size_t row, uint32_t name, bool is_function) {
      if (!is_function) return;
      Group& group = by_name[name];
      group.name = name;
      group.runs.push_back({SpanOf(process.tracks[index].op, row), name});
      group.total_ns += group.runs.back().span.length();
    });
    std::map<std::string_view, int64_t> totals;
    for (const auto& [name, group] : by_name)
      totals[FunctionWord(process.strings.at(name))] += group.total_ns;
    for (const auto& [word, total] : totals) {
      if (total <= most) continue;
      most = total;
      best.track = index;
      best.word = word;
      best_groups.clear();
      all_runs.clear();
      for (const auto& [name, group] : by_name) {
        const bool is_main = FunctionWord(process.strings.at(name)) == word;
        if (is_main) best_groups.push_back(group);
        for (const Mark& run : group.runs)
          if (!is_main) all_runs.push_back(run.span);
      }
    }
  }
  if (best_groups.empty()) return best;
  // A function that is new has marks of all its operations, and an old one of expensive ones alone.
  // So it may train without a mark of it, unless it is newer than one that trains.
  int64_t trains_from = std::numeric_limits<int64_t>::max();
  if (best_groups.size() > 1) {
    const Evidence evidence(process);
    for (Group& group : best_groups) {
      group.has_gradients = evidence.gradients.AnyIn(group.runs);
      group.is_without_gradients = !group.has_gradients && evidence.operations.AnyIn(group.runs);
      if (group.has_gradients) trains_from = std::min(trains_from, group.runs.front().span.start);
    }
  }
  best.other_runs = std::move(all_runs);
  for (Group& group : best_groups) {
    if (!group.is_without_gradients || group.runs.front().span.start < trains_from) {
      best.runs.insert(best.runs.end(), group.runs.begin(), group.runs.end());
    } else {
      for (const Mark& run : group.runs) best.other_runs.push_back(run.span);
    }
  }
  SortByStart(&best.runs);
  DropRunsAtEnd(AsyncElements(ops), GaveResults(ops, best), &best);
  std::sort(best.other_runs.begin(), best.other_runs.end(),
            [](const Interval& a, const Interval& b) { return a.start < b.start; });
  return best;
}

bool FunctionsTrain(ProcessOps& ops) {
  bool has_operations = false;
  for (const auto& [id, text] : ops.process().strings) {
    if (text.find(kGradient) != std::string::npos ||
        text.find(":ResourceApply") != std::string::npos || text.ends_with(":AssignSubVariableOp"))
      return true;
    has_operations = has_operations || text == "ExecutorState::Process";
  }
  return !has_operations;
}

Marks ElementsOf(ProcessOps& ops, size_t index, std::vector<size_t>* rows) {
  const Process& process = ops.process();
  Marks marks;
  ForEachExecution(ops, index, [&](size_t row, uint32_t name, bool is_function) {
    if (is_function || !process.String(name).starts_with(kNextElement)) return;
    marks.push_back({SpanOf(process.tracks[index].op, row), name});
    if (rows != nullptr) rows->push_back(row);
  });
  SortByStart(&marks);
  return marks;
}

std::vector<Interval> InputInFunctions(ProcessOps& ops, size_t index) {
  std::vector<Interval> runs;
  ForEachExecution(ops, index, [&](size_t row, uint32_t, bool is_function) {
    if (is_function) runs.push_back(SpanOf(ops.process().tracks[index].op, row));
  });
  if (runs.empty()) return {};
  return Intersection(UnionOf(std::move(runs)), UnionOf(AsyncElements(ops)));
}

}  // namespace gpuprof::analysis
