// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// Questions about what lies around a row of a tree, asked for many rows. A file of a stranger can
// nest as many rows as it has, so no question may climb the whole way each time. A tree has rows(),
// parent(row), and in_order(i), which lists parents before their children. One thread at a time.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpuprof::analysis {

inline constexpr uint32_t kNoAncestor = 0xffffffff;

// Finds the nearest row around a row for which something holds. It must then hold for all rows
// further out. Takes logarithmic time.
class NearestAncestor {
 public:
  // Returns the row itself, or the nearest one around it. kNoAncestor: it holds for none.
  template <typename Tree, typename Holds>
  uint32_t Find(const Tree& tree, uint32_t row, const Holds& holds) {
    // Real programs nest a few rows, and need no table of ways.
    constexpr int kNear = 32;
    for (int i = 0; i < kNear; ++i) {
      if (row == kNoAncestor || holds(row)) return row;
      row = tree.parent(row);
    }
    if (ways_.empty()) MakeWays(tree);
    while (row != kNoAncestor && !holds(row)) {
      const uint32_t far = ways_[row].far;
      row = far != kNoAncestor && !holds(far) ? far : tree.parent(row);
    }
    return row;
  }

 private:
  struct Way {
    uint32_t far = kNoAncestor;
    uint32_t depth = 0;
  };

  // Joins two ways of one length to one of their sum, as digits carry. So each row comes to any row
  // around it by a logarithm of steps.
  template <typename Tree>
  void MakeWays(const Tree& tree) {
    ways_.resize(tree.rows());
    for (size_t i = 0; i < ways_.size(); ++i) {
      const uint32_t row = tree.in_order(i), parent = tree.parent(row);
      if (parent == kNoAncestor) continue;
      const Way& around = ways_[parent];
      ways_[row] = {parent, around.depth + 1};
      if (around.far == kNoAncestor) continue;
      const Way& behind = ways_[around.far];
      if (behind.far != kNoAncestor &&
          around.depth - behind.depth == behind.depth - ways_[behind.far].depth)
        ways_[row].far = behind.far;
    }
  }

  std::vector<Way> ways_;
};

// Finds a value that a row has itself or takes from the row around it. Each row is asked once.
class InheritedValue {
 public:
  // Returns own(row), or that of the nearest row around it whose value is not 0. 0: none has one.
  template <typename Tree, typename Own>
  uint32_t Find(const Tree& tree, uint32_t row, const Own& own) {
    values_.resize(tree.rows(), kUnknown);
    uint32_t value = 0;
    uint32_t at = row;
    for (; at != kNoAncestor; at = tree.parent(at)) {
      value = values_[at] != kUnknown ? values_[at] : own(at);
      if (value != 0 || values_[at] == 0) break;
    }
    // What was found counts for all rows on the way.
    for (; row != at; row = tree.parent(row)) values_[row] = value;
    if (at != kNoAncestor) values_[at] = value;
    return value;
  }

 private:
  static constexpr uint32_t kUnknown = 0xffffffff;
  std::vector<uint32_t> values_;  // by row
};

}  // namespace gpuprof::analysis
