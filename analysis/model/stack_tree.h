// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// The call stacks of one process: a tree of program counters, each node under the id that rows
// refer to. A recorder with a long life forgets stacks and writes them again under new ids, as
// recovery does: equal stacks become one here. Filled by one thread, then read by any. Copies share
// their nodes until one of them changes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analysis/base/shared.h"
#include "proto/named_frame.h"

namespace gpuprof::analysis {

struct StackNode {
  uint32_t parent;  // id; 0: root
  uint64_t pc;      // or a frame that has a name alone
};

// Frames of Python have a name alone: a string id of the process.
using proto::IsNamedFrame;
using proto::kNamedFrame;
using proto::NamedFrame;
using proto::NameOfFrame;

class StackTree {
 public:
  // Adds node `id`, called from the earlier node `parent`; 0: a root. An existing id keeps its
  // node. False: the parent does not exist, and the node becomes a root.
  bool Add(uint32_t id, uint32_t parent, uint64_t pc);

  // Returns the id of the node for `pc` called from the existing node `parent` (0: a root). Makes
  // the node with a new last id if it does not exist. 0: no id is left.
  uint32_t Child(uint32_t parent, uint64_t pc);

  // Finds a node. False: it does not exist.
  bool Find(uint32_t id, StackNode* node) const;
  // Returns the first id of the same stack, by which rows are grouped. An unknown id stands for
  // itself.
  uint32_t Canonical(uint32_t id) const;
  // Returns the place of a node in the order in which the nodes came, or size() if it does not
  // exist.
  size_t PlaceOf(uint32_t id) const;
  // Returns the number of ids, including equal stacks.
  size_t size() const { return state_->nodes.size(); }
  // Returns the frame of the node at a place below size().
  uint64_t PcAt(size_t place) const { return state_->nodes[place].pc; }
  // Returns whether some stacks have several ids.
  bool has_equal() const { return state_->distinct != state_->nodes.size(); }

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

  struct State {
    std::vector<Node> nodes;       // in the order in which they came
    std::map<uint32_t, Run> runs;  // by first id
    // Open addressing over (parent, pc): position + 1 in nodes; 0: empty.
    std::vector<uint32_t> index;
    size_t distinct = 0;

    size_t PositionOf(uint32_t id) const;
    bool Add(uint32_t id, uint32_t parent, uint64_t pc);
    void AddToRuns(uint32_t id);
    uint32_t CanonicalOf(uint32_t id, uint32_t parent, uint64_t pc);
    void GrowIndex();
  };

  Shared<State> state_;
};

}  // namespace gpuprof::analysis
