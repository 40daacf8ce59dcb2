// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See loader_stacks.h.

#include "analysis/derived/loader_stacks.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/derived/code_frame.h"

namespace gpuprof::analysis {
namespace {

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Returns the last part of a qualified name.
std::string_view LastPart(std::string_view name) {
  const size_t point = name.rfind('.');
  return point == std::string_view::npos ? name : name.substr(point + 1);
}

}  // namespace

const LoaderStacks::Frame& LoaderStacks::FrameOf(uint64_t pc) {
  const auto [at, is_new] = frames_.try_emplace(pc);
  Frame& frame = at->second;
  if (!is_new) return frame;
  const CodeFrame code = ReadFrameName(process_.String(NameOfFrame(pc)));
  const std::string_view last = LastPart(code.name), file = code.file;
  frame.line = code.line;
  if (file.ends_with("torch/utils/data/_utils/fetch.py")) {
    frame.is_inlined = IsOneOf(last, {"<listcomp>", "<genexpr>"});
    frame.is_iterable = code.name.find("Iterable") != std::string::npos;
    if (last == "fetch") frame.function = Function::kFetch;
  } else if (file.ends_with("torch/utils/data/_utils/worker.py")) {
    if (last == "_worker_loop") frame.function = Function::kLoop;
  } else if (file.ends_with("torch/utils/data/_utils/collate.py")) {
    frame.function = Function::kCollate;
  } else if (file.ends_with("multiprocessing/queues.py")) {
    if (last == "get") frame.function = Function::kGet;
    if (last == "put") frame.function = Function::kPut;
    if (last == "_feed") frame.function = Function::kFeed;
  } else if (file.ends_with("/threading.py")) {
    if (last == "wait") frame.function = Function::kWait;
  } else if (IsOneOf(last, {"__getitem__", "__getitems__", "__next__", "__iter__"})) {
    frame.function = Function::kSample;
  }
  return frame;
}

const LoaderStacks::Stack& LoaderStacks::Find(uint32_t id) {
  const auto [at, is_new] = stacks_.try_emplace(id);
  Stack& stack = at->second;
  if (!is_new) return stack;
  std::vector<Frame> frames;  // innermost first
  StackNode node;
  for (uint32_t next = id; next > 1 && frames.size() < 1000 && process_.stacks.Find(next, &node);
       next = node.parent)
    if (IsNamedFrame(node.pc)) frames.push_back(FrameOf(node.pc));
  for (size_t i = 1; i < frames.size(); ++i)
    stack.is_wait_for_batch |=
        frames[i].function == Function::kFeed && frames[i - 1].function == Function::kWait;
  // The loop is the outermost of its kind; fetch() the outermost within it.
  size_t end = frames.size();
  for (size_t i = frames.size(); i-- > 0 && !stack.is_in_loop;) {
    if (frames[i].function != Function::kLoop) continue;
    stack.is_in_loop = true;
    end = i;
  }
  for (size_t i = end; i-- > 0;) {
    if (frames[i].function != Function::kFetch) continue;
    stack.is_iterable = frames[i].is_iterable;
    stack.line = frames[i].line;
    const bool is_last = i == 0;
    const Frame inner = is_last ? Frame{} : frames[i - 1];
    if (inner.is_inlined || inner.function == Function::kSample) {
      stack.work = LoaderWork::kSample;
      sample_lines_[stack.is_iterable].insert(stack.line);
    } else if (inner.function == Function::kCollate) {
      stack.work = LoaderWork::kCollate;
      collate_lines_[stack.is_iterable].insert(stack.line);
    } else {
      stack.needs_line = true;
      if (!is_last) other_lines_[stack.is_iterable].insert(stack.line);
    }
    return stack;
  }
  if (!stack.is_in_loop) return stack;
  const Function inner = end == 0 ? Function::kOther : frames[end - 1].function;
  if (inner == Function::kGet) stack.work = LoaderWork::kIdle;
  if (inner == Function::kPut) stack.work = LoaderWork::kTransfer;
  return stack;
}

// A function that fetch() calls has a name of the program's own: a generator of samples, or a
// collate_fn. The call of collate_fn is the last line of fetch().
LoaderWork LoaderStacks::WorkOfLine(const Stack& stack) const {
  const auto lines = [&](const std::map<bool, std::set<uint32_t>>& all) {
    const auto found = all.find(stack.is_iterable);
    return found == all.end() ? std::set<uint32_t>() : found->second;
  };
  const std::set<uint32_t> samples = lines(sample_lines_), collate = lines(collate_lines_);
  if (samples.count(stack.line) != 0) return LoaderWork::kSample;
  if (collate.count(stack.line) != 0) return LoaderWork::kCollate;
  if (!stack.is_iterable) return LoaderWork::kCollate;
  if (!samples.empty())
    return stack.line > *samples.rbegin() ? LoaderWork::kCollate : LoaderWork::kSample;
  const std::set<uint32_t> others = lines(other_lines_);
  return others.size() > 1 && stack.line == *others.rbegin() ? LoaderWork::kCollate
                                                             : LoaderWork::kSample;
}

std::optional<LoaderWork> LoaderStacks::WorkOf(uint32_t id) {
  const Stack& stack = Find(id);
  return stack.needs_line ? WorkOfLine(stack) : stack.work;
}

}  // namespace gpuprof::analysis
