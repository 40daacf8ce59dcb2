// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See host_functions.h.

#include "analysis/derived/host_functions.h"

#include <algorithm>

#include "analysis/model/stack_tree.h"

namespace gpuprof::analysis {
namespace {

constexpr size_t kMostFramesOfSample = 256;
constexpr char kWithoutStack[] = "[no stack]";

}  // namespace

void HostFunctions::Add(const Process& process, size_t index, const HostSamples& samples,
                        const NameOfCode& name_code) {
  process_ = &process;
  name_code_ = name_code;
  by_pc_.clear();
  by_stack_.clear();
  std::vector<size_t> seen;
  for (const SampledStack& each : samples.stacks()) {
    const Stack& stack = Find(each.stack);
    FunctionTimes& innermost = rows_[stack.rows.front()];
    innermost.self += each.times;
    innermost.count += each.count;
    lines_[stack.rows.front()][stack.line] += each.times[HostState::kRuns];
    rows_[stack.charged].charged_ns += each.times[HostState::kRuns];
    // A function that calls itself counts once.
    seen = stack.rows;
    std::sort(seen.begin(), seen.end());
    seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
    for (const size_t row : seen) {
      rows_[row].total += each.times;
      rows_[row].threads.insert({index, each.tid});
    }
  }
}

size_t HostFunctions::RowOf(uint32_t stack) { return Find(stack).rows.front(); }

size_t HostFunctions::ChargedRowOf(uint32_t stack) { return Find(stack).charged; }

void HostFunctions::Finish() {
  if (group_ != CodeGroup::kFunction) return;
  for (size_t row = 0; row < rows_.size(); ++row) {
    // Without own processor time: the first line that was seen.
    int64_t most = -1;
    for (const auto& [line, ns] : lines_[row]) {
      if (ns <= most) continue;
      most = ns;
      rows_[row].frame.line = line;
    }
  }
}

const HostFunctions::Stack& HostFunctions::Find(uint32_t id) {
  const auto [at, is_new] = by_stack_.try_emplace(id);
  Stack& stack = at->second;
  if (!is_new) return stack;
  StackNode node;
  bool is_charged = false;
  for (uint32_t next = id;
       next > 1 && stack.rows.size() < kMostFramesOfSample && process_->stacks.Find(next, &node);
       next = node.parent) {
    const Frame frame = FrameOf(node.pc);
    if (stack.rows.empty()) stack.line = frame.line;
    if (!is_charged && frame.is_program) stack.charged = frame.row;
    is_charged = is_charged || frame.is_program;
    stack.rows.push_back(frame.row);
  }
  if (stack.rows.empty()) {
    CodeFrame nothing;
    nothing.name = kWithoutStack;
    stack.rows.push_back(FrameOf(std::move(nothing)).row);
  }
  if (!is_charged) stack.charged = stack.rows.front();
  return stack;
}

HostFunctions::Frame HostFunctions::FrameOf(uint64_t pc) {
  const auto [at, is_new] = by_pc_.try_emplace(pc);
  if (is_new)
    at->second = FrameOf(IsNamedFrame(pc) ? ReadFrameName(process_->String(NameOfFrame(pc)))
                                          : name_code_(pc));
  return at->second;
}

HostFunctions::Frame HostFunctions::FrameOf(CodeFrame frame) {
  const uint32_t line = frame.line;
  if (group_ != CodeGroup::kLine) frame.line = 0;
  // A frame without a file stands for itself.
  if (group_ == CodeGroup::kFile && !frame.file.empty()) frame.name = "";
  const auto [at, is_new] = numbers_.try_emplace(frame, rows_.size());
  if (is_new) {
    rows_.emplace_back().frame = frame;
    lines_.emplace_back();
  }
  return {at->second, line, frame.is_program};
}

}  // namespace gpuprof::analysis
