// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See python_calls.h.

#include "analysis/passes/host/python_calls.h"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "analysis/derived/code_frame.h"
#include "analysis/passes/rows.h"
#include "proto/operations.h"
#include "proto/results/python.pb.h"
#include "proto/sources.h"

namespace gpuprof::analysis {
namespace {

using Thread = std::pair<size_t, int32_t>;  // process and tid

struct Longest {
  int64_t ns = -1;
  int64_t start_ns = 0;

  void Add(int64_t duration_ns, int64_t end_ns) {
    if (duration_ns <= ns) return;
    ns = duration_ns;
    start_ns = end_ns - duration_ns;
  }
};

struct CallSums {
  uint64_t count = 0, incomplete = 0;
  int64_t total_ns = 0, all_ns = 0, self_ns = 0;
  Longest longest;
  std::set<Thread> threads;
};

struct PauseSums {
  uint64_t count = 0, collected = 0, uncollectable = 0;
  int64_t total_ns = 0;
  Longest longest;
  std::set<Thread> threads;
};

bool IsIncomplete(const PythonTable& table, size_t row) {
  return row < table.operation.size() &&
         (proto::FlagsOf(table.operation[row]) & proto::kFlagIncomplete) != 0;
}

// Tells whether the innermost frame of a stack is further out in it, too.
class Recursion {
 public:
  explicit Recursion(const StackTree& stacks) : stacks_(stacks) {}

  bool IsIn(uint32_t stack) {
    const auto [known, is_new] = known_.try_emplace(stack, false);
    if (is_new) known->second = Find(stack);
    return known->second;
  }

 private:
  bool Find(uint32_t stack) const {
    StackNode own, outer;
    if (!stacks_.Find(stack, &own)) return false;
    // A damaged file may claim anything: a stack has no more frames than there are nodes.
    uint32_t next = own.parent;
    for (size_t left = stacks_.size(); next != 0 && left != 0; --left) {
      if (!stacks_.Find(next, &outer)) return false;
      if (outer.pc == own.pc) return true;
      next = outer.parent;
    }
    return false;
  }

  const StackTree& stacks_;
  std::unordered_map<uint32_t, bool> known_;
};

class CallTotals {
 public:
  void Add(const Process& process, size_t index) {
    Recursion recursion(process.stacks);
    std::unordered_map<uint32_t, CallSums*> known;  // by string
    for (const Track& track : process.tracks) {
      const PythonTable& table = track.python;
      for (size_t i = 0; i < table.rows(); ++i) {
        CallSums*& sums = known[table.name[i]];
        if (sums == nullptr) sums = &calls_[process.String(table.name[i])];
        const int64_t duration = table.duration_ns[i];
        ++sums->count;
        sums->all_ns += duration;
        sums->self_ns += table.self_ns[i];
        if (!recursion.IsIn(table.stack[i])) sums->total_ns += duration;
        sums->incomplete += IsIncomplete(table, i) ? 1 : 0;
        sums->longest.Add(duration, table.end_ns[i]);
        sums->threads.insert({index, track.tid});
      }
      AddPauses(track, index);
    }
  }

  void Fill(results::Python* out) const {
    for (const auto& [name, sums] : calls_) {
      const CodeFrame frame = ReadFrameName(name);
      results::FunctionCalls* row = out->add_calls();
      row->set_name(frame.name);
      row->set_place(PlaceText(frame));
      row->set_file(frame.file);
      row->set_line(frame.line);
      row->set_count(sums.count);
      row->set_total_ns(sums.total_ns);
      row->set_self_ns(sums.self_ns);
      row->set_mean_ns(sums.all_ns / static_cast<int64_t>(sums.count));
      row->set_max_ns(sums.longest.ns);
      row->set_max_start_ns(sums.longest.start_ns);
      row->set_thread_count(static_cast<uint32_t>(sums.threads.size()));
      row->set_incomplete_count(sums.incomplete);
      out->set_call_count(out->call_count() + sums.count);
      out->set_incomplete_count(out->incomplete_count() + sums.incomplete);
    }
    SortByTotal(out->mutable_calls());
    for (const auto& [generation, sums] : pauses_) {
      results::GcPauses* row = out->add_pauses();
      row->set_generation(generation);
      row->set_count(sums.count);
      row->set_total_ns(sums.total_ns);
      row->set_mean_ns(sums.total_ns / static_cast<int64_t>(sums.count));
      row->set_max_ns(sums.longest.ns);
      row->set_max_start_ns(sums.longest.start_ns);
      row->set_collected_count(sums.collected);
      row->set_uncollectable_count(sums.uncollectable);
      row->set_thread_count(static_cast<uint32_t>(sums.threads.size()));
      out->set_pause_count(out->pause_count() + sums.count);
      out->set_pause_ns(out->pause_ns() + sums.total_ns);
    }
  }

 private:
  void AddPauses(const Track& track, size_t index) {
    const GcPauseTable& table = track.gc_pause;
    for (size_t i = 0; i < table.rows(); ++i) {
      PauseSums& sums = pauses_[table.generation[i]];
      ++sums.count;
      sums.total_ns += table.duration_ns[i];
      sums.collected += table.collected[i];
      sums.uncollectable += table.uncollectable[i];
      sums.longest.Add(table.duration_ns[i], table.end_ns[i]);
      sums.threads.insert({index, track.tid});
    }
  }

  std::map<std::string, CallSums> calls_;  // by name of the frame
  std::map<uint32_t, PauseSums> pauses_;
};

}  // namespace

void FillPythonCalls(PassContext& context, results::Python* out) {
  constexpr uint32_t kAsked = proto::kSourcePythonCalls | proto::kSourcePythonGc;
  CallTotals totals;
  for (const size_t index : context.selected()) {
    const Process& process = context.process(index);
    totals.Add(process, index);
    if ((process.sources & kAsked) != 0) out->set_has_traced(true);
  }
  totals.Fill(out);
}

}  // namespace gpuprof::analysis
