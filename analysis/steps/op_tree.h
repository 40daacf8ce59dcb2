// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Nesting of the ops of one thread, rebuilt from intervals and depths, and what each op's name says
// about the training loop. For passes and the step detector. Built once a track, then read only.
//
// A user's range may cross others: coroutines open and close ranges in turn. A range that crosses
// has no parent and no child, and cuts nothing. Other rows that do not nest (lost parents, damaged
// times) are cut to their parent and to their neighbour. So every nanosecond of a thread belongs to
// one op as self time.

#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analysis/model/trace.h"
#include "analysis/steps/interval.h"

namespace gpuprof::analysis {

// Returns whether the program named the operation itself, for example with record_function.
inline bool IsUserRange(const OpTable& ops, size_t row) {
  return proto::OpScopeOf(ops.operation[row]) == proto::OpScope::kUser;
}

class OpTree {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  explicit OpTree(const OpTable& ops);

  size_t rows() const { return start_.size(); }
  int64_t start(size_t row) const { return start_[row]; }
  int64_t end(size_t row) const { return end_[row]; }
  uint32_t parent(size_t row) const { return parent_[row]; }
  // Time of the row in which none of its children ran.
  int64_t self_ns(size_t row) const { return self_[row]; }
  // Rows with every parent before its children, later spans first.
  uint32_t in_order(size_t i) const {
    return order_.empty() ? static_cast<uint32_t>(rows() - 1 - i) : order_[i];
  }
  // When ops were open, sorted and disjoint.
  std::vector<Interval> Busy() const;

 private:
  // Finds the user's ranges that overlap another row without containing it or lying in it.
  std::vector<bool> FindCrossing(const OpTable& ops) const;
  void PlaceCrossing(const OpTable& ops, const std::vector<bool>& crossing);

  std::vector<int64_t> start_, end_, self_;
  std::vector<uint32_t> parent_;
  std::vector<uint32_t> order_;  // empty: the rows backwards
};

enum class NameKind : uint8_t {
  kPlain,
  kOptimizerStep,
  kZeroGrad,
  kLoaderNext,
  kAnnotation,
  kAutograd
};
NameKind KindOfName(std::string_view name);

// Ops of one process: trees made on first use. One thread at a time.
class ProcessOps {
 public:
  explicit ProcessOps(const Process& process);

  const Process& process() const { return *process_; }
  const OpTree& tree(size_t track);
  NameKind name_kind(uint32_t id) const {
    return id < kinds_.size() ? kinds_[id] : KindOfRareId(id);
  }
  // Whether any name is of that kind.
  bool has(NameKind kind) const { return (kinds_seen_ >> static_cast<int>(kind) & 1) != 0; }

  // What the thread of `track` did, by the innermost of loader, optimizer and backward that is
  // open, else forward. Nothing where no op or only a user's own range is open.
  CategoryTimeline Classify(size_t track);
  // Outermost backward spans of a track.
  std::vector<Interval> Backward(size_t track);

 private:
  NameKind KindOfRareId(uint32_t id) const;

  const Process* process_;
  std::vector<std::unique_ptr<OpTree>> trees_;
  std::vector<NameKind> kinds_;  // by id; ids are dense, but for those of texts
  std::unordered_map<uint32_t, NameKind> rare_;
  uint32_t kinds_seen_ = 0;
};

}  // namespace gpuprof::analysis
