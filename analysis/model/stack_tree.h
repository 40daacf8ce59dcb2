// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The call stacks of one process: a tree of program counters, each node under the id that rows
// refer to. A recorder with a long life forgets stacks and writes them again under new ids, as
// recovery does: equal stacks become one here. Filled by one thread, then read by any.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace gpuprof::analysis {

struct StackNode {
  uint32_t parent;  // id; 0: root
  uint64_t pc;
};

class StackTree {
 public:
  // Node `id` called from node `parent`, which came before; 0: a root. An id that is there already
  // stays what it is. False: there is no such parent, and the node becomes a root.
  bool Add(uint32_t id, uint32_t parent, uint64_t pc);

  // The id of the node for `pc` called from the node `parent`, which is there, or 0; made with an
  // id behind all others where there is none. 0: no id is left.
  uint32_t Child(uint32_t parent, uint64_t pc);

  // False: no such node.
  bool Find(uint32_t id, StackNode* node) const;
  // The first id of the same stack: what rows are grouped by. An unknown one stands for itself.
  uint32_t Canonical(uint32_t id) const;
  // Ids, equal stacks included.
  size_t size() const { return nodes_.size(); }
  // Whether some stacks have several ids.
  bool has_equal() const { return distinct_ != nodes_.size(); }

 private:
  struct Node {
    uint64_t pc;
    uint32_t parent;     // canonical
    uint32_t canonical;  // this node's id or that of an equal one
  };
  // Ids that follow each other, at nodes_[position] and behind.
  struct Run {
    uint32_t count;
    size_t position;
  };
  static constexpr size_t kNowhere = ~size_t{0};

  size_t PositionOf(uint32_t id) const;
  void AddToRuns(uint32_t id);
  uint32_t CanonicalOf(uint32_t id, uint32_t parent, uint64_t pc);
  void GrowIndex();

  std::vector<Node> nodes_;       // in the order in which they came
  std::map<uint32_t, Run> runs_;  // by first id
  std::vector<uint32_t>
      index_;  // open addressing over (parent, pc): position + 1 in nodes_; 0: empty
  size_t distinct_ = 0;
};

}  // namespace gpuprof::analysis
