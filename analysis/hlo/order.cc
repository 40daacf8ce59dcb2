// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

#include "analysis/hlo/order.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace gpuprof::analysis::hlo {
namespace {

// Returns the instructions of a computation as they run.
std::vector<const Instruction*> OrderOf(const Program& program, const Computation& computation) {
  std::vector<const Instruction*> order;
  order.reserve(computation.instructions.size());
  if (const auto found = program.schedule.find(computation.id); found != program.schedule.end()) {
    for (const int64_t id : found->second)
      if (const Instruction* const instruction = program.Find(id)) order.push_back(instruction);
  }
  // What a schedule forgets stands at the end.
  for (const Instruction& instruction : computation.instructions) order.push_back(&instruction);
  return order;
}

// Returns whether an instruction gives the memory of its operands to those who read its own result.
bool HandsOn(const Instruction& instruction) {
  static constexpr std::array<std::string_view, 8> kWords = {
      "bitcast", "tuple",       "get-tuple-element", "while", "optimization-barrier",
      "domain",  "conditional", "add-dependency"};
  const std::string_view opcode = instruction.opcode;
  return std::find(kWords.begin(), kWords.end(), opcode) != kWords.end() ||
         opcode.ends_with("-start") || opcode.ends_with("-update") || opcode.ends_with("-done");
}

// One computation on the way through the program.
struct Visit {
  std::vector<const Instruction*> order;
  size_t next = 0;
};

}  // namespace

ProgramOrder::ProgramOrder(const Program& program) {
  if (const Computation* const entry = program.entry()) Walk(program, *entry);
  for (const Computation& computation : program.computations) {
    for (const Instruction& instruction : computation.instructions)
      if (places_.try_emplace(&instruction, Place{order_.size()}).second)
        order_.push_back(&instruction);
  }
  FindReaders(program);
}

// Programs of strangers may call in a circle, or as deep as they like.
void ProgramOrder::Walk(const Program& program, const Computation& first) {
  std::unordered_set<const Computation*> seen = {&first};
  std::vector<Visit> visits;
  visits.push_back({OrderOf(program, first)});
  while (!visits.empty()) {
    Visit& visit = visits.back();
    if (visit.next == visit.order.size()) {
      visits.pop_back();
      continue;
    }
    const Instruction* const instruction = visit.order[visit.next];
    const Computation* callee = nullptr;
    if (instruction->opcode != "fusion" && !places_.contains(instruction)) {
      for (const int64_t id : instruction->called_computations) {
        const Computation* const called = program.FindComputation(id);
        if (called == nullptr || called->is_fusion || !seen.insert(called).second) continue;
        callee = called;
        break;
      }
    }
    if (callee != nullptr) {
      visits.push_back({OrderOf(program, *callee)});
      continue;
    }
    ++visit.next;
    if (places_.try_emplace(instruction, Place{order_.size()}).second)
      order_.push_back(instruction);
  }
}

// Readers come after what they read, so the way back meets all readers of a result before it.
void ProgramOrder::FindReaders(const Program& program) {
  for (size_t i = order_.size(); i-- > 0;) {
    const Instruction* const reader = order_[i];
    const Place own = places_.at(reader);
    const Instruction* last = reader;
    if (own.last_reader != nullptr && HandsOn(*reader)) last = own.last_reader;
    for (const int64_t id : reader->operands) {
      const Instruction* const operand = program.Find(id);
      if (operand == nullptr) continue;
      Place& read = places_.at(operand);
      if (read.last_reader == nullptr || PlaceOf(*read.last_reader) < PlaceOf(*last))
        read.last_reader = last;
    }
  }
}

size_t ProgramOrder::PlaceOf(const Instruction& instruction) const {
  const auto found = places_.find(&instruction);
  return found == places_.end() ? order_.size() : found->second.number;
}

const Instruction* ProgramOrder::LastReader(const Instruction& instruction) const {
  const auto found = places_.find(&instruction);
  return found == places_.end() ? nullptr : found->second.last_reader;
}

}  // namespace gpuprof::analysis::hlo
