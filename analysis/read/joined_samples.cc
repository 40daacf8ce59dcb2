// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See joined_samples.h.

#include "analysis/read/joined_samples.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "proto/record.h"

namespace gpuprof::analysis {
namespace {

constexpr uint32_t kKinds = proto::kSamplePython | proto::kSampleNative;

// Returns whether a module is CPython: its library, or the program that contains it.
bool IsInterpreter(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return name.starts_with("libpython") || name.starts_with("python");
}

class Joins {
 public:
  explicit Joins(Process* process) : process_(*process) {
    for (const proto::Module& module : process_.modules)
      if (IsInterpreter(module.path())) interpreters_.push_back({module.start(), module.end()});
  }

  // Returns the stack of native functions on top of one of Python.
  uint32_t Join(uint32_t python, uint32_t native) {
    const auto [known, is_new] = known_.try_emplace({python, native}, python);
    if (is_new) known->second = Put(CalledBy(native), python);
    return known->second;
  }

 private:
  bool IsOfInterpreter(uint64_t pc) const {
    return IsNamedFrame(pc) ||
           std::any_of(interpreters_.begin(), interpreters_.end(), [pc](const auto& range) {
             return pc - 1 >= range.first && pc - 1 < range.second;
           });
  }

  // Returns the frames that lie inside of the interpreter's innermost one, from inside out. All of
  // a stack without the interpreter were not called by it: there are none then.
  std::vector<uint64_t> CalledBy(uint32_t native) const {
    std::vector<uint64_t> frames;
    StackNode node;
    for (uint32_t id = native; id > 1 && process_.stacks.Find(id, &node); id = node.parent) {
      if (IsOfInterpreter(node.pc) || frames.size() == proto::kMaxStackFrames) return frames;
      frames.push_back(node.pc);
    }
    // The top of a deep stack: the kernel copied no more.
    return frames;
  }

  uint32_t Put(const std::vector<uint64_t>& frames, uint32_t python) {
    uint32_t stack = python;
    for (auto pc = frames.rbegin(); pc != frames.rend(); ++pc) {
      const uint32_t child = process_.stacks.Child(stack, *pc);
      if (child == 0) return stack;  // as many stacks as there may be
      stack = child;
    }
    return stack;
  }

  Process& process_;
  std::vector<std::pair<uint64_t, uint64_t>> interpreters_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> known_;
};

// A stretch of a thread with one stack of Python.
struct Stretch {
  int64_t start, end;
  uint32_t stack;
};

std::map<int32_t, std::vector<Stretch>> StretchesOf(const SampleTable& table) {
  std::map<int32_t, std::vector<Stretch>> all;
  for (size_t row = 0; row < table.rows(); ++row) {
    if ((table.state[row] & kKinds) != proto::kSamplePython) continue;
    const int64_t end = table.end_ns[row];
    all[table.thread[row]].push_back({end - table.duration_ns[row], end, table.stack[row]});
  }
  for (auto& [thread, stretches] : all) {
    std::stable_sort(stretches.begin(), stretches.end(),
                     [](const Stretch& a, const Stretch& b) { return a.end < b.end; });
  }
  return all;
}

}  // namespace

void JoinSamples(Process* process) {
  for (Track& track : process->tracks) {
    SampleTable& table = track.sample;
    if (table.rows() == 0) continue;
    const auto stretches = StretchesOf(table);
    if (stretches.empty()) continue;
    Joins joins(process);
    std::vector<bool> is_joined(table.rows());
    const SampleTable before = table;
    table.stack.Rewrite([&](size_t row, uint32_t stack) {
      if ((before.state[row] & kKinds) != proto::kSampleNative || stack <= 1) return stack;
      const auto of_thread = stretches.find(before.thread[row]);
      if (of_thread == stretches.end()) return stack;
      const int64_t time = before.end_ns[row];
      const auto at = std::lower_bound(
          of_thread->second.begin(), of_thread->second.end(), time,
          [](const Stretch& stretch, int64_t moment) { return stretch.end < moment; });
      if (at == of_thread->second.end() || at->start >= time || at->stack <= 1) return stack;
      is_joined[row] = true;
      return joins.Join(at->stack, stack);
    });
    table.state.Rewrite([&](size_t row, uint32_t state) {
      return is_joined[row] ? state | proto::kSamplePython : state;
    });
  }
}

}  // namespace gpuprof::analysis
