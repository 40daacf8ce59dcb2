// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See call_stacks.h.

#include "analysis/passes/host/call_stacks.h"

namespace gpuprof::analysis {

CallStackTable::CallStackTable(PassContext* context, results::CallStacks* out)
    : context_(context), out_(out), processes_(context->trace().processes.size()) {}

uint32_t CallStackTable::FrameOf(size_t process, uint64_t pc) {
  const auto [known, is_new] =
      processes_[process].frames.try_emplace(pc, static_cast<uint32_t>(out_->frames_size()));
  if (is_new) context_->Resolve(process, pc, PcKind::kReturnAddress, out_->add_frames());
  return known->second;
}

uint32_t CallStackTable::Add(size_t process, uint32_t stack) {
  const StackTree& tree = context_->process(process).stacks;
  std::vector<uint32_t>& numbers = processes_[process].numbers;
  numbers.resize(tree.size());
  // From the innermost frame to the first caller that has a number.
  std::vector<StackNode> missing;
  std::vector<size_t> places;
  uint32_t number = 0;
  StackNode node;
  for (uint32_t id = tree.Canonical(stack); id > 1 && tree.Find(id, &node); id = node.parent) {
    const size_t place = tree.PlaceOf(id);
    number = numbers[place];
    if (number != 0) break;
    missing.push_back(node);
    places.push_back(place);
  }
  if (!missing.empty() && out_->frame().empty()) {
    out_->add_frame(0);
    out_->add_caller(0);
  }
  while (!missing.empty()) {
    out_->add_frame(FrameOf(process, missing.back().pc));
    out_->add_caller(number);
    number = static_cast<uint32_t>(out_->frame_size() - 1);
    numbers[places.back()] = number;
    missing.pop_back();
    places.pop_back();
  }
  return number;
}

}  // namespace gpuprof::analysis
